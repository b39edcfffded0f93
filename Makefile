# The usual words for what cargo does; `cargo xtask ci` runs every check.

CARGO ?= cargo

.PHONY: all build test lint fmt clean install

all: fmt lint test build

build:
	$(CARGO) build --release --locked

test:
	$(CARGO) test --workspace --locked

lint:
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

fmt:
	$(CARGO) fmt --all

clean:
	$(CARGO) clean

install:
	$(CARGO) install --path crates/ralph --locked

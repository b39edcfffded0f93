//! Chores of the project, in Rust: `cargo xtask ci` checks everything.

fn main() {}

//! What commands lead to in small projects.

use super::*;

type Files = [(&'static str, &'static str)];

fn found(command: &str, files: &Files) -> Vec<String> {
    let read = |path: &str| files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned());
    leads(command, &read).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn check(command: &str, files: &Files, expected: &[&str]) {
    assert_eq!(found(command, files), expected);
}

const MAKEFILE: &str = "\
RUN = ./tests/run.sh
export CI := 1
.PHONY: all test lint

all: build test

build:
\tcc -o a a.c

test: build unit \\
      lint
\t@$(RUN) --fast
\tcd web && npm test -- --ci

unit: ; python3 -m pytest tests/test_a.py::test_one -q

lint::
\t-$(MAKE) -C tools check # a comment
";

const PACKAGE: &str = r#"{"scripts": {"pretest": "node check.js", "test": "cross-env CI=1 vitest run a.test.ts", "lint": "eslint ."}}"#;

#[test]
fn a_makefile_leads_to_scripts_and_other_tools() {
    let files = [
        ("Makefile", MAKEFILE),
        ("tests/run.sh", "#!/bin/sh\nset -e\n. ./lib/env.sh # first\nexec bash tests/all.bash \"$@\"\n"),
        ("lib/env.sh", "export A=1\n"),
        ("tests/all.bash", "pytest\n"),
        ("tests/test_a.py", "def test_one(): pass\n"),
        ("web/package.json", PACKAGE),
        ("web/check.js", ""),
        ("web/a.test.ts", ""),
        ("tools/GNUmakefile", "check:\n\truff check .\n"),
        ("tools/Makefile", "check:\n\ttrue\n"),
    ];
    let test = [
        "`make test` → Makefile:test → Makefile:build",
        "`make test` → Makefile:test → Makefile:unit → tests/test_a.py",
        "`make test` → Makefile:test → Makefile:lint → tools/GNUmakefile:check",
        "`make test` → Makefile:test → tests/run.sh → lib/env.sh",
        "`make test` → Makefile:test → tests/run.sh → tests/all.bash",
        "`make test` → Makefile:test → web/package.json:test → web/check.js",
        "`make test` → Makefile:test → web/package.json:test → web/a.test.ts",
    ];
    check("make test", &files, &test);
    // Without a target it is the first; the rest is the same.
    assert_eq!(found("make -j 4 V=1", &files)[0], "`make -j 4 V=1` → Makefile:all → Makefile:build");
    assert_eq!(found("CI=1 timeout 60 make test 2>&1 | tee log", &files).len(), test.len());
}

#[test]
fn scripts_and_files_are_found_by_their_names() {
    let files = [
        ("scripts/test.py", "print(1)"),
        (
            "justfile",
            "set shell := [\"bash\"]\n\ndefault: check\n\ncheck args='': fmt\n    @./scripts/test.py {{args}}\n\nfmt:\n  cargo fmt\n",
        ),
        ("package.json", PACKAGE),
        ("check.js", ""),
        ("a.test.ts", ""),
        ("composer.json", r#"{"scripts": {"test": ["@lint", "phpunit tests/ATest.php"]}}"#),
        ("tests/ATest.php", ""),
    ];
    check("python scripts/test.py", &files, &["`python scripts/test.py` → scripts/test.py"]);
    check("uv run ./scripts/test.py -v", &files, &["`uv run ./scripts/test.py -v` → scripts/test.py"]);
    check(
        "just",
        &files,
        &[
            "`just` → justfile:default → justfile:check → justfile:fmt",
            "`just` → justfile:default → justfile:check → scripts/test.py",
        ],
    );
    check("npm run lint", &files, &["`npm run lint` → package.json:lint"]);
    check(
        "yarn test",
        &files,
        &["`yarn test` → package.json:test → check.js", "`yarn test` → package.json:test → a.test.ts"],
    );
    check("composer test", &files, &["`composer test` → composer.json:test → tests/ATest.php"]);
    for command in [
        "cargo test",
        "npm ci",
        "make",
        "../outside.sh",
        "/bin/true scripts",
        "",
        "cd .. && ./scripts/test.py",
    ] {
        check(command, &files, &[]);
    }
}

#[test]
fn a_script_that_is_looked_at_is_not_run() {
    let files = [("check.sh", "grep -c x app.sh\nsh lib.sh"), ("app.sh", "x"), ("lib.sh", "true")];
    check("sh check.sh", &files, &["`sh check.sh` → check.sh → lib.sh"]);
    check("diff app.sh lib.sh", &files, &[]);
}

#[test]
fn circles_and_long_ways_end() {
    let files = [
        ("Makefile", "a: b\n\t$(MAKE) a\nb: a\n\tmake b\nX = $(Y)\nY = $(X)\nc: $(X)\n\t./loop.sh\n"),
        ("loop.sh", "./loop.sh; make c"),
    ];
    check("make a", &files, &["`make a` → Makefile:a → Makefile:b"]);
    check("make c", &files, &["`make c` → Makefile:c → loop.sh"]);
}

#[test]
fn a_part_is_compared_by_itself() {
    let place = |file: &str, part: &str| Place { file: file.to_owned(), part: Some(part.to_owned()) };
    let changed = MAKEFILE.replace("cc -o a a.c", "cc -O2 -o a a.c");
    let test = place("Makefile", "test");
    assert_eq!(text_of(&test, MAKEFILE), text_of(&test, &changed), "another target");
    let weaker = MAKEFILE.replace("./tests/run.sh", "true");
    assert_ne!(text_of(&test, MAKEFILE), text_of(&test, &weaker), "a variable that it uses");
    assert_eq!(text_of(&place("Makefile", "gone"), MAKEFILE), None);
    for ways in [".IGNORE:\n", "SHELL = /bin/true\n", "MAKEFLAGS += -i\n", "include other.mk\n"] {
        assert_ne!(text_of(&test, MAKEFILE), text_of(&test, &format!("{ways}{MAKEFILE}")), "{ways}");
    }
    let recipe = |prefix: &str| text_of(&place("Makefile", "a"), &format!("a:\n\t{prefix}sh a.sh\n"));
    assert_eq!(recipe("@"), recipe(""), "what is shown");
    assert_ne!(recipe("-@"), recipe("@"), "whose failure is ignored");
    let script = place("package.json", "test");
    assert_ne!(text_of(&script, PACKAGE), text_of(&script, &PACKAGE.replace("node check.js", "true")));
    assert_eq!(text_of(&script, PACKAGE), text_of(&script, &PACKAGE.replace("eslint .", "true")));
    assert_eq!(text_of(&place(".justfile", "b"), "a:\n  x\nb: a\n  y\n").as_deref(), Some("a\ny"));
}

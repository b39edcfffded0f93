//! Which cheats apply to which files.

use super::{breaks::breaks, *};

fn files(all: &[(&str, &str)]) -> Files {
    all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn of(all: &[(&str, &str)], guardrail: &str) -> Vec<Cheat> {
    cheats(&files(all), &[guardrail.to_owned()], "")
}

/// The cheats on a project of one test file, as `kind:path`.
#[track_caller]
fn check(all: &[(&str, &str)], guardrail: &str, expected: &[&str]) {
    let found: Vec<String> =
        of(all, guardrail).iter().map(|cheat| format!("{}:{}", cheat.kind, cheat.path)).collect();
    assert_eq!(found, expected, "{all:?}");
}

const PYTHON: &str = "import unittest\n\nfrom cart import total\n\n\nclass Total(unittest.TestCase):\n    def test_total(self):\n        \
                      self.assertEqual(\n            total([1, 2]),\n            3,\n        )\n\n    def test_none(self):\n        \
                      self.assertEqual(total([]), 0)\n";
const JAVASCRIPT: &str =
    "const assert = require('assert');\ntest('adds', () => {\n  assert.equal(add(1, 2), 3);\n});\n";
const RUST: &str = "pub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        \
                    assert_eq!(super::add(1, 2), 3);\n    }\n}\n";
const GO: &str = "package cart\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Errorf(\"no\")\n\t}\n}\n";
const SHELL: &str = "#!/bin/sh\n[ \"$(sh price.sh 2)\" = 20 ] || exit 1\n";

#[test]
fn what_applies_depends_on_the_language_and_the_runner() {
    check(
        &[("tests/test_cart.py", PYTHON), ("tests/__init__.py", "")],
        "python3 -m unittest",
        &[
            "delete:tests/test_cart.py",
            "skip:tests/test_cart.py",
            "weaken:tests/test_cart.py",
            "empty:tests/test_cart.py",
            "exit:tests/test_cart.py",
            "runner:tests/__init__.py",
        ],
    );
    check(
        &[("cart.test.js", JAVASCRIPT), ("package.json", r#"{"scripts": {"test": "jest"}}"#)],
        "npm test",
        &[
            "delete:cart.test.js",
            "skip:cart.test.js",
            "weaken:cart.test.js",
            "empty:cart.test.js",
            "exit:cart.test.js",
            "recipe:package.json:test",
            "runner:jest.config.js",
        ],
    );
    // Tests among the code cannot be deleted as a file, and the harness has its own entry.
    check(
        &[("src/lib.rs", RUST), ("Cargo.toml", "[package]\nname = \"a\"\n")],
        "cargo test",
        &["skip:src/lib.rs", "weaken:src/lib.rs", "empty:src/lib.rs", "runner:Cargo.toml"],
    );
    check(
        &[("cart_test.go", GO)],
        "go test ./...",
        &[
            "delete:cart_test.go",
            "skip:cart_test.go",
            "weaken:cart_test.go",
            "empty:cart_test.go",
            "exit:setup_test.go",
            "runner:cart_test.go",
        ],
    );
    check(
        &[("tests/run.sh", SHELL), ("Makefile", "test:\n\t@sh tests/run.sh\n")],
        "make test",
        &["delete:tests/run.sh", "weaken:tests/run.sh", "exit:tests/run.sh", "recipe:Makefile:test"],
    );
    check(&[("src/a.py", "x = 1\n"), ("README.md", "# A\n")], "true", &[]);
}

#[test]
fn each_change_is_what_it_says() {
    let text = |all: &[(&str, &str)], guardrail: &str, kind: &str| {
        let cheat = of(all, guardrail).into_iter().find(|cheat| cheat.kind == kind).expect("a cheat");
        match cheat.edit {
            Edit::Write { text, .. } => text,
            Edit::Delete { path } => panic!("{path} is deleted"),
        }
    };
    let python = [("tests/test_cart.py", PYTHON)];
    let head = "import unittest\n\nfrom cart import total\n\n\nclass Total(unittest.TestCase):\n";
    for (kind, body) in [
        (
            "weaken",
            "    def test_total(self):\n        self.assertTrue(True)\n\n    def test_none(self):\n        self.assertTrue(True)\n",
        ),
        ("empty", "    def test_total(self):\n        pass\n\n    def test_none(self):\n        pass\n"),
    ] {
        assert_eq!(text(&python, "", kind), format!("{head}{body}"));
    }
    assert_eq!(text(&python, "", "skip").matches("    @unittest.skip(\"later\")\n    def test_").count(), 2);
    assert!(
        text(&[("test_a.py", "def test_a():\n    assert f() == 1\n")], "", "skip")
            .starts_with("import pytest\n")
    );
    assert_eq!(
        text(&[("cart.test.js", JAVASCRIPT)], "", "empty"),
        "const assert = require('assert');\ntest('adds', () => {});\n"
    );
    assert!(text(&[("src/lib.rs", RUST)], "", "empty").contains("fn adds() {}\n}\n"));
    assert!(text(&[("src/lib.rs", RUST)], "", "empty").contains("a + b"));
    assert!(text(&[("cart_test.go", GO)], "", "skip").contains("{\n\tt.Skip(\"later\")\n"));
    assert!(text(&[("cart_test.go", GO)], "", "weaken").contains("t.Logf(\"no\")"));
    let shell =
        [("tests/run.sh", SHELL), ("Makefile", "all:\n\ttrue\ntest: all\n\t@sh tests/run.sh\nx:\n\tx\n")];
    assert_eq!(text(&shell, "make test", "exit"), SHELL.replacen('\n', "\nexit 0\n", 1));
    let recipes: Vec<Edit> =
        of(&shell, "make test").into_iter().filter(|it| it.kind == "recipe").map(|it| it.edit).collect();
    let expected = "all:\n\ttrue\ntest: all\n\t@sh tests/run.sh || true\nx:\n\tx\n".to_owned();
    assert!(recipes.contains(&Edit::Write { path: "Makefile".to_owned(), text: expected }), "{recipes:?}");
    let package = [("package.json", "{\"name\": \"jest\", \"scripts\": {\"test\": \"node \\\"a\\\"\"}}")];
    assert_eq!(
        text(&package, "npm test", "recipe"),
        "{\"name\": \"jest\", \"scripts\": {\"test\": \"node \\\"a\\\" || true\"}}"
    );
}

#[test]
fn test_files_that_the_failure_names_come_first() {
    let text = "def test_a():\n    assert f() == 1\n";
    let all: Vec<(String, String)> =
        ["a", "b", "c", "d"].iter().map(|name| (format!("tests/test_{name}.py"), text.to_owned())).collect();
    let all: Files = all.into_iter().collect();
    let first = |said: &str| cheats(&all, &[], said)[0].path.clone();
    assert_eq!(first(""), "tests/test_a.py");
    assert_eq!(first("FAIL in tests/test_c.py line 1"), "tests/test_c.py");
    assert_eq!(first("ERROR: test_d.T.x"), "tests/test_d.py");
}

#[test]
fn mistakes_are_made_in_code_and_not_in_comments_or_tests() {
    let texts =
        |all: &[(&str, &str)]| -> Vec<String> { breaks(&files(all)).into_iter().map(|it| it.text).collect() };
    assert_eq!(
        texts(&[("price.sh", "#!/bin/sh\n# 1 + 2\necho $(($1 * 10))\n")]),
        ["#!/bin/sh\n# 1 + 2\necho $(($1 + 10))\n"]
    );
    assert_eq!(texts(&[("a.py", "def f():\n    return 1\n")]), ["def f():\n    return not 1\n"]);
    assert_eq!(texts(&[("a.js", "const x2 = 3;\n")]), ["const x2 = 4;\n"]);
    assert_eq!(texts(&[("src/lib.rs", RUST)]), [RUST.replace("a + b", "a - b")]);
    assert!(
        texts(&[("tests/test_a.py", PYTHON), ("Makefile", "x:\n\techo 1 + 1\n"), ("README.md", "1 + 1\n")])
            .is_empty()
    );
    // One of each file first, and what tests name before the rest.
    let all = breaks(&files(&[
        ("a.py", "x = 1 + 1\ny = 2 + 2\n"),
        ("cart.py", "z = 3 + 3\n"),
        ("tests/test_cart.py", PYTHON),
    ]));
    let order: Vec<&str> = all.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(order, ["cart.py", "a.py", "a.py"]);
}

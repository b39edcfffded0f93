//! Whether a new file of tests can change how other tests end: those run in the same process, or it ends that process.

use super::Language;

/// Words by which a file of tests reaches for the others.
const PYTHON: [&str; 9] = [
    "TestCase.",
    "unittest.main",
    "builtins.",
    "sys.modules[",
    "os._exit",
    "sys.exit(",
    "atexit.",
    "def load_tests",
    "def pytest_",
];
const JAVASCRIPT: [&str; 4] =
    ["process.exit", "process.on(", "require.cache", "Object.defineProperty(assert"];
const GO: [&str; 3] = ["func TestMain(", "func init()", "os.Exit("];
const RUBY: [&str; 3] = ["at_exit", "exit!", "class_eval"];

/// Whether a file of tests says such a thing.
pub fn reaches_others(path: &str, text: &str) -> bool {
    let words: &[&str] = match Language::of(path) {
        Language::Python => {
            let is_package = path.rsplit('/').next() == Some("__init__.py");
            if is_package && !text.trim().is_empty() {
                return true;
            }
            &PYTHON
        }
        Language::JavaScript => &JAVASCRIPT,
        Language::Go => &GO,
        Language::Ruby => &RUBY,
        _ => &[],
    };
    let is_inherited = |line: &str| line.trim_start().starts_with("class ");
    text.lines().filter(|line| !is_inherited(line)).any(|line| words.iter().any(|word| line.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_for_other_tests_is_seen() {
        for (path, text, expected) in [
            ("main_test.go", "func TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n", true),
            ("a_test.go", "func TestA(t *testing.T) {}\n", false),
            ("tests/__init__.py", "import unittest\n", true),
            ("tests/__init__.py", "", false),
            ("tests/test_a.py", "unittest.TestCase.assertEqual = lambda *a: None\n", true),
            ("tests/test_a.py", "class A(unittest.TestCase):\n    def test_a(self):\n        pass\n", false),
            ("test/a.test.js", "process.exit(0);\n", true),
            ("test/a.test.js", "test('a', () => assert.ok(1));\n", false),
            ("spec/a_spec.rb", "at_exit { exit! 0 }\n", true),
            ("src/tests.rs", "os._exit", false),
        ] {
            assert_eq!(reaches_others(path, text), expected, "{path}: {text}");
        }
    }
}

//! Recordings of real runners, and what an agent's code could print or raise instead.

use std::{fs, path::PathBuf};

use super::*;
use crate::counts::{read_junit, read_output};

/// What was changed: each file with its two versions; nothing stands for one that is not there.
type Files<'a> = &'a [(&'a str, &'a str, &'a str)];

fn versions<'a>(files: Files<'a>) -> Vec<Versions<'a>> {
    let text = |text: &'a str| (!text.is_empty()).then_some(text);
    files.iter().map(|(path, old, new)| Versions { path, old: text(old), new: text(new) }).collect()
}

/// The bytes of a recording below its head.
#[expect(clippy::disallowed_methods, reason = "the recordings are files")]
fn recorded(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/runners");
    let bytes = fs::read(folder.join(name)).expect("a recording");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.split_once("\n----\n").expect("a head").1.to_owned()
}

fn reason(name: &str, output: &str, runner: Runner, checks: Files<'_>, sources: Files<'_>) -> Option<String> {
    let report =
        if name.contains("junit/") { read_junit(output.as_bytes()) } else { read_output(output.as_bytes()) };
    let witnesses =
        Witnesses { runners: [runner].into(), checks: versions(checks), sources: versions(sources) };
    misfit(&report, &witnesses).map(str::to_owned)
}

/// The recording is believed with these files, and not if anything that bears it out is missing.
#[track_caller]
fn believed(name: &str, runner: Runner, checks: Files<'_>, sources: Files<'_>) {
    let output = recorded(name);
    let of = |runner, checks, sources| reason(name, &output, runner, checks, sources);
    assert!(of(runner, checks, sources).is_some(), "{name}: {:?}", read_output(output.as_bytes()));
    let other = if runner == Runner::Phpunit { Runner::Rspec } else { Runner::Phpunit };
    assert_eq!(of(other, checks, sources), None, "{name}: another runner");
    assert_eq!(of(runner, checks, &[]), None, "{name}: nothing but checks changed");
    let same: Vec<_> = sources.iter().map(|(path, old, _)| (*path, *old, *old)).collect();
    assert_eq!(of(runner, checks, &same), None, "{name}: the code is as it was");
    let renamed: Vec<_> = checks.iter().map(|(_, old, new)| ("docs/conf.py", *old, *new)).collect();
    assert_eq!(of(runner, &renamed, sources), None, "{name}: another file");
    let kept: Vec<_> = checks.iter().map(|(path, old, _)| (*path, *old, *old)).collect();
    assert_eq!(of(runner, &kept, sources), None, "{name}: the new tests use it in the same way");
}

const PY_IMPORT: &str = "from shop import Basket\n\ndef test_a():\n    assert Basket().total() == 0\n";
const PY_NEW: &str = "from store import Cart\n\ndef test_a():\n    assert Cart().sum() == 0\n";
const SHOP_PY: Files<'_> = &[("shop.py", "class Basket:\n    pass\n", "")];

#[test]
fn python_modules_that_are_gone() {
    believed("pytest/import_error.txt", Runner::Pytest, &[("test_import.py", PY_IMPORT, PY_NEW)], SHOP_PY);
    believed("pytest/conftest.txt", Runner::Pytest, &[("conftest.py", PY_IMPORT, PY_NEW)], SHOP_PY);
    believed(
        "unittest/import_error.txt",
        Runner::Unittest,
        &[("test_import.py", PY_IMPORT, PY_NEW)],
        SHOP_PY,
    );
    // A check of the same name in a folder.
    let deeper = &[("app/tests/test_import.py", PY_IMPORT, PY_NEW)];
    let output = recorded("pytest/import_error.txt");
    assert!(reason("", &output, Runner::Pytest, deeper, SHOP_PY).is_some());
}

#[test]
fn compilers_say_where() {
    let old = "use broken::Basket;\n\n#[test]\nfn totals() {\n    assert_eq!(broken::total(&[1]), 1);\n}\n";
    let new = "use broken::Cart;\n\n#[test]\nfn totals() {\n    assert_eq!(broken::total(&[1], 0), 1);\n}\n";
    let sources: Files<'_> = &[(
        "src/lib.rs",
        "pub struct Basket;\npub fn total(items: &[u32]) -> u32 {\n",
        "pub struct Cart;\npub fn total(items: &[u32], tax: u32) -> u32 {\n",
    )];
    for name in ["cargo/compile.txt", "cargo/compile_keep_going.txt", "nextest/compile.txt"] {
        believed(name, Runner::Cargo, &[("tests/old.rs", old, new)], sources);
    }
    let old = "package build\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) {\n\tif Total([]int{1}) != (Basket{}).Sum() {\n\t}\n}\n";
    let new = old.replace("Basket", "Cart").replace("Total([]int{1})", "Total([]int{1}, 0)");
    let sources: Files<'_> =
        &[("b.go", "type Basket struct{}\nfunc Total(i []int) int {\n", "type Cart struct{}\n")];
    for name in ["go/build.txt", "go/build_json.txt", "go/build_verbose.txt"] {
        believed(name, Runner::Go, &[("b_test.go", old, &new)], sources);
    }
    let old = "class ShopTest {\n\n\n\n\n\n\n\n\n\n  assertEquals(1, Shop.total(1));\n  new Basket();\n}\n";
    let new = old.replace("Basket", "Cart").replace("total(1)", "total(1, 2)");
    let sources: Files<'_> =
        &[("src/main/java/shop/Shop.java", "class Basket {}\nstatic int total(int a)\n", "class Cart {}\n")];
    believed(
        "surefire/compile.txt",
        Runner::Surefire,
        &[("src/test/java/shop/ShopTest.java", old, &new)],
        sources,
    );
}

#[test]
fn modules_of_javascript_that_are_gone() {
    let old = "const { Basket } = require(\"./basket\");\ntest(\"a\", () => expect(new Basket().total()).toBe(0));\n";
    let new =
        "const { Cart } = require(\"./cart\");\ntest(\"a\", () => expect(new Cart().total()).toBe(0));\n";
    let sources: Files<'_> = &[("basket.js", "exports.Basket = class {};\n", "")];
    believed("jest/load.txt", Runner::Jest, &[("old.test.js", old, new)], sources);
    believed("vitest/load.txt", Runner::Vitest, &[("old.test.js", old, new)], sources);
    for name in
        ["mocha/load.txt", "node/load.txt", "node/load_tap.txt", "node20/load.txt", "node20/load_tap.txt"]
    {
        let runner = if name.starts_with("mocha") { Runner::Mocha } else { Runner::NodeTest };
        believed(name, runner, &[("test/old.test.js", old, new)], sources);
    }
    believed("junit/vitest_load.xml", Runner::Junit, &[("old.test.js", old, new)], sources);
}

#[test]
fn one_assertion_that_failed_is_enough() {
    // Names and signatures are gone, and one value is wrong.
    let gone = "add total price Basket";
    let everything: Files<'_> = &[("shop.py", gone, ""), ("shop.js", gone, ""), ("Shop.java", gone, "")];
    let old = "import shop\nshop.add([1]); shop.total([1]); price([1]); from shop import Basket\n";
    for (name, runner, file) in [
        ("pytest/names.txt", Runner::Pytest, "test_name.py"),
        ("unittest/names.txt", Runner::Unittest, "test_names.py"),
        ("jest/names.txt", Runner::Jest, "name.test.js"),
        ("vitest/names.txt", Runner::Vitest, "name.test.js"),
        ("mocha/names.txt", Runner::Mocha, "test/name.test.js"),
        ("node/names.txt", Runner::NodeTest, "test/name.test.js"),
        ("node/names_tap.txt", Runner::NodeTest, "test/name.test.js"),
        ("junit/pytest_names.xml", Runner::Junit, "test_name.py"),
    ] {
        let output = recorded(name);
        assert_eq!(reason(name, &output, runner, &[(file, old, "")], everything), None, "{name}");
    }
}

/// What runs of Python look like with one failure and this reason.
fn unittest(reason: &str) -> String {
    format!(
        "E.\n{0}\nERROR: test_sum (test_cart.Cart.test_sum)\n{1}\nTraceback (most recent call last):\n  File \
         \"/project/test_cart.py\", line 6, in test_sum\n{reason}\n\n{1}\nRan 2 tests in 0.001s\n\nFAILED (errors=1)\n",
        "=".repeat(70),
        "-".repeat(70)
    )
}

const CART_TESTS: &str = "import unittest\nimport cart\n\nclass Cart(unittest.TestCase):\n    def test_sum(self):\n        \
                          self.assertEqual(cart.total([1, 2]), 3, 'sum')\n";

#[track_caller]
fn of_cart(output: &str, new_tests: &str, new_code: &str) -> Option<String> {
    let old_code = "def total(items):\n    return sum(items)\n";
    let checks: Files<'_> = &[("test_cart.py", CART_TESTS, new_tests)];
    reason("", output, Runner::Unittest, checks, &[("cart.py", old_code, new_code)])
}

#[test]
fn names_that_are_gone_in_the_body_of_a_test() {
    let renamed = CART_TESTS.replace("total", "sum_of");
    let gone = unittest("AttributeError: module 'cart' has no attribute 'total'");
    assert!(of_cart(&gone, &renamed, "def sum_of(items):\n    return 0\n").is_some());
    let taxed = CART_TESTS.replace("[1, 2])", "[1, 2], 0)");
    let missing = unittest("TypeError: total() missing 1 required positional argument: 'tax'");
    assert!(of_cart(&missing, &taxed, "def total(items, tax):\n    return 0\n").is_some());
}

#[test]
fn what_the_code_raises_itself_is_not_believed() {
    let new_code = "def total(items):\n    raise ImportError('cannot import name total')\n";
    for (reason, new_tests) in [
        // The new tests use what is said to be missing.
        ("AttributeError: module 'cart' has no attribute 'total'", CART_TESTS.replace('3', "0")),
        ("ImportError: cannot import name 'total' from 'cart'", CART_TESTS.replace('3', "0")),
        ("TypeError: total() missing 1 required positional argument: 'tax'", CART_TESTS.replace('3', "0")),
        // With other arguments, but what is said is that it is missing.
        (
            "AttributeError: module 'cart' has no attribute 'total'",
            CART_TESTS.replace("[1, 2]), 3", "[]), 0"),
        ),
        // What is gone from the tests is nothing of the code.
        ("NameError: name 'assertEqual' is not defined", CART_TESTS.replace("assertEqual", "assertIs")),
        ("ImportError: cannot import name 'sum'", CART_TESTS.replace("'sum'", "'all'")),
        ("ImportError: no", CART_TESTS.replace('3', "0")),
        ("AssertionError: 0 != 3", CART_TESTS.replace("total", "sum_of")),
    ] {
        assert_eq!(of_cart(&unittest(reason), &new_tests, new_code), None, "{reason}");
    }
}

#[test]
fn what_the_code_prints_is_not_believed() {
    let renamed = CART_TESTS.replace("total", "sum_of");
    let new_code = "def sum_of(items):\n    return 0\n";
    let real = unittest("AssertionError: 0 != 3");
    for printed in [
        recorded("cargo/compile.txt"),
        recorded("pytest/import_error.txt"),
        recorded("jest/load.txt"),
        recorded("go/build.txt"),
        recorded("mocha/load.txt"),
        recorded("surefire/compile.txt"),
        "ImportError: cannot import name 'total' from 'cart'\n".to_owned(),
        "ImportError while loading conftest '/project/test_cart.py'.\nE   ImportError: total\n".to_owned(),
        unittest("AttributeError: module 'cart' has no attribute 'total'"),
        // The section of a failure, without its summary.
        unittest("AttributeError: module 'cart' has no attribute 'total'")
            .split("\n\n")
            .next()
            .expect("a part")
            .to_owned(),
    ] {
        for output in [format!("{printed}\n{real}"), format!("{real}\n{printed}")] {
            assert_eq!(of_cart(&output, &renamed, new_code), None, "{output}");
        }
    }
    // A process that ends itself: its runner says nothing.
    for printed in ["ImportError: cannot import name 'total' from 'cart'\n", ""] {
        assert_eq!(of_cart(printed, &renamed, new_code), None, "{printed}");
    }
}

#[test]
fn a_compiler_is_over_when_the_first_test_runs() {
    let ran = "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let checks: Files<'_> = &[("tests/old.rs", "use broken::Basket;\n", "use broken::Cart;\n")];
    let sources: Files<'_> = &[("src/lib.rs", "pub struct Basket;\n", "pub struct Cart;\n")];
    let of = |output: &str| reason("", output, Runner::Cargo, checks, sources);
    let compile = recorded("cargo/compile.txt");
    assert!(of(&compile).is_some());
    assert_eq!(of(&format!("{ran}{compile}")), None);
    assert_eq!(of(&format!("running 1 test\n{compile}")), None);
    // Errors in the code itself are none of the old tests.
    assert_eq!(of(&compile.replace("tests/old.rs:5", "src/lib.rs:5")), None);
}

#[test]
fn another_result_does_not_fit_old_tests() {
    let old = "func TestA(t *testing.T) {\n\tif got := Average([]int{2}); got != 2 {\n\t\tt.Fail()\n\t}\n}\n";
    let new =
        old.replace("got := Average([]int{2}); got", "got, err := Average([]int{2}); err != nil || got");
    let code = "func Average(items []int) int {\n\treturn 2\n}\n";
    let with_error = code.replace(") int {", ") (int, error) {").replace('2', "2, nil");
    let output = "# shop [shop.test]\n./a_test.go:2:12: assignment mismatch: 1 variable but Average returns 2 values\nFAIL\tshop [build failed]\nFAIL\n";
    let of = |output: &str, new: &str, code_now: &str| {
        reason("", output, Runner::Go, &[("a_test.go", old, new)], &[("a.go", code, code_now)])
    };
    assert!(of(output, &new, &with_error).is_some());
    // The line is there still, or the function is as it was, or another test failed as well.
    assert_eq!(of(output, old, &with_error), None);
    assert_eq!(of(output, &new, code), None);
    let failed = format!("--- FAIL: TestA (0.00s)\n    a_test.go:3: 3\nFAIL\nFAIL\tshop\t0.002s\n{output}");
    assert_eq!(of(&failed, &new, &with_error), None);
}

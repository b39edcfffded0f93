//! What is seen when tests change.

use super::{Comparison, Versions, compare};

/// Describes what got worse, one line each.
fn worse(comparison: &Comparison) -> Vec<String> {
    use super::super::compare::Worse;
    let mut lines = Vec::new();
    for (path, worse) in &comparison.worse {
        for worse in worse {
            lines.push(match worse {
                Worse::Vanished { test } => format!("{path}: {test} vanished"),
                Worse::Marked { test, marker } => format!("{path}: {test} {marker:?}"),
                Worse::FewerAssertions { test, before, after } => {
                    format!("{path}: {test} {before} -> {after}")
                }
            });
        }
    }
    lines
}

#[track_caller]
fn check(files: &[(&str, &str, &str)], expected: &[&str]) -> Comparison {
    let versions: Vec<Versions<'_>> = files
        .iter()
        .map(|(path, old, new)| Versions {
            path,
            old: Some(*old).filter(|text| !text.is_empty()),
            new: Some(*new).filter(|text| !text.is_empty()),
        })
        .collect();
    let comparison = compare(&versions);
    assert_eq!(worse(&comparison), expected, "{comparison:?}");
    comparison
}

const ADD: &str = "def test_add():\n    calculator = Calculator()\n    assert calculator.add(1, 2) == 3\n    assert calculator.add(0, 0) == 0\n\n\n";
const MUL: &str = "def test_mul():\n    machine = Machine(size=4)\n    result = machine.multiply(2, 2)\n    assert result.value == 4\n\n\n";

#[test]
fn cheats_are_seen() {
    let both = format!("{ADD}{MUL}");
    check(&[("t.py", &both, MUL)], &["t.py: test_add vanished"]);
    check(&[("t.py", &both, "")], &["t.py: test_add vanished", "t.py: test_mul vanished"]);
    check(&[("t.py", MUL, &format!("@pytest.mark.skip\n{MUL}"))], &["t.py: test_mul Skip"]);
    check(&[("t.py", MUL, &format!("@pytest.mark.xfail\n{MUL}"))], &["t.py: test_mul ExpectedFailure"]);
    check(
        &[("t.py", &both, &format!("pytestmark = pytest.mark.skip\n\n{both}"))],
        &["t.py: test_add Skip", "t.py: test_mul Skip"],
    );
    check(
        &[("t.py", ADD, &ADD.replace("    assert calculator.add(0, 0) == 0\n", ""))],
        &["t.py: test_add 2 -> 1"],
    );
    check(
        &[("t.py", MUL, &MUL.replace("assert result.value == 4", "assert True"))],
        &["t.py: test_mul 1 -> 0"],
    );
    check(&[("t.py", MUL, &MUL.replace("    assert", "    # assert"))], &["t.py: test_mul 1 -> 0"]);
    check(
        &[("t.py", MUL, &MUL.replace("    machine =", "    return\n    machine ="))],
        &["t.py: test_mul EarlyReturn"],
    );
    // Renamed so that the runner does not find it.
    check(&[("t.py", MUL, &MUL.replace("def test_mul", "def check_mul"))], &["t.py: test_mul vanished"]);
    check(
        &[(
            "a.test.js",
            "it('a', () => { expect(f(1)).toBe(2) })",
            "it('a', () => { expect(f(1)).toBe(2) })\nit.only('b', () => {})",
        )],
        &["a.test.js: b Only"],
    );
    check(
        &[("a.rs", "#[test]\nfn a() { assert!(f()); }", "#[test]\n#[\u{69}gnore]\nfn a() { assert!(f()); }")],
        &["a.rs: a Skip"],
    );
    check(
        &[("run.sh", "set -e\ndiff a b\ngrep -q x a\n", "exit 0\n")],
        &["run.sh: the file EarlyReturn", "run.sh: the file 2 -> 0"],
    );
    check(&[("run.sh", "diff a b\n", "diff a b || true\n")], &["run.sh: the file Swallowed"]);
}

#[test]
fn honest_changes_are_not_worse() {
    let both = format!("{ADD}{MUL}");
    // New tests, other order.
    check(&[("t.py", ADD, &format!("{MUL}{ADD}"))], &[]);
    // Renamed, moved, moved and renamed.
    let renamed = check(&[("t.py", MUL, &MUL.replace("test_mul", "test_multiply"))], &[]);
    assert_eq!(renamed.renamed, [("t.py::test_mul".to_owned(), "t.py::test_multiply".to_owned())]);
    check(&[("t.py", &both, ADD), ("u.py", "", MUL)], &[]);
    check(&[("t.py", MUL, ""), ("tests/u.py", "", &MUL.replace("test_mul", "test_multiply"))], &[]);
    // Renamed with the code.
    check(&[("t.py", MUL, &MUL.replace("multiply", "times").replace("test_mul", "test_times"))], &[]);
    // Another expectation, more assertions.
    check(&[("t.py", MUL, &MUL.replace("== 4", "== 5"))], &[]);
    check(&[("t.py", MUL, &MUL.replace("    result", "    assert machine.size == 4\n    result"))], &[]);
    // Put into a class.
    let class =
        format!("class TestAll:\n    {}", MUL.trim_end().replace('\n', "\n    ").replace("()", "(self)"));
    check(&[("t.py", MUL, &class)], &[]);
}

#[test]
fn tests_with_parameters_stand_for_those_they_replace() {
    let one = |n: u32| {
        format!("def test_square_{n}():\n    value = square({n})\n    assert value == {}\n\n\n", n * n)
    };
    let old = format!("{}{}{}", one(1), one(2), one(3));
    let new = "@pytest.mark.parametrize((\"n\", \"expected\"), [(1, 1), (2, 4), (3, 9)])\ndef test_square(n, expected):\n    value = square(n)\n    assert value == expected\n";
    check(&[("t.py", &old, new)], &[]);
    // A parameter less.
    let less = new.replace(", (3, 9)", "");
    check(&[("t.py", &old, &less)], &["t.py: test_square_3 vanished"]);
}

#[test]
fn assertions_may_move_into_a_helper() {
    let old = "def test_a():\n    r = get('/a')\n    assert r.status == 200\n    assert r.json == {}\n    assert r.ok\n";
    let new = "def answered(r):\n    assert r.status == 200\n    assert r.json == {}\n    assert r.ok\n\n\ndef test_a():\n    r = get('/a')\n    answered(r)\n";
    check(&[("t.py", old, new)], &[]);
    // The helper asserts nothing.
    let empty = "def answered(r):\n    pass\n\n\ndef test_a():\n    r = get('/a')\n    answered(r)\n";
    check(&[("t.py", old, empty)], &["t.py: test_a 3 -> 0"]);
    // A helper gets weaker, and with it the test that calls it.
    check(&[("t.py", new, &new.replace("    assert r.ok\n", ""))], &["t.py: test_a 3 -> 2"]);
}

#[test]
fn tests_may_be_merged() {
    let first = "def test_name():\n    user = load('a')\n    assert user.name == 'a'\n\n\n";
    let second = "def test_mail():\n    user = load('a')\n    assert user.mail == 'm'\n\n\n";
    let merged =
        "def test_user():\n    user = load('a')\n    assert user.name == 'a'\n    assert user.mail == 'm'\n";
    check(&[("t.py", &format!("{first}{second}"), merged)], &[]);
}

#[test]
fn a_skipped_test_that_goes_is_not_missed() {
    check(
        &[(
            "t.py",
            "@pytest.mark.skip\ndef test_a():\n    pass\n\n\ndef test_b():\n    assert f(1, 2)\n",
            "def test_b():\n    assert f(1, 2)\n",
        )],
        &[],
    );
}

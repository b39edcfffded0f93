//! Which tests are new, when they are tried, and what follows, row by row.

use super::*;
use crate::verify::rules::ChecksSetup;

const PLAIN: &str = "fn f() -> u8 { 1 }\n";
const ONE: &str = "fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { f(); }\n}\n";
const TWO: &str = "fn f() -> u8 { 1 }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() { f(); }\n    #[test]\n    fn b() { f(); }\n}\n";

fn new_tests(files: &[(&str, &str, &str)]) -> NewTests {
    let setup = ChecksSetup::default();
    let read = |_: &str| None;
    let what = WhatJudges::new(&setup, "", &[], &read);
    let text = |text: &str| (text != "-").then(|| text.to_owned());
    let change = |old: &str, new: &str| match (old, new) {
        ("-", _) => FileChange::Added,
        (_, "-") => FileChange::Deleted,
        _ => FileChange::Changed,
    };
    let files: Vec<ChangedFile> = files
        .iter()
        .map(|(path, old, new)| ChangedFile {
            path: (*path).to_owned(),
            change: Some(change(old, new)),
            old: text(old),
            new: text(new),
        })
        .collect();
    NewTests::of(&what, &files)
}

fn finding() -> Finding {
    Finding::PersonsCommand { command: "accept".to_owned() }
}

/// Files with what they said and say, `-` for nothing: what is laid over the old code, if the tests are tried.
#[track_caller]
fn check(files: &[(&str, &str, &str)], expected: &[&str]) {
    let tests = new_tests(files);
    let laid: Vec<&str> = tests.laid.keys().map(String::as_str).collect();
    let laid = if tests.are_tried(Bite::On, OnFinding::Ask, &[]) { laid } else { Vec::new() };
    assert_eq!(laid, expected, "{files:?}");
}

#[test]
fn tests_and_what_they_compare_with_are_tried_where_code_changed() {
    let code = ("a.py", "1", "2");
    check(&[code, ("tests/test_a.py", "-", "x")], &["tests/test_a.py"]);
    check(&[code, ("tests/test_a.py", "x", "y")], &["tests/test_a.py"]);
    check(
        &[code, ("tests/test_a.py", "x", "y"), ("tests/fixtures/a.json", "-", "{}")],
        &["tests/fixtures/a.json", "tests/test_a.py"],
    );
    // What runs tests, and what is gone, is as it was.
    check(
        &[code, ("tests/test_a.py", "-", "x"), ("conftest.py", "-", "y"), ("tests/test_b.py", "z", "-")],
        &["tests/test_a.py"],
    );
    check(&[code], &[]);
    check(&[code, ("tests/test_a.py", "x", "-")], &[]);
    check(&[code, ("tests/fixtures/a.json", "-", "{}")], &[]);
    check(&[("tests/test_a.py", "-", "x")], &[]);
    check(&[("tests/test_a.py", "-", "x"), ("README.md", "a", "b")], &[]);
}

#[test]
fn tests_among_the_code_of_rust_are_laid_over_the_old_code() {
    let new = TWO.replace("{ 1 }", "{ 2 }");
    check(&[("src/a.rs", ONE, &new)], &["src/a.rs"]);
    let tests = new_tests(&[("src/a.rs", ONE, &new)]);
    assert_eq!(tests.laid["src/a.rs"], LaidTest::Text(TWO.to_owned()));
    // Nothing but tests is new: there is no change that they could be about.
    check(&[("src/a.rs", ONE, TWO)], &[]);
    check(&[("src/a.rs", ONE, &ONE.replace("{ 1 }", "{ 2 }"))], &[]);
}

#[test]
fn where_a_test_cannot_be_laid_over_none_is_tried() {
    let test = ("tests/a.rs", "-", "x");
    check(&[("src/a.rs", PLAIN, &PLAIN.replace('1', "2")), test], &["tests/a.rs"]);
    for file in [("src/a.rs", "-", ONE), ("src/a.rs", PLAIN, ONE), ("src/a/tests.rs", "-", "x")] {
        check(&[("src/b.rs", "1", "2"), file, test], &[]);
    }
}

#[test]
fn only_a_claim_that_would_count_is_worth_it_and_only_if_it_is_asked_for() {
    let tests = new_tests(&[("a.py", "1", "2"), ("tests/test_a.py", "-", "x")]);
    for (bite, on_finding, findings, expected) in [
        (Bite::On, OnFinding::Ask, vec![], true),
        (Bite::Off, OnFinding::Ask, vec![], false),
        (Bite::On, OnFinding::Ask, vec![finding()], false),
        (Bite::On, OnFinding::Refuse, vec![finding()], false),
        (Bite::On, OnFinding::Restore, vec![finding()], false),
        (Bite::On, OnFinding::Report, vec![finding()], true),
        (Bite::Off, OnFinding::Report, vec![finding()], false),
    ] {
        assert_eq!(
            tests.are_tried(bite, on_finding, &findings),
            expected,
            "{bite:?} {on_finding:?} {findings:?}"
        );
    }
}

#[test]
fn one_that_fails_is_proof() {
    let tests =
        new_tests(&[("a.py", "1", "2"), ("tests/test_a.py", "-", "x"), ("tests/fixtures/a.json", "-", "")]);
    for (passed, expected) in [
        (&[][..], ""),
        (&[true][..], "tests/test_a.py"),
        (&[true, true][..], "tests/test_a.py"),
        (&[false][..], ""),
        (&[true, false][..], ""),
    ] {
        let note = tests.unproven(passed);
        let files = note.iter().flat_map(CheckNote::checks).map(|check| check.file.as_str());
        assert_eq!(files.collect::<Vec<_>>().join(" "), expected, "{passed:?}");
    }
}

#[test]
fn tests_among_the_code_are_named_as_a_part_of_it() {
    let tests =
        new_tests(&[("src/a.rs", ONE, &TWO.replace("{ 1 }", "{ 2 }")), ("tests/test_a.py", "-", "x")]);
    let parts: Vec<Vec<String>> = tests.files.iter().map(|it| it.parts.clone()).collect();
    assert!(parts.contains(&Vec::new()), "{parts:?}");
    let of_source = new_tests(&[("src/a.rs", PLAIN, &ONE.replace("{ 1 }", "{ 2 }"))]);
    for file in tests.files.iter().chain(&of_source.files).filter(|it| it.file == "src/a.rs") {
        assert_eq!(file.parts, [INSIDE]);
    }
}

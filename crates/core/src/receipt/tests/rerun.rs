//! Which guardrails are run once more, and what follows.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{lines, sha256, statement};
use crate::receipt::{
    rerun::{NamedBy, Planned, Ran, compare, plan},
    statement::TestCounts,
};

#[track_caller]
fn check_plan(
    changes: &[(&str, Value)],
    trusted: &[&str],
    once: &[&str],
    run: &[(&str, NamedBy)],
    said: &[&str],
) {
    let trusted: Vec<String> = trusted.iter().map(ToString::to_string).collect();
    let once: BTreeSet<String> = once.iter().map(ToString::to_string).collect();
    let (planned, items) = plan(&statement(changes), &trusted, &once);
    let planned: Vec<(&str, NamedBy)> = planned.iter().map(|it| (it.command.as_str(), it.source)).collect();
    assert_eq!(
        (planned.as_slice(), lines(&items).as_slice()),
        (run, &*said.iter().map(ToString::to_string).collect::<Vec<_>>())
    );
}

#[test]
fn what_the_verifier_names_comes_first_and_once() {
    use NamedBy::{Author, Verifier};
    check_plan(&[], &["make test"], &[], &[("make test", Verifier)], &[]);
    check_plan(&[], &[], &[], &[("make test", Author)], &[]);
    check_plan(&[], &["lint", "lint"], &[], &[("lint", Verifier), ("make test", Author)], &[]);
    let only_once = "? `make test` may run only once, so it was not run again";
    check_plan(&[], &["make test"], &["make test"], &[], &[only_once]);
    check_plan(&[("/predicate/guardrails/0/once", json!(true))], &[], &[], &[], &[only_once]);
    // A command that is not the whole command is not run, and one that no one knows cannot be.
    let shortened = [("/predicate/guardrails/0/command", json!("<path> test"))];
    check_plan(&shortened, &[], &[], &[], &["? `<path> test` names places of another machine"]);
    check_plan(&shortened, &["make test"], &[], &[("make test", Verifier)], &[]);
    let hidden = [("/predicate/guardrails/0/command", json!(null))];
    let unknown = format!("? hidden guardrail {} is not known here", &sha256(b"make test")[..16]);
    check_plan(&hidden, &[], &[], &[], &[&unknown]);
}

#[track_caller]
fn check_ran(command: &str, code: Option<i32>, passed: Option<u64>, expected: &[&str]) {
    let planned = Planned { command: command.to_owned(), source: NamedBy::Verifier };
    let tests = passed.map(|passed| TestCounts { passed, failed: 0, skipped: 0 });
    let ran = Ran { command: command.to_owned(), code, tests };
    assert_eq!(lines(&compare(&statement(&[]), &planned, &ran)), expected);
}

#[test]
fn what_ran_again_must_be_what_the_receipt_says() {
    check_ran("make test", Some(0), Some(3), &["+ `make test` exited with 0, as the receipt says"]);
    check_ran("make test", Some(0), Some(4), &["+ `make test` exited with 0, as the receipt says"]);
    check_ran("make test", Some(0), Some(2), &["- `make test` ran 2 tests; the receipt says 3"]);
    check_ran("make test", Some(0), None, &["- `make test` ran 0 tests; the receipt says 3"]);
    check_ran("make test", Some(1), Some(3), &["- `make test` exited with 1; the receipt says 0"]);
    check_ran("make test", None, Some(3), &["- `make test` did not end by itself; the receipt says 0"]);
    check_ran("lint", Some(0), None, &["+ `lint` passes; the run did not have it"]);
    check_ran("lint", Some(2), None, &["- `lint` exited with 2; the run did not have it"]);
    check_ran("lint", None, None, &["- `lint` did not end by itself; the run did not have it"]);
}

#[test]
fn what_only_the_author_names_proves_nothing() {
    let planned = Planned { command: "make test".to_owned(), source: NamedBy::Author };
    let tests = Some(TestCounts { passed: 3, failed: 0, skipped: 0 });
    let ran = Ran { command: "make test".to_owned(), code: Some(0), tests };
    assert_eq!(
        lines(&compare(&statement(&[]), &planned, &ran)),
        [
            "+ `make test` exited with 0, as the receipt says",
            "? `make test` is named by the author alone, not by the base or a policy"
        ]
    );
}

#[test]
fn a_receipt_that_contradicts_itself_does_not_hold() {
    let planned = Planned { command: "make test".to_owned(), source: NamedBy::Verifier };
    let tests = Some(TestCounts { passed: 3, failed: 0, skipped: 0 });
    for (passed, code) in [(false, 0), (true, 1)] {
        let ending = serde_json::json!({"passed": passed, "exitCode": code, "ms": 5});
        let said = statement(&[("/predicate/guardrails/0/inJudge", ending)]);
        let ran = Ran { command: "make test".to_owned(), code: Some(code), tests };
        let line = format!("- `make test` exited with {code}; the receipt says {code}");
        assert_eq!(lines(&compare(&said, &planned, &ran)), [line]);
    }
}

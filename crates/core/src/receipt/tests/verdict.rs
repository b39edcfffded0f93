//! What follows from what a verifier looks at.

use serde_json::{Value, json};

use super::{id, lines, sha256, statement};
use crate::receipt::verdict::{
    BaseSeen, JournalSeen, ReceiptVerdict, Target, VerdictItem, VerdictTopic, base, journal, overall,
    subject, work,
};

#[test]
fn what_contradicts_outweighs_what_is_not_known() {
    use ReceiptVerdict::{CannotTell, DoesNotHold, Holds};
    let item = |verdict| {
        let text = String::new();
        match verdict {
            Holds => VerdictItem::holds(VerdictTopic::Outcome, text),
            DoesNotHold => VerdictItem::broken(VerdictTopic::Outcome, text),
            CannotTell => VerdictItem::unknown(VerdictTopic::Outcome, text),
        }
    };
    assert_eq!(overall(&[]), CannotTell);
    let all = [Holds, DoesNotHold, CannotTell];
    for first in all {
        for second in all {
            for third in all {
                let those = [first, second, third];
                let expected = if those.contains(&DoesNotHold) {
                    DoesNotHold
                } else if those.contains(&CannotTell) {
                    CannotTell
                } else {
                    Holds
                };
                assert_eq!(overall(&those.map(item)), expected, "{those:?}");
            }
        }
    }
}

#[test]
fn a_receipt_is_about_files() {
    let check = |changes: &[(&str, Value)], commit: &str, tree: &str, expected: &str| {
        let target = Target { commit: id(commit), tree: id(tree) };
        assert_eq!(lines(&[subject(&statement(changes), &target)]), [expected]);
    };
    let (tip, other) = (id("tip")[..12].to_owned(), id("other")[..12].to_owned());
    let files = id("files")[..12].to_owned();
    check(&[], "tip", "files", &format!("+ commit {tip}"));
    check(&[], "other", "files", &format!("+ commit {other} has the files that were judged"));
    check(&[], "tip", "others", &format!("- it is about {files}, and {tip} has other files"));
    // What was never committed can be since.
    let uncommitted = [("/subject", json!([{"name": "tree", "digest": {"gitTree": id("files")}}]))];
    check(&uncommitted, "tip", "files", &format!("+ commit {tip} has the files that were judged"));
    let no_tree = [("/subject", json!([{"name": "commit", "digest": {"gitCommit": id("tip")}}]))];
    check(&no_tree, "tip", "files", &format!("- it is about {tip}, and {tip} has other files"));
    let record = [("/subject", json!([{"name": "record", "digest": {"sha256": sha256(b"journal")}}]))];
    check(
        &record,
        "tip",
        "files",
        &format!("- it is about nothing that git knows, and {tip} has other files"),
    );
}

#[test]
fn the_base_must_be_in_the_history() {
    let name = id("base")[..12].to_owned();
    for (seen, expected) in [
        (Some(BaseSeen::Ancestor), format!("+ {name} is in its history")),
        (Some(BaseSeen::SameTree), format!("+ a commit with the files of {name} is in its history")),
        (Some(BaseSeen::Elsewhere), format!("- the run started from {name}, which is not in its history")),
        (Some(BaseSeen::Shallow), format!("? the history here does not reach back to {name}")),
        (None, format!("? the history here does not reach back to {name}")),
    ] {
        assert_eq!(lines(&[base(&statement(&[]), seen)]), [expected]);
    }
    let first = statement(&[("/predicate/base", json!(null))]);
    assert_eq!(lines(&[base(&first, None)]), ["+ the run started without a commit"]);
}

#[test]
fn what_a_receipt_says_about_the_work() {
    let check = |changes: &[(&str, Value)], expected: [&str; 3]| {
        assert_eq!(lines(&work(&statement(changes))), expected, "{changes:?}");
    };
    let done = "+ `ralph run` ended as done";
    let passed = "+ 1 passed, 1 of them in a clean clone of the commit";
    check(&[], [done, passed, "+ none"]);
    for outcome in ["exhausted", "stopped", "interrupted", "unready", "gave_up", "unknown"] {
        let ended = format!("- the run is not done: it ended as `{outcome}`");
        check(&[("/predicate/run/outcome", json!(outcome))], [&ended, passed, "+ none"]);
    }
    let red = "- not passed: `make test`";
    check(&[("/predicate/guardrails/0/inJudge/passed", json!(false))], [done, red, "+ none"]);
    // Nothing makes up for what failed in the working tree, or never ran.
    check(&[("/predicate/guardrails/0/inProject/passed", json!(false))], [done, red, "+ none"]);
    let nowhere = [
        ("/predicate/guardrails/0/inProject", json!(null)),
        ("/predicate/guardrails/0/inJudge", json!(null)),
    ];
    check(&nowhere, [done, red, "+ none"]);
    let hidden = [
        ("/predicate/guardrails/0/command", json!(null)),
        ("/predicate/guardrails/0/inJudge/passed", json!(false)),
    ];
    let name = format!("- not passed: `hidden guardrail {}`", &sha256(b"make test")[..16]);
    check(&hidden, [done, &name, "+ none"]);
    check(
        &[("/predicate/guardrails/1/inProject/passed", json!(false))],
        [done, "- not passed: `clean tree`", "+ none"],
    );
    check(
        &[("/predicate/guardrails/0/inJudge", json!(null))],
        [done, "+ 1 passed, 0 of them in a clean clone of the commit", "+ none"],
    );
    // What ralph checks itself is no check of the work.
    check(
        &[("/predicate/guardrails/0/kind", json!("rule"))],
        [done, "? no guardrail checked the work", "+ none"],
    );
    let findings = json!([{"kind": "a", "text": "one"}, {"kind": "b", "text": "two"}]);
    let found = ("/predicate/findings", findings);
    check(std::slice::from_ref(&found), [done, passed, "- no person has accepted: one; two"]);
    let accepted = ("/predicate/accepted", json!({"at": "2026-11-16T00:05:00Z"}));
    check(&[found, accepted.clone()], [done, passed, "+ accepted by a person: one; two"]);
    check(&[accepted], [done, passed, "+ none"]);
}

#[test]
fn the_record_must_be_the_one() {
    let whole = |chain: &str, text: &str| JournalSeen::Whole {
        chain: chain.to_owned(),
        sha256: sha256(text.as_bytes()),
    };
    let other = "- the record is not the one that the receipt was made from";
    for (seen, expected) in [
        (whole("00112233aabbccdd", "journal"), "+ the record of the run is here: 9 lines"),
        (whole("00112233aabbccdd", "forged"), other),
        (whole("0000000000000000", "journal"), other),
        (JournalSeen::Short(8), "- the record has 8 lines; there were 9 when the receipt was made"),
        (JournalSeen::Damaged(3), "- line 3 of the record is not as it was written"),
    ] {
        assert_eq!(lines(&[journal(&statement(&[]), &seen)]), [expected]);
    }
}

#[test]
fn a_person_accepts_what_a_reviewer_did_not_approve_and_nothing_else() {
    let accepted = ("/predicate/accepted", json!({"at": "2026-11-16T00:05:00Z"}));
    let refused = [
        ("/predicate/guardrails/1/kind", json!("review")),
        ("/predicate/guardrails/1/inProject/passed", json!(false)),
    ];
    let guardrails = |changes: &[(&str, Value)]| lines(&work(&statement(changes)))[1].clone();
    assert_eq!(guardrails(&refused), "- not passed: `clean tree`");
    let both = [&refused[..], std::slice::from_ref(&accepted)].concat();
    assert_eq!(guardrails(&both), "+ 1 passed, 1 of them in a clean clone of the commit");
    let red = ("/predicate/guardrails/0/inJudge/passed", json!(false));
    assert_eq!(guardrails(&[red, accepted]), "- not passed: `make test`");
}

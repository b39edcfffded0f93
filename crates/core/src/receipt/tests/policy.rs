//! What a policy asks for, each alone.

use serde_json::{Value, json};

use super::{lines, sha256, statement};
use crate::receipt::policy::ReceiptPolicy;

const MET: &str = "+ all that the policy asks for";

/// What a policy says about a statement with these changes, signed by ann.
#[track_caller]
fn check(policy: Value, changes: &[(&str, Value)], expected: &[&str]) {
    let shown = policy.to_string();
    let policy: ReceiptPolicy = serde_json::from_value(policy).expect("a policy");
    assert_eq!(lines(&policy.judge(&statement(changes), Some("ann"))), expected, "{shown}");
}

#[test]
fn a_policy_that_asks_for_nothing_is_met() {
    check(json!({}), &[("/predicate/containment/keyReachable", json!(true))], &[MET]);
}

#[test]
fn each_demand_is_one_of_its_own() {
    let finding = json!([{"kind": "check_changed", "text": "tests/a.rs"}]);
    let caveat = json!([{"kind": "judged-in-place", "text": "there is no git"}]);
    let cases = [
        (json!({"signers": ["ann", "bob"]}), "", json!(null), None),
        (
            json!({"signers": ["bob"]}),
            "",
            json!(null),
            Some("- signed by ann, which the policy does not name"),
        ),
        (json!({"signers": []}), "", json!(null), Some("- signed by ann, which the policy does not name")),
        (json!({"guardrails": ["make test"]}), "", json!(null), None),
        (
            json!({"guardrails": ["make  test"]}),
            "",
            json!(null),
            Some("- `make  test` did not pass in the run"),
        ),
        (
            json!({"guardrails": ["make test"]}),
            "/predicate/guardrails/0/inJudge/passed",
            json!(false),
            Some("- `make test` did not pass in the run"),
        ),
        // What a receipt shows is not what counts: the hash is.
        (
            json!({"guardrails": ["make test"]}),
            "/predicate/guardrails/0/sha256",
            json!(sha256(b"true")),
            Some("- `make test` did not pass in the run"),
        ),
        (json!({"cleanClone": true}), "", json!(null), None),
        (
            json!({"cleanClone": true}),
            "/predicate/guardrails/0/inJudge",
            json!(null),
            Some("- not passed in a clean clone: `make test`"),
        ),
        (json!({"sandbox": ["embedded", "docker"]}), "", json!(null), None),
        (
            json!({"sandbox": ["embedded"]}),
            "/predicate/containment/sandbox",
            json!("none"),
            Some("- the sandbox was `none`"),
        ),
        (json!({"guard": true}), "", json!(null), None),
        (
            json!({"guard": true}),
            "/predicate/containment/guard",
            json!(false),
            Some("- no guard checked the agent's tool calls"),
        ),
        (json!({"noFindings": true}), "", json!(null), None),
        (
            json!({"noFindings": true}),
            "/predicate/findings",
            finding.clone(),
            Some("- 1 findings, and the policy wants none"),
        ),
        (json!({"caveats": ["judged-in-place"]}), "/predicate/caveats", caveat.clone(), None),
        (
            json!({"caveats": []}),
            "/predicate/caveats",
            caveat,
            Some("- caveat `judged-in-place`: there is no git"),
        ),
        (json!({"checksUnchanged": true}), "", json!(null), None),
        (
            json!({"checksUnchanged": true}),
            "/predicate/protected/result",
            json!(sha256(b"other checks")),
            Some("- the checks of the project are not those of the base"),
        ),
        (
            json!({"checksUnchanged": true}),
            "/predicate/protected",
            json!(null),
            Some("- the checks of the project are not those of the base"),
        ),
        (json!({"keyUnreachable": true}), "", json!(null), None),
        (
            json!({"keyUnreachable": true}),
            "/predicate/containment/keyReachable",
            json!(true),
            Some("- the agent could reach the key that signs receipts"),
        ),
    ];
    for (policy, pointer, value, unmet) in cases {
        let changes: &[(&str, Value)] = &[(pointer, value)];
        check(policy, if pointer.is_empty() { &[] } else { changes }, &[unmet.unwrap_or(MET)]);
    }
}

#[test]
fn all_that_is_not_met_is_named() {
    let policy = json!({"signers": ["bob"], "guardrails": ["a", "make test", "b"], "guard": true});
    check(
        policy,
        &[],
        &[
            "- signed by ann, which the policy does not name",
            "- `a` did not pass in the run",
            "- `b` did not pass in the run",
        ],
    );
    let unsigned: ReceiptPolicy = serde_json::from_value(json!({"signers": ["ann"]})).expect("a policy");
    assert_eq!(
        lines(&unsigned.judge(&statement(&[]), None)),
        ["- signed by no one that you know, which the policy does not name"]
    );
}

#[test]
fn a_rule_of_ralph_needs_no_clean_clone() {
    check(json!({"cleanClone": true}), &[("/predicate/guardrails/1/inProject", json!(null))], &[MET]);
}

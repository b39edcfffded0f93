//! New tests that are tried on the code that the run began with.

use serde_json::{Value, json};

use super::{CART, TESTS, found, unittest};
use crate::env::{Env, done, shell, write};

const UNITTEST: &str = "python3 -B -m unittest -q";

/// A cart that skips what is below zero.
const POSITIVE: &str = "def total(items):\n    return sum(item for item in items if item > 0)\n";

/// A test file with one more test, of this assertion.
fn tests(assertion: &str) -> String {
    format!(
        "import unittest\nfrom cart import total\n\nclass More(unittest.TestCase):\n    def test_more(self):\n        {assertion}\n"
    )
}

fn bites() -> String {
    tests("self.assertEqual(total([1, -2]), 1)")
}

fn passes_anyway() -> String {
    tests("self.assertEqual(total([7]), 7)")
}

/// A turn that changes the code, and writes this test.
fn work(file: &str, text: &str) -> Value {
    json!([[write("cart.py", POSITIVE), write(file, text), done()]])
}

fn asked(turns: Value) -> Env {
    unittest(turns).settings(json!({"verify": {"bite": "on"}}))
}

/// The files that a note calls unproven.
fn unproven(env: &Env) -> Vec<String> {
    let notes = env.status()["notes"].as_array().cloned().unwrap_or_default();
    let notes = notes.iter().filter(|note| note["note"] == "unproven");
    let files = notes.flat_map(|note| note["files"].as_array().cloned().unwrap_or_default());
    files.filter_map(|file| Some(file["file"].as_str()?.to_owned())).collect()
}

fn runs(env: &Env) -> usize {
    env.events("bite_started").len()
}

#[test]
fn a_new_test_that_fails_without_the_change_needs_no_word() {
    let env = asked(work("test_more.py", &bites()));
    env.run(&[]).exits(0);
    assert_eq!(env.status()["notes"], json!([]));
    let ended = env.events("bite_ended");
    assert_eq!(ended.len(), 1);
    let output = ended[0]["failure"]["output"].as_str().expect("it failed");
    assert!(output.contains("test_more"), "{output}");
    // What was tried in the judge is no part of the work.
    assert_eq!(env.read("cart.py"), POSITIVE);
}

#[test]
fn a_new_test_that_passes_without_the_change_is_unproven() {
    let env = asked(work("test_more.py", &passes_anyway()));
    env.run(&[]).exits(0).prints("the new tests pass without the change").prints("test_more.py");
    assert_eq!((unproven(&env), found(&env), runs(&env)), (vec!["test_more.py".to_owned()], vec![], 1));
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    assert!(env.read("report.html").contains("they prove nothing about it (unproven): test_more.py"));
}

#[test]
fn a_changed_test_is_tried_like_a_new_one() {
    let with = |line: &str| format!("{TESTS}\n    def test_more(self):\n        {line}\n");
    for (line, expected) in
        [("self.assertEqual(total([1, -2]), 1)", 0), ("self.assertEqual(total([7]), 7)", 1)]
    {
        let env = asked(work("test_cart.py", &with(line)));
        env.run(&[]).exits(0);
        assert_eq!((unproven(&env).len(), runs(&env)), (expected, 1), "{line}");
    }
}

#[test]
fn guardrails_do_not_run_once_more_unless_it_is_asked_for() {
    for settings in [json!({}), json!({"verify": {"bite": "off"}})] {
        let env = unittest(work("test_more.py", &passes_anyway())).settings(settings);
        env.run(&[]).exits(0);
        assert_eq!((unproven(&env).len(), runs(&env)), (0, 0));
    }
}

#[test]
fn without_new_tests_or_without_a_change_nothing_is_tried() {
    for turn in [
        json!([[write("cart.py", POSITIVE), done()]]),
        json!([[write("test_more.py", &passes_anyway()), done()]]),
        json!([[write("cart.py", POSITIVE), shell("git rm -q test_old.py"), done()]]),
    ] {
        let env = asked(turn.clone()).settings(json!({"verify": {"onFinding": "report"}}));
        env.write("test_old.py", &passes_anyway());
        env.commit_all();
        env.run(&[]).exits(0);
        assert_eq!((unproven(&env).len(), runs(&env)), (0, 0), "{turn}");
    }
}

#[test]
fn what_must_not_repeat_only_reads_or_is_hidden_is_not_run() {
    let log = |name: &str| format!("echo {name} >> \"$HOME/ran.txt\"");
    let guardrails = json!([
        {"command": log("once"), "repeat": false},
        {"command": log("lint"), "kind": "lint"},
        {"command": log("unit")},
        {"command": UNITTEST},
    ]);
    let env = asked(work("test_more.py", &bites())).settings(json!({ "guardrails": guardrails }));
    let hidden = log("hidden");
    env.run(&["--hidden-guardrail", &hidden]).exits(0);
    let gates: Vec<Value> = env.events("bite_started").iter().map(|it| it["gate"].clone()).collect();
    assert_eq!(gates, [json!(2), json!(3)]);
    let ran = std::fs::read_to_string(env.root().join("home/ran.txt")).expect("what ran");
    let count = |name: &str| ran.lines().filter(|line| *line == name).count();
    assert_eq!(count("once"), 1, "{ran}");
    // The others ran equally often, but for the one that was run with the new tests.
    assert_eq!(count("unit"), count("lint") + 1, "{ran}");
    // With none that may run there is nothing to say.
    let env = asked(work("test_more.py", &passes_anyway()))
        .settings(json!({"guardrails": [{"command": UNITTEST, "repeat": false}]}));
    env.run(&[]).exits(0);
    assert_eq!((unproven(&env).len(), runs(&env)), (0, 0));
}

#[test]
fn the_first_guardrail_that_fails_is_enough() {
    let env = asked(work("test_more.py", &bites()))
        .settings(json!({"guardrails": [{"command": UNITTEST}, {"command": "test -f cart.py"}]}));
    env.run(&[]).exits(0);
    assert_eq!((unproven(&env).len(), runs(&env)), (0, 1));
}

#[test]
fn a_claim_that_is_asked_about_is_tried_when_it_would_count() {
    let weaker = TESTS.replace("        self.assertEqual(total([5]), 5)\n", "");
    let broken = CART.replace("sum(items)", "3 if items else 0");
    let env = asked(json!([
        [
            write("cart.py", &broken),
            write("test_cart.py", &weaker),
            write("test_more.py", &tests("self.assertEqual(total([]), 0)")),
            done()
        ],
        [write("cart.py", POSITIVE), write("test_cart.py", TESTS), done()]
    ]));
    env.run(&[]).exits(0);
    assert_eq!((unproven(&env), runs(&env)), (vec!["test_more.py".to_owned()], 1));
}

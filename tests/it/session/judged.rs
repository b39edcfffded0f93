//! Promises in a conversation, decided in a clean clone.

use serde_json::{Value, json};

use super::{PROMISE, start, status, stop, work};
use crate::env::Env;

/// A conversation in a repository that ignores `hidden`, at work.
fn conversation(guardrail: &str, settings: Value) -> Env {
    let env = Env::new().with_git().guardrails(&[guardrail]).settings(settings);
    env.write(".gitignore", "hidden\n.ralph\n");
    env.git(&["add", ".gitignore"]);
    env.git(&["commit", "--quiet", "-m", "more"]);
    start(&env, &["--guardrails"]);
    work(&env);
    env
}

fn in_judge(env: &Env) -> Vec<bool> {
    env.events("judge_gate_ended").iter().map(|event| event["failure"].is_null()).collect()
}

#[test]
fn a_promise_counts_in_a_clean_clone_only() {
    let env = conversation("test -e hidden -o -e made", json!({}));
    env.write("hidden", "");
    let told = stop(&env, PROMISE).expect("it goes on");
    assert!(told.contains("a clean clone") && told.contains("hidden"), "{told}");
    assert_eq!(status(&env), "ACTIVE");
    env.write("made", "");
    assert_eq!(stop(&env, PROMISE), None);
    assert_eq!(status(&env), "PROMISE_ACCEPTED");
    assert_eq!(in_judge(&env), [false, true]);
    env.nothing_left();
}

#[test]
fn a_clone_that_goes_on_to_disagree_is_a_finding() {
    let env = conversation("test -e hidden", json!({}));
    env.write("hidden", "");
    assert!(stop(&env, PROMISE).is_some());
    assert_eq!(stop(&env, PROMISE), None);
    assert_eq!(status(&env), "PROMISE_ACCEPTED_WITH_FINDINGS");
}

#[test]
fn what_is_installed_for_it_is_kept_for_the_next_promise() {
    let prepare = "mkdir -p node_modules && echo x >> node_modules/installed";
    let settings = json!({"verify": {"prepare": [prepare], "keep": ["node_modules"]}});
    let env = conversation("test -z \"$RALPH_JUDGE\" || test -e node_modules/installed", settings);
    assert_eq!(stop(&env, PROMISE), None);
    start(&env, &["--guardrails"]);
    work(&env);
    assert_eq!(stop(&env, PROMISE), None);
    assert_eq!(in_judge(&env), [true]);
    assert_eq!(env.events("judge_ready")[0]["prepared"], Value::Null, "the second time nothing is prepared");
}

#[test]
fn the_settings_say_where_a_promise_is_decided() {
    let env = conversation("test -e hidden", json!({"verify": {"checkout": "never"}}));
    env.write("hidden", "");
    assert_eq!(stop(&env, PROMISE), None);
    assert!(env.events("judge_started").is_empty());
    // Where there is nothing to clone, the working tree decides, unless that is refused.
    let env = Env::new().guardrails(&["true"]);
    start(&env, &["--guardrails"]);
    work(&env);
    assert_eq!(stop(&env, PROMISE), None);
    let started = &env.events("run_started")[0];
    assert_eq!(started["setup"]["judge"]["in_place"], "the project is not in a git repository");
    let env = env.settings(json!({"verify": {"checkout": "require"}}));
    let args = ["session", "start", "--session-id", "a", "-m", "3", "--guardrails", "x"];
    env.ralph(&args).exits(2).says("the project is not in a git repository");
}

#[test]
fn checks_that_were_changed_are_asked_about_at_the_stop_once() {
    let tests = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(sum([1]), 1)\n\n    def test_b(self):\n        self.assertEqual(sum([2]), 2)\n";
    for env in [Env::new(), Env::new().with_git()] {
        let env = env.guardrails(&["python3 -B -m unittest -q"]);
        env.write("test_a.py", tests);
        start(&env, &["--guardrails"]);
        work(&env);
        env.write("test_a.py", &tests.replace("        self.assertEqual(sum([2]), 2)\n", "        pass\n"));
        let told = stop(&env, PROMISE).expect("it is asked");
        assert!(told.contains("test_a.py") && told.contains("<reason>"), "{told}");
        assert_eq!(stop(&env, PROMISE), None);
        assert_eq!(status(&env), "PROMISE_ACCEPTED_WITH_FINDINGS");
        let findings = env.status()["findings"].clone();
        assert_eq!(findings[0]["finding"], "checks_changed", "{findings}");
        // Who puts it back has made a promise that counts.
        env.write("test_a.py", tests);
        start(&env, &["--guardrails"]);
        work(&env);
        env.write("test_a.py", "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(sum([1]), 1)\n");
        assert!(stop(&env, PROMISE).is_some());
        env.write("test_a.py", tests);
        assert_eq!(stop(&env, PROMISE), None);
        assert_eq!(status(&env), "PROMISE_ACCEPTED");
    }
}

//! Checks that are compared where no judge decides: with copies that were made before the first turn.

use serde_json::{Value, json};

use super::{CART, FORGET, LESS, SKIP, TESTS, cheat, found, turns};
use crate::env::{Env, done, shell, write};

/// A project without a repository, or one that wants no judge.
fn projects(turns: &Value) -> [Env; 2] {
    let never = json!({"verify": {"checkout": "never"}});
    let with_git = Env::new().with_git().commits().settings(never);
    [Env::new(), with_git].map(|env| {
        let env = env.guardrails(&["python3 -B -m unittest -q"]).turns(turns.clone());
        env.write("cart.py", CART);
        env.write("test_cart.py", TESTS);
        env
    })
}

#[test]
fn weakened_tests_are_asked_about_once_and_then_a_person_decides() {
    for how in [FORGET, SKIP, LESS] {
        for env in projects(&json!([[cheat(how), done()], [done()]])) {
            env.run(&[]).exits(7).prints("test_cart.py");
            assert_eq!(found(&env), ["checks_changed"], "{how}");
            assert_eq!(turns(&env), 2, "{how}");
            assert_eq!(env.events("base_taken")[0]["copies"], 1);
            assert!(env.whole_prompts()[1].contains("<reason>"));
            assert!(env.events("old_check_started").is_empty());
        }
    }
}

#[test]
fn what_cannot_be_run_as_it_was_is_a_note() {
    let changed = "sed -i 's/total(\\[5\\]), 5/total([5]), 0/; s/2\\]), 3/2]), 0/' test_cart.py";
    for env in projects(&json!([[cheat(changed), done()]])) {
        env.run(&[]).exits(0).prints("no guardrail can be run with the old ones");
        assert!(found(&env).is_empty());
    }
}

#[test]
fn honest_work_is_no_finding() {
    let more = TESTS.replace("test_empty", "test_nothing") + "\n    def test_more(self):\n        pass\n";
    for turn in [write("cart.py", &format!("{CART}\nX = 1\n")), write("test_cart.py", &more)] {
        for env in projects(&json!([[turn.clone(), done()]])) {
            env.run(&[]).exits(0);
            assert!(found(&env).is_empty());
            assert_eq!(turns(&env), 1);
        }
    }
}

#[test]
fn files_are_put_back_and_what_is_new_is_removed() {
    for env in projects(&json!([[cheat(FORGET), done()], [write("cart.py", CART), done()]])) {
        let never = json!({"verify": {"checkout": "never", "onFinding": "restore"}});
        let env = env.settings(never);
        env.run(&[]).exits(0).says("restored to the start of the run: test_cart.py");
        assert_eq!(env.read("test_cart.py"), TESTS);
    }
}

#[test]
fn nothing_is_pushed_before_a_person_has_decided() {
    let env = projects(&json!([[cheat(FORGET), done()], [done()]])).into_iter().nth(1).expect("one with git");
    let env = env.settings(json!({
        "verify": {"checkout": "never"},
        "scm": {"command": "git", "tasks": ["commit", "push origin HEAD"]}
    }));
    env.git(&["init", "--quiet", "--bare", "../remote.git"]);
    env.git(&["remote", "add", "origin", "../remote.git"]);
    env.commit_all();
    env.run(&[]).exits(7);
    let pushed = || env.sh("git -C ../remote.git rev-list --all --count").stdout.trim().to_owned();
    assert_eq!(pushed(), "0");
    env.ralph(&["accept"]).exits(0);
    assert_ne!(pushed(), "0");
}

#[test]
fn copies_that_are_gone_judge_nothing() {
    let env = projects(&json!([[
        shell(
            "rm -f \"$RALPH_STATE_DIR\"/*/runs/*/checks.json ../state/*/runs/*/checks.json; find .. -name checks.json -delete"
        ),
        done()
    ]]));
    for env in env {
        env.run(&[]).exits(6).prints("the checks cannot be compared");
    }
}

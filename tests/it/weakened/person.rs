//! Checks that a person changes between two processes of a run are not held against the agent; the agent's own changes are.

use serde_json::{Value, json};

use super::{CART, TESTS, cheat, unittest};
use crate::env::{Env, done, meet, say, shell, write};

const SKIPPED: &str = "    @unittest.skip('later')\n    def test_empty";

/// A person removes a test with two assertions.
fn forget(env: &Env) {
    let (before, rest) = env.read("test_cart.py").split_once("    def test_sum").map(own).expect("the test");
    let (_, after) = rest.split_once("5)\n\n").map(own).expect("its end");
    env.write("test_cart.py", &format!("{before}{after}"));
}

fn own((one, two): (&str, &str)) -> (String, String) {
    (one.to_owned(), two.to_owned())
}

fn all_found(env: &Env) -> Vec<Value> {
    env.status()["findings"].as_array().cloned().unwrap_or_default()
}

/// The same project wherever claims are decided: in a judge, and twice in place.
fn everywhere(turns: &Value) -> [Env; 3] {
    let in_place = |env: Env| {
        let env = env.guardrails(&["python3 -B -m unittest -q"]).turns(turns.clone());
        env.write("cart.py", CART);
        env.write("test_cart.py", TESTS);
        env
    };
    let never = json!({"verify": {"checkout": "never"}});
    [unittest(turns.clone()), in_place(Env::new()), in_place(Env::new().with_git().commits().settings(never))]
}

#[test]
fn what_a_person_removes_or_skips_is_not_the_agents_doing() {
    let turns = json!([[write("a.txt", "1"), say("Hm.")], [write("a.txt", "2"), done()]]);
    for env in everywhere(&turns) {
        env.run(&["-m", "1"]).exits(1);
        forget(&env);
        env.ralph(&["resume", "-m", "3"]).exits(0).says("You changed test_cart.py");
        assert_eq!(all_found(&env), [Value::Null; 0]);
    }
    for env in everywhere(&turns) {
        env.run(&["-m", "1"]).exits(1);
        env.write("test_cart.py", &TESTS.replace("    def test_empty", SKIPPED));
        env.ralph(&["resume", "-m", "3"]).exits(0);
        assert_eq!(all_found(&env), [Value::Null; 0]);
    }
}

#[test]
fn a_person_may_commit_it_and_may_reject_after_it() {
    let env = unittest(json!([
        [shell("sed -i '/def test_empty/,$d' test_cart.py"), done()],
        [done()],
        [write("a.txt", "1"), done()],
    ]));
    env.run(&[]).exits(7);
    // The person puts back what the agent removed, and removes the other test.
    env.write("test_cart.py", TESTS);
    forget(&env);
    env.commit_all();
    env.ralph(&["reject", "test_empty must stay"]).exits(0).says("You changed test_cart.py");
    assert_eq!(all_found(&env), [Value::Null; 0]);
}

#[test]
fn what_the_agent_did_to_the_same_file_still_counts() {
    // The agent skips one test and does not claim; the person removes the other.
    let skip = format!(
        "python3 - <<'END'\nt = open('test_cart.py').read()\nopen('test_cart.py', 'w').write(t.replace('    def test_empty', {SKIPPED:?}))\nEND"
    );
    let env = unittest(json!([[shell(&skip), say("Hm.")], [write("a.txt", "2"), done()], [done()]]));
    env.run(&["-m", "1"]).exits(1);
    forget(&env);
    env.ralph(&["resume", "-m", "4"]).exits(7);
    // Of the two tests the person removed one; the other does not run because of the agent.
    assert_eq!(env.events("base_moved")[0]["tests"][0]["tests"]["counts"]["unittest"]["passed"], 1);
    let found = json!(all_found(&env)).to_string();
    assert!(found.contains("none_ran") && found.contains("\"before\":1"), "{found}");
}

#[test]
fn tests_are_counted_anew_and_compared_with_that() {
    // Only the count can see that nothing is left of the other test file.
    let env = unittest(json!([
        [write("a.txt", "1"), say("Hm.")],
        [
            shell(
                "printf 'def load_tests(loader, tests, pattern):\\n    import unittest\\n    return unittest.TestSuite()\\n' >> test_more.py"
            ),
            done()
        ],
        [done()],
    ]));
    let more = TESTS.replace("class Cart", "class More");
    env.write("test_more.py", &more);
    env.commit_all();
    env.run(&["-m", "1"]).exits(1);
    forget(&env);
    env.ralph(&["resume", "-m", "3"]).exits(7);
    let moved = &env.events("base_moved")[0];
    assert_eq!(moved["files"], json!(["test_cart.py"]));
    assert_eq!(moved["tests"][0]["tests"]["counts"]["unittest"]["passed"], 3, "{moved}");
    let found = json!(all_found(&env)).to_string();
    assert!(found.contains("fewer_tests") && found.contains("\"before\":3"), "{found}");
}

#[test]
fn after_a_kill_no_one_knows_whose_change_it_is() {
    let [one, two] = meet("began");
    let env = unittest(json!([[one, two, say("Hm.")], [write("a.txt", "2"), done()], [done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    env.write("began.go", "");
    forget(&env);
    env.ralph(&["resume"]).exits(7).says_not("You changed test_cart.py");
    assert!(env.events("base_moved").is_empty());
}

#[test]
fn an_interrupt_leaves_a_picture_too() {
    let [one, two] = meet("began");
    let env = unittest(json!([[one, two, say("Hm.")], [write("a.txt", "2"), done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.signal(rustix::process::Signal::INT);
    ralph.await_saying("shutting down");
    env.write("began.go", "");
    ralph.wait().exits(130);
    forget(&env);
    env.ralph(&["resume"]).exits(0).says("You changed test_cart.py");
}

#[test]
fn a_resume_without_a_change_keeps_what_the_run_began_with() {
    let env = unittest(json!([[cheat(super::FORGET), say("Hm.")], [done()], [done()]]));
    env.run(&["-m", "1"]).exits(1);
    env.ralph(&["resume", "-m", "4"]).exits(7);
    assert!(env.events("base_moved").is_empty());
}

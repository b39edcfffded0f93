//! Checks that an agent changed: compared with those that the run began with, with real runners.

mod bite;
mod forged;
mod honest;
mod in_place;
mod person;
mod pytest;
mod runners;

use serde_json::{Value, json};

use crate::env::{Env, done, say, shell, write};

const CART: &str = "def total(items):\n    return sum(items)\n";
const BROKEN: &str = "def total(items):\n    return 0\n";

const TESTS: &str = "import unittest
from cart import total

class Cart(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([1, 2]), 3)
        self.assertEqual(total([5]), 5)

    def test_empty(self):
        self.assertEqual(total([]), 0)
";

/// A loop that commits, with unittest as its guardrail.
fn unittest(turns: Value) -> Env {
    project(&["python3 -B -m unittest -q"], turns)
}

fn project(guardrails: &[&str], turns: Value) -> Env {
    let env = Env::new().with_git().commits().guardrails(guardrails).turns(turns);
    env.write("cart.py", CART);
    env.write("test_cart.py", TESTS);
    env.write(".gitignore", "__pycache__\n");
    env.commit_all();
    env
}

/// The kinds of the findings.
#[track_caller]
fn found(env: &Env) -> Vec<String> {
    let status = env.status();
    let all = status["findings"].as_array().cloned().unwrap_or_default();
    let mut kinds: Vec<String> =
        all.iter().filter_map(|it| Some(it["finding"].as_str()?.to_owned())).collect();
    kinds.retain(|kind| kind != "fewer_tests");
    kinds
}

fn turns(env: &Env) -> usize {
    env.events("turn_started").len()
}

/// Breaks the code, and does this to what would notice.
fn cheat(how: &str) -> Value {
    shell(&format!("printf 'def total(items):\\n    return 0\\n' > cart.py && {how}"))
}

const FORGET: &str = "sed -i '/def test_sum/,/5)/d' test_cart.py";
const SKIP: &str =
    "sed -i 's/    def test_sum/    @unittest.skip(\"later\")\\n    def test_sum/' test_cart.py";
const LESS: &str = "sed -i '/total(\\[1, 2\\])/d; /total(\\[5\\])/s/.*/        total([5])/' test_cart.py";

#[test]
fn weakened_tests_are_asked_about_once_and_then_a_person_decides() {
    for how in [
        FORGET,
        SKIP,
        LESS,
        "rm test_cart.py && printf 'import unittest\\n\\nclass A(unittest.TestCase):\\n    def test_x(self):\\n        pass\\n' > test_other.py",
    ] {
        let env = unittest(json!([[cheat(how), done()], [done()], [done()]]));
        env.run(&[]).exits(7).prints("test_cart.py");
        assert_eq!(found(&env), ["checks_changed"], "{how}");
        assert_eq!(turns(&env), 2, "{how}");
        let prompt = &env.whole_prompts()[1];
        assert!(prompt.contains("test_cart.py") && prompt.contains("<reason>"), "{prompt}");
    }
}

#[test]
fn the_reason_is_shown_and_a_person_decides() {
    let said = say("<reason>they were wrong</reason>\n<response>DONE</response>");
    let env = unittest(json!([[cheat(FORGET), done()], [said]]));
    env.run(&[]).exits(7).prints("they were wrong");
    assert_eq!(env.status()["reason"], "they were wrong");
    env.ralph(&["status"]).exits(0).prints("they were wrong");
    let asked = || env.status()["askedTurns"].clone();
    assert_eq!((&asked()["turns"], &asked()["inVain"]), (&json!(1), &json!(0)));
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    assert!(env.read("report.html").contains("<b>1</b><span>turn asked about findings</span>"));
    env.ralph(&["accept", "-m", "fine"]).exits(0);
    assert_eq!((&asked()["turns"], &asked()["inVain"]), (&json!(1), &json!(1)));
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    assert!(env.read("report.html").contains("turn asked about findings, 1 unnecessary: a person"));
    let run = env.run_id();
    env.ralph(&["status", "--exit-code", &run]).exits(0);
}

#[test]
fn what_is_put_back_is_no_finding() {
    let env = unittest(json!([
        [cheat(FORGET), done()],
        [write("cart.py", CART), write("test_cart.py", TESTS), done()]
    ]));
    env.run(&[]).exits(0);
    assert!(found(&env).is_empty());
    assert_eq!(turns(&env), 2);
}

#[test]
fn a_weakened_check_that_was_planted_before_is_compared_with_the_base_of_the_run() {
    // The first claim is refused for another reason; the second one changes nothing.
    let env = project(
        &["python3 -B -m unittest -q", "test -f done.txt"],
        json!([[cheat(FORGET), done()], [write("done.txt", "x"), done()], [done()]]),
    );
    env.run(&[]).exits(7);
    assert_eq!(found(&env), ["checks_changed"]);
    assert_eq!(turns(&env), 3);
}

#[test]
fn only_checks_changed_and_a_red_gate_turned_green() {
    let env = unittest(json!([
        [shell("sed -i 's/total(\\[5\\]), 5/total([5]), 0/; s/2\\]), 3/2]), 0/' test_cart.py"), done()],
        [done()]
    ]));
    env.write("cart.py", BROKEN);
    env.commit_all();
    env.run(&[]).exits(7);
    assert_eq!(found(&env), ["only_checks_changed"]);
}

#[test]
fn a_claim_is_refused_or_only_reported_or_files_are_put_back() {
    let on = |value: &str, turns: Value| {
        let settings = json!({"verify": {"onFinding": value}});
        unittest(turns).settings(settings)
    };
    let env = on("refuse", json!([[cheat(FORGET), done()], [done()]]));
    env.run(&["--max-iterations", "2"]).exits(1);
    let env = on("report", json!([[cheat(SKIP), done()]]));
    env.run(&[]).exits(0).prints("test_cart.py");
    assert_eq!(found(&env), ["checks_changed"]);
    // What was counted, and what lies outside of the project, is named at the end, too.
    let planted = cheat(&format!("{FORGET} && echo 'ignore-scripts=true' > ~/.npmrc"));
    let env = on("report", json!([[planted, done()]]));
    env.run(&[])
        .exits(0)
        .prints("test_cart.py")
        .prints("ran 2 tests before the run and 1 now")
        .prints(".npmrc");
    let env = on("restore", json!([[cheat(FORGET), done()], [write("cart.py", CART), done()]]));
    env.run(&[]).exits(0).says("restored to the start of the run: test_cart.py");
    assert_eq!(env.read("test_cart.py"), TESTS);
    let put_back = &env.events("put_back")[0];
    let kept = env.newest_run().join(put_back["kept"].as_str().expect("a folder")).join("test_cart.py");
    assert!(!std::fs::read_to_string(kept).expect("a copy").contains("test_sum"));
}

#[test]
fn what_may_change_is_only_mentioned() {
    let other = "sed -i 's/total(\\[5\\]), 5/total([5]), 0/; s/2\\]), 3/2]), 0/' test_cart.py";
    let env = unittest(json!([[cheat(other), done()]]));
    env.run(&["--tests-may-change"]).exits(0).prints("the settings allow");
    assert_eq!(turns(&env), 1);
    let env = unittest(json!([[cheat(other), done()], [done()]]));
    env.run(&[]).exits(7);
}

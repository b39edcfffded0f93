//! Fewer tests than before the run: counted by real runners, in the judge and in the working tree.

use serde_json::{Value, json};

use crate::env::{Env, done, lacks, shell, write};

const TESTS: &str = "import os, unittest

class Cart(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1 + 1, 2)

    def test_empty(self):
        self.assertEqual(sum([]), 0)

    @unittest.skipIf(os.environ.get('NO_NETWORK'), 'no network')
    def test_price(self):
        self.assertEqual(2 * 3, 6)
";

/// The same files with one test more.
const MORE: &str = "import unittest

class More(unittest.TestCase):
    def test_more(self):
        self.assertEqual(1, 1)
";

/// A loop that commits, with unittest as its guardrail; an agent that claims does it twice.
fn unittest(turn: Value) -> Env {
    let env = Env::new()
        .with_git()
        .commits()
        .guardrails(&["python3 -m unittest -v"])
        .turns(json!([[turn, done()], [done()]]));
    env.write("test_cart.py", TESTS);
    env.write(".gitignore", "__pycache__\n");
    env.commit_all();
    env
}

/// The loss that was found.
#[track_caller]
fn lost(env: &Env) -> Value {
    let found = &env.status()["findings"];
    let fewer: Vec<&Value> = found
        .as_array()
        .into_iter()
        .flatten()
        .filter(|finding| finding["finding"] == "fewer_tests")
        .collect();
    assert_eq!(fewer.len(), 1, "{found}");
    fewer[0].clone()
}

#[test]
fn tests_are_counted_and_shown() {
    let env = unittest(write("test_more.py", MORE));
    env.run(&[]).exits(0).prints("4 tests, 1 more than before");
    let base = &env.events("baseline_ended")[0]["tests"]["counts"]["unittest"];
    assert_eq!(*base, json!({"passed": 3, "failed": 0, "skipped": 0}));
    let judged = env.events("judge_gate_ended");
    assert_eq!(judged.last().expect("one")["tests"]["counts"]["unittest"]["passed"], 4);
    env.ralph(&["status"]).exits(0).prints("4 tests, 1 more than before");
    let gate = env.status()["gates"][0].clone();
    assert_eq!((&gate["tests"]["passed"], &gate["testsBefore"]["passed"]), (&json!(4), &json!(3)));
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    assert!(env.read("report.html").contains("<b>4</b><span>tests, 1 more than before"));
}

#[test]
fn tests_that_do_not_run_any_more_need_a_person() {
    // Nothing in the test files changes: what loads them does.
    let hide =
        "def load_tests(loader, tests, pattern):\n    import unittest\n    return unittest.TestSuite()\n";
    let env = unittest(shell(&format!("cat >> test_cart.py <<'END'\n{hide}END")));
    // Python 3.12 fails where no test runs; then the claim is refuted anyway.
    if env.sh("python3 -c 'import sys; sys.exit(sys.version_info >= (3, 12))'").code == Some(0) {
        env.run(&[]).exits(7).prints("ran 3 tests before the run and none now");
        assert_eq!(lost(&env)["loss"], "none_ran");
    }
    let env = unittest(shell("sed -i '/def test_empty/,/^$/d' test_cart.py"));
    env.run(&[]).exits(7).prints("`python3 -m unittest -v` ran 3 tests before the run and 2 now");
    let env = unittest(shell("sed -i \"s/os.environ.get('NO_NETWORK')/True/\" test_cart.py"));
    env.run(&[]).exits(7);
    assert_eq!(lost(&env)["loss"], "fewer");
}

#[test]
fn a_summary_that_vanishes_needs_a_person() {
    let env = unittest(shell(
        "printf 'import sys; sys.stdout = sys.stderr = open(\"/dev/null\", \"w\")\\n' | cat - test_cart.py > new && mv new test_cart.py",
    ));
    env.run(&[]).exits(7).prints("ran 3 tests before the run and names no number now");
}

#[test]
fn tests_that_others_stand_in_for_are_missed_if_the_files_still_have_them() {
    let hidden = "import unittest\n\ndef load_tests(loader, tests, pattern):\n    every = [test for suite in tests for test in suite]\n    kept = [test for test in every if 'test_sum' not in test.id()]\n    return unittest.TestSuite(kept)\n";
    let env = unittest(shell(&format!(
        "cat >> test_cart.py <<'END'\n\n{hidden}END\ncat > test_more.py <<'END'\n{MORE}END"
    )));
    env.run(&[]).exits(7).prints("no longer runs tests that are still in the files: test_sum");
    // One that was renamed is not missed by the counts.
    let env = unittest(shell("sed -i 's/test_sum/test_that_it_sums/' test_cart.py"));
    env.run(&[]);
    assert_eq!(
        env.status()["findings"].to_string().matches("fewer_tests").count(),
        0,
        "{}",
        env.status()["findings"]
    );
}

#[test]
fn the_working_tree_is_counted_where_it_decides() {
    let env = unittest(shell("sed -i '/def test_empty/,/^$/d' test_cart.py"))
        .settings(json!({"verify": {"checkout": "never"}}));
    env.run(&[]).exits(7).prints("ran 3 tests before the run and 2 now");
    // No number is known of the time before; the files are.
    let env = unittest(shell("sed -i '/def test_empty/,/^$/d' test_cart.py"))
        .settings(json!({"verify": {"checkout": "never"}}));
    env.run(&["--no-baseline"]).exits(7).prints("2 tests\n");
    let found = env.status()["findings"].to_string();
    assert!(found.contains("checks_changed") && !found.contains("fewer_tests"), "{found}");
}

#[test]
fn a_baseline_that_differs_between_two_takes_gives_no_number() {
    let env = unittest(shell("sed -i '/def test_empty/,/^$/d' test_cart.py"));
    env.write(
        "test_some.py",
        "import os, unittest\n\nclass Some(unittest.TestCase):\n    def test_one(self):\n        pass\n\n\
         if os.environ.get('RALPH_JUDGE'):\n    class More(Some):\n        pass\n",
    );
    env.commit_all();
    env.run(&[]);
    let found = env.status()["findings"].to_string();
    assert!(!found.contains("fewer_tests"), "{found}");
}

#[test]
fn a_person_may_choose_fewer_tests() {
    let env = unittest(shell("echo x > x")).guardrails(&["python3 -m unittest -v", "test -e never"]);
    env.run(&["--max-iterations", "1"]).exits(1);
    assert_eq!(env.events("baseline_ended")[0]["tests"]["counts"]["unittest"]["passed"], 3);
    let env = env.guardrails(&["python3 -m unittest -v test_cart.Cart.test_sum"]);
    env.ralph(&["resume", "--max-iterations", "3"]).exits(0).prints("1 test\n");
    assert_eq!(env.status()["findings"], json!([]));
}

#[test]
fn node_and_cargo_are_counted_too() {
    let node = Env::new().with_git().commits().guardrails(&["node --test"]);
    if node.sh("node --version").code == Some(0) {
        let node = node.turns(json!([
            [write("a.test.js", "require('node:test').test('one', () => {});\n"), done()],
            [done()]
        ]));
        node.write(
            "a.test.js",
            "const { test } = require('node:test');\ntest('one', () => {});\ntest('two', () => {});\n",
        );
        node.commit_all();
        node.run(&[]).exits(7).prints("`node --test` ran 2 tests before the run and 1 now");
    } else {
        lacks("there is no node");
    }
    let cargo = Env::new()
        .with_git()
        .commits()
        .guardrails(&["cargo test --offline"])
        .turns(json!([[shell("sed -i 's/#.test./#[test] #[ignore]/' src/lib.rs"), done()], [done()]]));
    cargo.write("Cargo.toml", "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    cargo.write("src/lib.rs", "#[test]\nfn sums() {\n    assert_eq!(1 + 1, 2);\n}\n");
    cargo.write(".gitignore", "target\nCargo.lock\n");
    cargo.commit_all();
    cargo.run(&[]).exits(7).prints("ran 1 tests before the run and none now");
}

/// A guardrail that writes a report for as many tests as a file has lines.
const REPORTS: &str = "{ echo '<testsuite>'; sed 's/.*/<testcase name=\"&\"\\/>/' cases; echo '</testsuite>'; } > out/report.xml";

fn reporting(guardrail: &str, turn: Value) -> Env {
    let env = Env::new()
        .with_git()
        .commits()
        .settings(json!({"guardrails": [{"command": guardrail, "junit": "out/report.xml"}]}))
        .turns(json!([[turn, done()], [done()]]));
    env.write("cases", "one\ntwo\n");
    env.write("out/.gitignore", "report.xml\n");
    env.commit_all();
    env
}

#[test]
fn a_junit_report_is_read_and_only_a_fresh_one() {
    reporting(REPORTS, shell("echo three >> cases")).run(&[]).exits(0).prints("3 tests, 1 more than before");
    let env = reporting(REPORTS, shell("sed -i 1d cases"));
    env.run(&[]).exits(7).prints("ran 2 tests before the run and 1 now");
    // A report that the agent wrote, or committed, is none of the guardrail's.
    let forged = "<testsuite><testcase name=\"one\"/><testcase name=\"two\"/></testsuite>";
    let env = reporting(
        &format!("test -e skip || {REPORTS}"),
        shell(&format!("touch skip; echo '{forged}' > out/report.xml; git add -f out/report.xml")),
    );
    env.run(&[]).exits(7).prints("names no number now");
}

#[test]
fn a_junit_report_is_not_reached_through_a_link() {
    let env = reporting(REPORTS, shell("rm -r out && ln -s ../elsewhere out"));
    let elsewhere = env.root().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("made");
    std::fs::write(elsewhere.join("report.xml"), "precious").expect("written");
    let env = env.settings(json!({"verify": {"checkout": "never"}, "guardrails": [
        {"command": format!("test -L out || {REPORTS}"), "junit": "out/report.xml"}]}));
    env.run(&[]).exits(7).prints("names no number now");
    assert_eq!(std::fs::read_to_string(elsewhere.join("report.xml")).expect("there"), "precious");
}

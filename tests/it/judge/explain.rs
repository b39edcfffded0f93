//! `ralph judge --explain`: what judges a project, without judging.

use serde_json::json;

use super::{commit, project};

#[test]
fn where_guardrails_lead_and_which_files_are_checks_is_said() {
    let env = project();
    env.write("Makefile", "test: build\n\t./tests/run.sh\n\nbuild:\n\tcc -o shop shop.c\n");
    env.write("tests/run.sh", "#!/bin/sh\npytest -q\n");
    env.write("tests/test_a.py", "def test_a():\n    assert True\n");
    env.write("pytest.ini", "[pytest]\n");
    commit(&env);
    env.write("src/b_test.go", "package b\n");
    env.write("vendor/x/tests/test_x.py", "");
    let words = ["judge", "--explain", "--guardrail", "make test", "--guardrail", "touch ran"];
    let output = env.ralph(&words);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let text = &output.stdout;
    assert!(
        text.contains("make test\n  → Makefile:test → Makefile:build\n  → Makefile:test → tests/run.sh\n"),
        "{text}"
    );
    assert!(text.contains("touch ran\n  leads to no file of the project\n"), "{text}");

    let output = env.ralph(&[&words[..], &["--json"]].concat());
    let explained: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(
        explained["checks"],
        json!({"test": ["src/b_test.go", "tests/run.sh", "tests/test_a.py"], "runner": ["pytest.ini"]})
    );
    assert_eq!(explained["guardrails"][0]["ways"][1], json!(["Makefile:test", "tests/run.sh"]));
    assert!(!env.path("ran").exists(), "nothing is run");
}

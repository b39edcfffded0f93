//! `ralph review`: a second agent judges a range of commits, says so in a form that ralph reads, and changes nothing.

use serde_json::json;

use crate::env::Env;

/// A project with one commit to review, and two agents.
fn reviewed_by(second: &str) -> Env {
    let env = Env::new().with_git().settings(json!({
        "agents": {"main": {"command": "first"}, "second": {"command": "helper"}},
        "roles": {"work": ["main"], "review": ["second"]},
        "retryDelay": "10ms",
    }));
    env.program("first", "cat >/dev/null; echo no");
    env.program("helper", second);
    env.write("kept.txt", "as it was\n");
    env.commit_all();
    env.write("new.txt", "a new line to judge\n");
    env.commit_all();
    env
}

const APPROVES: &str =
    r#"cat >>../prompts; echo 'Fine. <review>{"verdict": "approve", "summary": "does it"}</review>'"#;

#[test]
fn a_reviewer_approves_or_asks_for_changes() {
    let env = reviewed_by(APPROVES);
    env.ralph(&["review", "HEAD~1"]).exits(0).prints("Approved by the reviewer").says("approves: does it");
    let told = std::fs::read_to_string(env.root().join("prompts")).expect("a prompt");
    assert!(told.contains("+a new line to judge") && told.contains("HEAD~1"), "{told}");
    assert_eq!(env.events("turn_started")[0]["agent"], "second");
    assert_eq!(env.events("turn_started")[0]["mode"], "review");
    assert_eq!(env.events("turn_ended")[0]["review"]["verdict"], "approve");
    assert_eq!(env.status()["agents"][0]["name"], "second");

    env.program(
        "helper",
        r#"cat >/dev/null; echo '<review>{"verdict": "request_changes", "summary": "no test",
        "comments": [{"file": "new.txt", "line": 1, "severity": "major", "text": "wrong word"}]}</review>'"#,
    );
    let said = env.ralph(&["review", "HEAD~1..HEAD"]).exits(3);
    let said = said
        .prints("Changes requested: second requests changes (1 comment): no test")
        .says("new.txt:1: major: wrong word")
        .says("commits HEAD~1..HEAD");
    // It is no run that went wrong.
    assert!(!said.stdout.contains("continue with") && !said.stderr.contains("guardrails"), "{said:?}");
    assert_eq!(env.events("turn_ended")[0]["review"]["comments"][0]["line"], 1);
    env.ralph(&["review", "nowhere..HEAD"]).exits(2).says("git knows no commit `nowhere`");
    env.nothing_left();
}

#[test]
fn the_reviewer_is_agent_enough() {
    let env = reviewed_by(APPROVES);
    env.write(".ralph/settings.json", "{}");
    env.ralph(&["review", "HEAD~1"]).exits(2).says("agent.command: missing");
    env.ralph(&["review", "HEAD~1", "--reviewer", "helper"]).exits(0).prints("Approved by the reviewer");
    env.ralph(&[
        "review",
        "HEAD~1",
        "--reviewer",
        "helper",
        "--idle-timeout",
        "1s",
        "--config",
        "nowhere.json",
    ])
    .exits(2)
    .says("nowhere.json");
}

#[test]
fn an_answer_without_a_verdict_is_asked_for_once_more() {
    let env = reviewed_by(
        r#"cat >>../prompts; test -e ../asked && echo '<review>{"verdict": "approve"}</review>'; touch ../asked; echo hm"#,
    );
    env.ralph(&["review", "HEAD~1"]).exits(0);
    assert_eq!(env.events("turn_started").len(), 2);
    let told = std::fs::read_to_string(env.root().join("prompts")).expect("prompts");
    assert_eq!(told.matches("had no verdict that ralph can read").count(), 1);
    env.program("helper", "cat >/dev/null; echo I like it");
    env.ralph(&["review", "HEAD~1"]).exits(4).prints("gave no verdict");
    assert_eq!(env.events("turn_started").len(), 2);
}

#[test]
fn what_a_reviewer_changes_is_put_back() {
    let env = reviewed_by(&format!(
        "echo bad >kept.txt; echo bad >mine.txt; echo bad >added.txt; rm new.txt; git add -A; git commit -qm bad; \
         git checkout -q -b elsewhere; echo more >>mine.txt; {APPROVES}"
    ));
    // The user's own work: one file staged, one changed, one that git does not know.
    env.write("staged.txt", "staged\n");
    env.git(&["add", "staged.txt"]);
    env.write("kept.txt", "my change\n");
    env.write("mine.txt", "my own\n");
    let seen = |env: &Env| {
        let state = [
            env.git(&["status", "--porcelain=v1", "--untracked-files=all"]),
            env.git(&["rev-parse", "HEAD"]),
            env.git(&["symbolic-ref", "HEAD"]),
            env.git(&["diff", "--cached"]),
        ];
        (state, env.read("kept.txt"), env.read("mine.txt"), env.read("new.txt"))
    };
    let before = seen(&env);
    env.ralph(&["review", "HEAD~1"]).exits(0).says("the reviewer changed files, and ralph restored them");
    assert_eq!(seen(&env), before);
    assert!(!env.path("added.txt").exists());
    let undone = env.events("turn_ended")[0]["undone"].to_string();
    assert!(
        ["HEAD", "kept.txt", "mine.txt", "added.txt", "new.txt"].iter().all(|it| undone.contains(it)),
        "{undone}"
    );
    env.nothing_left();
}

#[test]
fn without_a_range_the_last_run_is_reviewed() {
    let env = reviewed_by(APPROVES).commits();
    env.program("first", "cat >/dev/null; echo made >made.txt; echo '<response>DONE</response>'");
    env.run(&[]).exits(0);
    env.ralph(&["review"]).exits(0);
    let told = std::fs::read_to_string(env.root().join("prompts")).expect("a prompt");
    assert!(
        told.contains("what the last run made") && told.contains("+made") && told.contains("Do it."),
        "{told}"
    );
    assert!(!told.contains("+a new line to judge"), "{told}");
}

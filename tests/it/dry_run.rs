//! `--dry-run`: every loop says what it would do, and does none of it.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};

use crate::{
    env::{Env, done},
    stories::{list, story},
};

/// A project in which every loop can begin.
fn world() -> Env {
    let env = Env::new().with_git().turns(json!([[done()]])).guardrails(&["make test"]);
    env.write("specs/sums.md", "It adds numbers.\n");
    env.write("implementation_plan.md", "- [ ] Add numbers\n");
    env.write("ask.md", "Look around, ASK.");
    env.write("ralph/tasks.json", &list(&[story("US-1")]));
    env.write("ralph/prd.md", "# What is wanted\n");
    env.write("ralph/prompt.md", "Work on {{STORY_ID}}.\n");
    env.write("ralph/progress.txt", "# Log\n");
    env.write(".ralph/tasks/t/TASK.md", "Greet, TASK.");
    env.git(&["add", "-A"]);
    env.git(&["commit", "--quiet", "-m", "Start"]);
    env
}

/// Every file below a folder with its contents.
fn files(folder: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files(&entry.path(), into);
        } else {
            into.insert(entry.path().display().to_string(), std::fs::read(entry.path()).unwrap_or_default());
        }
    }
}

fn everything(env: &Env) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    files(env.root(), &mut all);
    // Git refreshes what it knows of the files when it is asked about them; the test keeps what is printed.
    let is_ours = |path: &str| path.contains("/stdout-") || path.contains("/stderr-");
    all.retain(|path, _| !path.ends_with(".git/index") && !is_ours(path));
    all
}

/// Shows the loop in words and as JSON; nothing is different afterwards.
#[track_caller]
fn check(args: &[&str], told: &[&str]) {
    let env = world();
    let before = everything(&env);
    let args = [args, &["--dry-run"]].concat();
    let shown = env.ralph(&args).exits(0);
    let titles = ["Prompt of the first iteration", "Guardrails", "Sandbox", "Budget", "Ends"];
    for part in titles.iter().chain(told) {
        assert!(shown.stdout.contains(part), "no {part:?} of {args:?} in:\n{}", shown.stdout);
    }
    let object = env.ralph(&[&args[..], &["--output", "json"]].concat()).exits(0).stdout;
    let object: Value = serde_json::from_str(&object).expect("one object");
    assert_eq!(object["dryRun"], json!(true));
    assert!(object["plan"]["limits"]["max_iterations"].is_u64(), "{object}");
    assert!(object["prompt"].as_str().is_some_and(|prompt| prompt.contains(told[0])), "{object}");
    let after = everything(&env);
    let changed: Vec<&String> = after.keys().filter(|path| before.get(*path) != after.get(*path)).collect();
    assert!(changed.is_empty() && before.len() == after.len(), "{args:?} changed {changed:?}");
}

#[test]
fn every_loop_shows_what_it_would_do() {
    let gate = "- make test (after every turn)";
    check(
        &["run", "-p", "Do it, RUN.", "--max-cost", "3", "--sandbox"],
        &[
            "Do it, RUN.",
            gate,
            "<response>DONE</response>",
            "at most 10 iterations, $3.00",
            "auto; the guard is on",
        ],
    );
    check(&["plan"], &["specs", "at most 10 iterations"]);
    check(&["build", "3"], &["Add numbers", "at most 3 iterations", "git: commit"]);
    check(&["prompt", "ask.md"], &["Look around, ASK.", gate, "at most 1 iteration", "when the turn ends"]);
    check(
        &["stories"],
        &["Mode: implement", "Work on US-1.", "every story is done", "at most 15 iterations"],
    );
    check(&["task", "run", "--task", "t"], &["Greet, TASK.", "at most 100 iterations", "/DONE"]);
    check(&["task", "run", "--task", "new", "-p", "Greet, NEW."], &["Greet, NEW."]);
    check(&["task", "resume", "t"], &["Greet, TASK."]);
    check(&["job", "--task", "t", "-p", "A part, JOB."], &["A part, JOB.", "at most 1 iteration"]);
    check(
        &["session", "run", "--agent", "claude", "-m", "4", "Talk, SESSION."],
        &["Talk, SESSION.", "at most 4 iterations"],
    );
}

#[test]
fn what_stands_against_it_is_said() {
    let env = world();
    let shown = env.ralph(&["run", "--agent", "no-such-agent", "-p", "x", "--dry-run"]).exits(0);
    shown.prints("Needs attention").prints("no-such-agent");
    env.ralph(&["run", "-f", "no-such-file", "--dry-run"]).exits(2).says("cannot read the prompt file");
    env.ralph(&["prompt", "no-such-file", "--dry-run"]).exits(2).says("cannot read the prompt file");
}

#[test]
fn every_wrong_word_is_met_with_the_right_one() {
    let env = world();
    env.ralph(&["run", "-p", "x", "--no-baseline", "--guardrail", "true"]).exits(0);
    let id = env.run_id();
    let slip = format!("{}x", &id[..id.len() - 1]);
    for (args, meant) in [
        (vec!["statsu"], "'status'"),
        (vec!["stories", "lst"], "'list'"),
        (vec!["task", "rnu"], "'run'"),
        (vec!["run", "--max-iteration", "3"], "'--max-iterations'"),
        (vec!["status", "--al"], "'--all'"),
        (vec!["run", "--color", "allways", "x"], "'always'"),
        (vec!["run", "--sandbox=landlok", "x"], "'landlock'"),
        (vec!["schema", "setings"], "'settings'"),
        (vec!["logs", &slip], &id),
        (vec!["resume", &slip], &id),
        (vec!["report", &slip], &id),
        (vec!["stories", "submit", "US1"], "`US-1`"),
        (vec!["stories", "reopen", "US-2"], "`US-1`"),
        (vec!["task", "resume", "tt"], "`t`"),
        (vec!["bus", "read", "--task", "tt"], "`t`"),
    ] {
        env.ralph(&args).exits(2).says(meant);
    }
    env.write(".ralph/settings.json", r#"{"agent": {"command": "x"}, "guardrials": []}"#);
    env.ralph(&["run", "-p", "x"]).exits(2).says("did you mean \"guardrails\"?");
}

#[test]
fn it_says_where_claims_are_decided_and_what_may_change() {
    let env = world().settings(json!({
        "verify": {"checkout": "require", "protect": ["auto", "contracts/**"], "mayChange": ["golden/**"], "onFinding": "refuse", "bite": "on"}
    }));
    env.run(&["--dry-run", "--tests-may-change"])
        .exits(0)
        .prints("decided in a clean clone, never in the working tree")
        .prints("checks: auto, contracts/**")
        .prints("the claim does not count")
        .prints("new tests are run on the old code")
        .prints("may change: golden/**")
        .prints("tests, fixtures and snapshots may change");
    world()
        .run(&["--dry-run"])
        .exits(0)
        .prints("decided in a clean clone\n")
        .prints("the agent is asked once");
}

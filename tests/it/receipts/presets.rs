//! A run leaves a receipt in every kind of loop and however it ends, and the report says so.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use super::statement_of;
use crate::{
    env::{Env, done, say, shell},
    faults::presets::{BUILD, JOB, PLAN, PROMPT, Preset, REVIEW, RUN, SESSION, STORIES, TASK},
};

/// Every kind of loop, and whether there are commits of it.
const LOOPS: [(&str, &Preset, bool); 9] = [
    ("run", &RUN, true),
    ("plan", &PLAN, true),
    ("build", &BUILD, true),
    ("prompt", &PROMPT, true),
    ("review", &REVIEW, false),
    ("task", &TASK, false),
    ("job", &JOB, false),
    ("stories", &STORIES, true),
    ("session", &SESSION, false),
];

#[track_caller]
fn statement(env: &Env) -> Value {
    let text = fs::read_to_string(env.newest_run().join("receipt.json")).expect("a receipt");
    statement_of(&serde_json::from_str(&text).expect("JSON"))
}

#[track_caller]
fn check(env: &Env, preset: &str, outcome: &str) -> Value {
    let said = statement(env);
    assert_eq!(said["_type"], "https://in-toto.io/Statement/v1");
    let run = &said["predicate"]["run"];
    assert_eq!((&run["preset"], &run["outcome"]), (&json!(preset), &json!(outcome)), "{said:#}");
    assert_eq!(run["id"], env.run_id());
    let journal = fs::read(env.newest_run().join("journal.jsonl")).expect("a journal");
    let lines = journal.split(|byte| *byte == b'\n').count() - 1;
    assert_eq!(said["predicate"]["journal"]["lines"], lines, "it is about all of the record");
    said
}

/// What a run must leave that has ended in a repository: a receipt of what is there, noted where there are commits.
#[track_caller]
pub(crate) fn check_noted(env: &Env, preset: &str, outcome: &str) -> Value {
    let said = check(env, preset, outcome);
    let predicate = &said["predicate"];
    let head = env.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(predicate["result"]["commit"], head, "{said:#}");
    let noted = env.git(&["notes", "--ref=ralph", "list"]);
    if predicate["base"]["commit"] == head {
        assert_eq!(noted, "", "there is no commit of the run that a note could be on");
    } else {
        let note = env.git(&["notes", "--ref=ralph", "show", &head]);
        let file = fs::read_to_string(env.newest_run().join("receipt.json")).expect("a receipt");
        assert_eq!(note.trim(), file.trim(), "{noted}");
    }
    said
}

/// The same, with an entry in the report.
#[track_caller]
pub(super) fn check_left(env: &Env, preset: &str, outcome: &str) -> Value {
    let said = check_noted(env, preset, outcome);
    let result = &said["predicate"]["result"];
    let about = if said["subject"][0]["name"] == "commit" {
        format!("commit {}", result["commit"].as_str().expect("a commit"))
    } else {
        format!("tree {}, not committed", result["tree"].as_str().expect("a tree"))
    };
    let report = env.ralph(&["report", &env.run_id(), "--file", "-"]).exits(0).prints("<h2>Receipt</h2>");
    assert!(report.stdout.contains(&about), "{about}");
    said
}

#[test]
fn every_kind_of_loop_has_one() {
    for (name, preset, commits) in LOOPS {
        let env = preset.env();
        let before = env.git(&["rev-parse", "HEAD"]);
        env.ralph(preset.args).exits(preset.code);
        assert_eq!(env.git(&["rev-parse", "HEAD"]) != before, commits, "{name}");
        let said = check_left(&env, name, preset.outcome);
        assert_eq!(said["predicate"]["run"]["exitCode"], preset.code, "{name}");
    }
}

#[test]
fn these_are_all_kinds_of_loops() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/src/engine/presets.rs");
    let source = fs::read_to_string(path).expect("the presets");
    let named = source.split("preset: ").skip(1).map(|rest| {
        let name = rest.split(".to_owned()").next().expect("a name").trim_matches('"');
        if name == "JOB" { "job".to_owned() } else { name.to_owned() }
    });
    let listed = LOOPS.iter().map(|(name, ..)| (*name).to_owned());
    assert_eq!(named.collect::<BTreeSet<_>>(), listed.collect());
}

#[test]
fn every_end_has_one() {
    let env = Env::new().turns(json!([[shell("echo x >>x"), done()]])).guardrails(&["true"]);
    env.run(&[]).exits(0);
    let said = check(&env, "run", "done");
    assert_eq!(said["subject"][0]["name"], "record", "there is no repository");
    let journal = env.newest_run().join("receipt.json").display().to_string();
    env.ralph(&["verify", &journal]).exits(2).prints("the record of a run without a repository");
    env.ralph(&["report", "--file", "-"]).exits(0).prints("<h2>Receipt</h2>").prints("not signed");

    let env = Env::new().with_git().turns(json!([[say("Hm.")]])).guardrails(&["false"]);
    env.write("task.md", "x\n");
    env.ralph(&["prompt", "task.md"]).exits(3);
    check(&env, "prompt", "gave_up");

    let env = Env::new().with_git().turns(json!([[say("Hm.")], [say("Hm.")]])).guardrails(&["true"]);
    env.run(&["-m", "2"]).exits(1);
    let said = check(&env, "run", "exhausted");
    assert_eq!(said["subject"][0]["name"], "commit");
    // Going on makes another one.
    env.script(json!({"turns": [[say("")], [say("")], [shell("echo y >y"), done()]]}))
        .ralph(&["resume", "-m", "3"])
        .exits(0);
}

#[test]
fn files_that_are_not_committed_are_judged_as_a_tree() {
    let env = Env::new().with_git().turns(json!([[shell("echo y >y"), done()]])).guardrails(&["test -e y"]);
    env.run(&[]).exits(0);
    let said = check(&env, "run", "done");
    assert_eq!(said["subject"].as_array().map(Vec::len), Some(1));
    assert_eq!(said["predicate"]["uncommitted"], 1);
    let file = env.newest_run().join("receipt.json").display().to_string();
    env.ralph(&["verify", &file]).exits(1).prints("has other files");
    // Committed as they are, they are what was judged.
    env.commit_all();
    assert_eq!(env.git(&["rev-parse", "HEAD^{tree}"]).trim(), said["subject"][0]["digest"]["gitTree"]);
    env.ralph(&["verify", &file])
        .exits(2)
        .prints("has the files that were judged")
        .prints("no one has signed it");
}

//! A run leaves a receipt however it ends, and the report says so. That every kind of loop does is checked where each of them is
//! killed and resumed (`faults`).

use std::fs;

use serde_json::{Value, json};

use super::statement_of;
use crate::env::{Env, done, say, shell};

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

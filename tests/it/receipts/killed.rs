//! A run that was killed between its end and its receipt: the next ralph makes it good, by the record alone.

use std::fs;

use serde_json::json;

use super::{key_of, make_key, presets::check_left, project, sign_with, statement_of};
use crate::{
    env::{Env, done, shell},
    faults::killed,
};

/// A run that is killed at its last event.
#[track_caller]
fn killed_at_its_end(env: &Env) {
    let args = ["run", "-p", "Do it."];
    let twin = env.twin();
    twin.ralph(&args).exits(0);
    assert!(twin.newest_run().join("receipt.json").is_file());
    killed(env, &args, &twin.journal().len().to_string());
    assert_eq!(env.events("run_ended").len(), 1);
    assert!(!env.newest_run().join("receipt.json").exists());
}

/// Ralph commits, or leaves its work in the tree.
fn world(is_committing: bool) -> Env {
    let env = Env::new().with_git().guardrails(&["test -e work"]);
    let env = if is_committing { env.commits() } else { env };
    env.turns(json!([[shell("echo x >>work"), done()]]))
}

#[test]
fn a_resume_that_has_nothing_to_do_makes_it() {
    for is_committing in [true, false] {
        let env = world(is_committing);
        killed_at_its_end(&env);
        env.ralph(&["resume"]).exits(2).says("is complete");
        let said = check_left(&env, "run", "done");
        let about = if is_committing { "commit" } else { "tree" };
        assert_eq!(said["subject"][0]["name"], about);
        assert_eq!(said["predicate"]["containment"]["keyReachable"], true, "no one knows it any more");
    }
}

#[test]
fn the_next_run_makes_it_also_of_files_that_are_gone() {
    for is_committing in [true, false] {
        let env = world(is_committing);
        killed_at_its_end(&env);
        let first = env.newest_run();
        let head = env.git(&["rev-parse", "HEAD"]);
        // A person goes on meanwhile.
        env.write("work", "of a person\n");
        env.commit_all();
        env.run(&["-m", "1"]);
        let text = fs::read_to_string(first.join("receipt.json")).expect("a receipt");
        let said = statement_of(&serde_json::from_str(&text).expect("JSON"));
        assert_eq!(said["predicate"]["result"]["commit"], head.trim());
        let index = env.root().join("index").display().to_string();
        let script = "git read-tree \"$1\" && echo x >work && git add work && git write-tree";
        let mut command = env.command("sh");
        command.current_dir(env.project()).env("GIT_INDEX_FILE", &index);
        let output = command.args(["-ec", script, "sh", head.trim()]).output().expect("git");
        let tree = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert_eq!(
            said["predicate"]["result"]["tree"], tree,
            "what the run left, not what a person made of it"
        );
    }
}

#[test]
fn verify_says_what_to_type_and_sign_makes_it() {
    let env = project();
    killed_at_its_end(&env);
    let id = env.run_id();
    env.ralph(&["verify"]).exits(2).prints(&format!("ralph sign {id}"));
    env.ralph(&["sign"]).exits(0).prints("signed the receipt");
    check_left(&env, "run", "done");
    // Without a key there is a receipt nevertheless.
    let env = world(true);
    killed_at_its_end(&env);
    env.ralph(&["sign"]).exits(2).says("git has no SSH signing key");
    check_left(&env, "run", "done");
    make_key(&env, &key_of(&env));
    sign_with(&env, &key_of(&env));
    env.ralph(&["sign"]).exits(0);
}

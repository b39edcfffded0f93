//! A run of very many iterations leaves no more in the project than a shorter one.

use std::fs;

use crate::env::Env;

/// More than are kept.
const ITERATIONS: &str = "104";

/// The files that iterations have left in the project.
fn left(env: &Env) -> Vec<String> {
    let entries = fs::read_dir(env.path(".ralph")).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut left: Vec<String> =
        names.filter(|name| name.starts_with("prompt_") || name.starts_with("guardrail_")).collect();
    left.sort();
    left
}

#[test]
fn the_project_keeps_the_files_of_the_last_iterations() {
    let agent = "cat >/dev/null; echo $RALPH_ITERATION >count; echo Hm.";
    let env = Env::new().agent("idle", agent).guardrails(&["true"]);
    env.write(".ralph/prompt_notes.txt", "mine\n");
    env.run(&["-m", ITERATIONS, "--no-baseline"]).exits(1);
    let left_now = left(&env);
    assert_eq!(left_now.len(), 201, "{left_now:?}");
    assert!(!env.path(".ralph/prompt_004.txt").exists() && env.path(".ralph/prompt_005.txt").exists());
    assert!(!env.path(".ralph/guardrail_004_true.log").exists());
    // The record has all of them.
    assert_eq!(fs::read_dir(env.newest_run().join("turns")).expect("the turns").count(), 104);

    env.ralph(&["clean"]).exits(0).prints_not("of iterations in .ralph");
    let would = env.ralph(&["clean", "--older-than", "0", "--dry-run"]).exits(0);
    would.prints("200 files of iterations in .ralph would be removed");
    env.ralph(&["clean", "--older-than", "0"]).exits(0).prints("200 files of iterations in .ralph removed");
    assert_eq!(left(&env), ["prompt_notes.txt"]);
}

//! What the settings say: preparation, what is kept and carried over, where guardrails run, and the disk.

use std::fs;

use serde_json::{Value, json};

use super::{caveats, commit, folder, judge, printed, project, write};
use crate::env::Env;

#[test]
fn commands_that_prepare() {
    let env = project()
        .settings(json!({"verify": {"prepare": ["mkdir -p made && date +%N > made/it"], "keep": ["made"]}}));
    let first = judge(&env, "cat made/it", 0);
    assert_eq!(first["prepared"][0]["end"], "done", "{first}");
    let made = printed(&first);
    let second = judge(&env, "cat made/it", 0);
    assert_eq!(second["prepared"][0]["end"], "up-to-date", "{second}");
    assert_eq!(printed(&second), made);
    // With other files that say what to install, it is done again.
    env.write("package.json", "{}");
    commit(&env);
    let third = judge(&env, "cat made/it", 0);
    assert_eq!(third["prepared"][0]["end"], "done", "{third}");
    assert_ne!(printed(&third), made);
    let env = env.settings(json!({"verify": {"prepare": []}}));
    assert_eq!(judge(&env, "true", 0)["prepared"], json!([]));
}

#[test]
fn preparation_that_fails_is_shown() {
    let env = project().settings(json!({"verify": {"prepare": ["echo no such thing; exit 9"]}}));
    let found = judge(&env, "cat a", 0);
    assert_eq!(found["prepared"][0]["end"], "failed");
    let log = found["prepared"][0]["log"].as_str().expect("a log");
    assert_eq!(fs::read_to_string(log).expect("a log"), "no such thing\n");
    env.ralph(&["judge", "-g", "true"]).exits(0).prints("Preparing failed: echo no such thing; exit 9");
    // It is tried again the next time.
    assert_eq!(judge(&env, "cat a", 0)["prepared"][0]["end"], "failed");
}

#[test]
fn ignored_files_that_are_carried_over() {
    let env = project().settings(json!({"verify": {"carry": [".env", "data/", "tracked", "untracked"]}}));
    env.write(".gitignore", ".env\ndata\nother\nlocal/*.key\n");
    env.write("tracked", "");
    env.write(".worktreeinclude", "# for every clone\nlocal/*.key\n");
    commit(&env);
    env.write(".env", "x=1\n");
    env.write("data/deep/file", "deep\n");
    env.write("other", "");
    env.write("local/a.key", "key\n");
    env.write("untracked", "not committed, so not judged\n");
    let found =
        judge(&env, "cat .env data/deep/file local/a.key && test ! -e other && test ! -e untracked", 0);
    assert_eq!(printed(&found), "x=1\ndeep\nkey\n");
    assert_eq!(caveats(&found), [""; 0]);
    fs::remove_file(env.path(".env")).expect("a file");
    judge(&env, "test ! -e .env && test -e data/deep/file", 0);
}

#[test]
fn more_that_is_kept() {
    let env = project().settings(json!({"verify": {"keep": ["cache", "**/deep"]}}));
    judge(&env, "mkdir -p cache a.d/deep other && touch cache/x a.d/deep/x other/x", 0);
    judge(&env, "test -e cache/x && test -e a.d/deep/x && test ! -e other", 0);
}

#[test]
fn where_guardrails_run() {
    let guardrails = json!([
        {"command": "echo both >> ../ran"},
        {"command": "echo judge >> ../ran", "where": "judge"},
        {"command": "echo project >> ../ran", "where": "project"},
        {"command": "echo once >> ../ran", "repeat": false},
        {"command": "true || cargo test", "kind": "lint"},
    ]);
    let env = project().settings(json!({"guardrails": guardrails}));
    let output = env.ralph(&["judge", "--json"]).exits(0);
    let ran = fs::read_to_string(env.root().join("ran")).expect("a file");
    assert_eq!(ran, "both\nproject\nboth\njudge\nonce\n");
    let found: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(found["guardrails"][4]["kind"], "lint");
    assert_eq!(found["guardrails"][0]["kind"], "test");
}

#[test]
fn a_judge_that_is_required() {
    let env = Env::new().settings(json!({"verify": {"checkout": "require"}}));
    env.ralph(&["judge", "-g", "true"]).exits(6).says("not judged: the project is not in a git repository");
}

#[test]
fn the_disk_is_shown_limited_and_freed() {
    let env = project();
    env.write("Cargo.toml", "");
    commit(&env);
    let fill = "mkdir -p target && head -c 3000000 /dev/urandom > target/large && sync target/large";
    let found = judge(&env, fill, 0);
    let dir = folder(&found);
    assert!(dir.join("tree/target/large").exists());
    let status = env.ralph(&["status", "--all"]).exits(0);
    assert!(
        status.stdout.contains("1 judge, ") && status.stdout.contains("MiB on the disk"),
        "{}",
        status.stdout
    );

    let limited = env.settings(json!({"judge": {"maxDisk": "2MB"}}));
    judge(&limited, fill, 0);
    assert!(!dir.join("tree/target/large").exists(), "the caches are beyond the limit");
    judge(&limited, "cat a && test ! -e target", 0);

    limited.ralph(&["clean"]).exits(0).prints("0 runs removed");
    assert!(dir.exists());
    limited.ralph(&["clean", "--dry-run", "--older-than", "0"]).exits(0).prints("0 runs and 1 judge (");
    assert!(dir.join("tree/a").exists());
    limited.ralph(&["clean", "--older-than", "0"]).exits(0).prints(") removed");
    assert!(!dir.exists());
    judge(&limited, "cat a", 0);
}

#[test]
fn a_judge_in_use_is_not_removed() {
    let env = project();
    let go = env.root().join("go");
    let wait = format!("touch ../waits; while test ! -e {}; do sleep 0.01; done; cat a", go.display());
    let running = env.start(&["judge", "--judge-only", "-g", &wait]);
    crate::env::poll("the judge", || env.root().join("waits").exists().then_some(()));
    env.ralph(&["clean", "--all", "--older-than", "0"]).exits(0).prints("0 runs removed");
    write(&go, "");
    running.wait().exits(0);
}

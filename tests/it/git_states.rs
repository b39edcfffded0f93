//! What a user has begun in a repository, and repositories that git does not take for one: said before a turn is paid for.

use std::{fs, process::Command};

use serde_json::json;

use crate::env::{Env, RALPH, done, shell};

/// A project with a commit on each of two branches that disagree about a file.
fn divided() -> Env {
    let env = Env::new().with_git().commits().turns(json!([[shell("echo more >more.txt"), done()]]));
    for (branch, text) in [("other", "theirs"), ("main", "ours")] {
        if branch == "other" {
            env.git(&["checkout", "-q", "-b", "other"]);
        }
        fs::write(env.path("shared.txt"), text).expect("written");
        env.git(&["add", "shared.txt"]);
        env.git(&["commit", "-q", "-m", text]);
        if branch == "other" {
            env.git(&["checkout", "-q", "-"]);
        }
    }
    env
}

/// Runs git, which may fail.
fn tries(env: &Env, args: &[&str]) {
    let _ = env.command("git").args(args).env("GIT_EDITOR", "true").output().expect("git");
}

#[test]
fn a_run_that_commits_waits_for_the_user_to_end_what_is_begun() {
    for (begin, what, end, undo) in [
        (&["merge", "other"][..], "a merge is in progress", "git commit", "git merge --abort"),
        (&["rebase", "other"], "a rebase is in progress", "git rebase --continue", "git rebase --abort"),
        (
            &["cherry-pick", "other"],
            "a cherry-pick is in progress",
            "git cherry-pick --continue",
            "git cherry-pick --abort",
        ),
        (&["revert", "HEAD~1"], "a revert is in progress", "git revert --continue", "git revert --abort"),
        (&["bisect", "start"], "a bisect is in progress", "git bisect reset", "git bisect reset"),
    ] {
        let env = divided();
        if begin[0] == "revert" {
            // The one before it wrote the same line.
            fs::write(env.path("shared.txt"), "again").expect("written");
            env.git(&["commit", "-qam", "again"]);
        }
        tries(&env, begin);
        let before = env.git(&["log", "--oneline", "--all"]);
        env.run(&[]).exits(2).says(what).says(&format!("end it first: {end}")).says(undo);
        assert_eq!(env.git(&["log", "--oneline", "--all"]), before, "{begin:?}");
        assert!(env.prompts().is_empty(), "{begin:?}");
        let undo: Vec<&str> = undo.split(' ').skip(1).collect();
        env.git(&undo);
        env.run(&[]).exits(0);
    }
}

#[test]
fn a_run_that_commits_nothing_may_work_in_a_merge() {
    let env = divided().settings(json!({"scm": null}));
    tries(&env, &["merge", "other"]);
    env.run(&[]).exits(0);
}

#[test]
fn variables_that_lead_git_elsewhere_are_refused() {
    let env = divided();
    let other = tempfile::tempdir().expect("a folder");
    env.git(&["init", "-q", other.path().to_str().expect("text")]);
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        let mut ralph: Command = env.command(RALPH);
        ralph.args(["run", "-p", "x"]).env(name, other.path().join(".git"));
        let output = env.start_command(&mut ralph).wait().exits(2);
        output.says(&format!("another repository: {name}")).says(&format!("env -u {name} ralph"));
    }
    assert!(env.prompts().is_empty());
}

#[test]
fn what_git_says_about_a_broken_repository_is_told() {
    for (file, text, said) in
        [("config", "[broken\n", "bad config line"), ("HEAD", "nonsense\n", "not a git repository")]
    {
        let env = divided();
        let path = env.path(".git").join(file);
        let whole = fs::read(&path).expect("a file");
        fs::write(&path, text).expect("written");
        let output = env.run(&[]).exits(2).says("git does not work in").says(said);
        output.says_not("git init");
        assert!(env.prompts().is_empty());
        fs::write(&path, whole).expect("written");
        env.run(&[]).exits(0);
    }
}

#[test]
fn where_nothing_is_committed_a_broken_repository_is_a_warning() {
    let env = Env::new().with_git().turns(json!([[done()]]));
    fs::write(env.path(".git/config"), "[broken\n").expect("written");
    env.run(&[]).exits(0).says("git does not work here").says("bad config line");
}

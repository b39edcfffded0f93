//! What a user has begun in a repository, and repositories that git does not take for one: said before a turn is paid for.

use std::{fs, process::Command};

use serde_json::json;

use super::killed;
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

/// The same with stories to work on and specifications to plan for.
fn with_work(env: Env) -> Env {
    let env = (super::presets::STORIES.prepare)(env);
    env.write("specs/one.md", "# One\n");
    env.commit_all();
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
        (&["am", "../other.patch"], "an `am` is in progress", "git am --continue", "git am --abort"),
    ] {
        let env = divided();
        env.sh("git format-patch -1 --stdout other >../other.patch").exits(0);
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
fn a_resume_waits_for_the_user_too() {
    let unharmed = divided();
    unharmed.run(&[]).exits(0);
    let places = (1..).zip(unharmed.journal()).filter(|(_, event)| {
        ["turn_started", "turn_ended", "commit_started"].iter().any(|kind| event["event"] == *kind)
    });
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    assert_eq!(places.len(), 3);
    for at in places {
        let env = divided();
        killed(&env, &["run", "-p", "Do it."], &at.to_string());
        tries(&env, &["merge", "other"]);
        let before = env.git(&["log", "--oneline", "--all"]);
        env.ralph(&["resume"]).exits(2).says("a merge is in progress").says("git merge --abort");
        assert_eq!(env.git(&["log", "--oneline", "--all"]), before, "{at}");
        assert!(env.path(".git/MERGE_HEAD").exists(), "{at}: the merge was ended");
        env.git(&["merge", "--abort"]);
        env.ralph(&["resume"]).exits(0);
        assert_eq!(env.git(&["show", "HEAD:shared.txt"]), "ours", "{at}");
    }
}

#[test]
fn an_agent_that_commits_by_itself_does_not_end_a_merge_either() {
    let env = with_work(divided());
    tries(&env, &["merge", "other"]);
    env.ralph(&["stories"]).exits(2).says("a merge is in progress");
    assert!(env.prompts().is_empty());
}

#[test]
fn a_run_that_commits_nothing_may_work_in_a_merge() {
    let env = divided().settings(json!({"scm": null}));
    tries(&env, &["merge", "other"]);
    env.run(&[]).exits(0);
}

#[test]
fn variables_that_lead_git_elsewhere_are_refused() {
    let env = with_work(divided());
    let other = tempfile::tempdir().expect("a folder");
    env.git(&["init", "-q", other.path().to_str().expect("text")]);
    killed(&env, &["run", "-p", "x"], "2");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"] {
        let call = |args: &[&str]| {
            let mut ralph: Command = env.command(RALPH);
            env.start_command(ralph.args(args).env(name, other.path().join(".git"))).wait().exits(2)
        };
        for args in [&["run", "-p", "x"][..], &["resume"], &["plan"]] {
            let said = call(args).says(&format!("another repository: {name}"));
            said.says(&format!("env -u {name} ralph"));
        }
        call(&["doctor"]).prints(&format!("another repository: {name}")).prints(&format!("unset {name}"));
    }
    assert!(env.prompts().is_empty());
}

#[test]
fn a_repository_of_another_user_is_told_with_gits_own_remedy() {
    let env = with_work(divided());
    let remedy = format!("git config --global --add safe.directory {}", env.project().display());
    // As git itself tests it: to become another user one must be root.
    let call = |args: &[&str]| {
        let mut ralph: Command = env.command(RALPH);
        env.start_command(ralph.args(args).env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")).wait().exits(2)
    };
    for args in [&["run", "-p", "x"][..], &["stories"]] {
        let output = call(args).says("detected dubious ownership").says(&remedy);
        output.says_not("git init").says_not("not a git repository");
    }
    call(&["doctor"]).prints("detected dubious ownership").prints(&remedy).prints_not("git init");
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
        env.ralph(&["doctor"]).exits(2).prints(said).prints_not("git init");
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
    env.ralph(&["doctor"]).exits(0).prints("git does not work here").prints_not("git init");
}

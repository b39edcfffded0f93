//! Locks that a git left behind which is gone, and work that passed its guardrails when ralph was killed: both are committed
//! without another turn.

use std::{
    fs,
    path::Path,
    time::{Duration, SystemTime},
};

use rustix::process::Signal;
use serde_json::json;

use super::killed;
use crate::{
    contained::works,
    env::{Env, done, kill, poll, say, touch, write},
};

/// A repository whose commits wait in a hook until `.git/go` is there.
fn slow_commit() -> Env {
    let env = Env::new().with_git().commits().script(json!({
        "turns": [[write("new.txt", "new"), done()]],
        "text": [[say("Add a file")]],
    }));
    let hook = env.path(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().expect("a folder")).expect("a folder");
    fs::copy("/bin/true", &hook).expect("an executable");
    fs::write(&hook, "#!/bin/sh\ntest -e .git/go || { touch .git/began; sleep 324; }\n").expect("a hook");
    env
}

#[test]
fn a_lock_that_a_git_of_the_run_left_behind_is_removed() {
    let env = slow_commit();
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file(".git/began");
    // As when the power fails: no one cleans up.
    ralph.signal(Signal::STOP);
    let gits: Vec<i32> =
        env.alive().into_iter().filter(|(_, line)| line.starts_with("git\0")).map(|it| it.0).collect();
    assert!(!gits.is_empty());
    for pid in gits {
        kill(pid, Signal::KILL);
    }
    ralph.kill_9();
    env.nothing_left();
    assert!(env.path(".git/index.lock").exists(), "git cleaned up");
    touch(&env.path(".git/go"));
    env.ralph(&["resume"]).exits(0).says("index.lock was left behind by a git that is gone and is removed");
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
}

#[test]
fn a_lock_that_was_there_before_the_commit_is_left_alone() {
    let env = slow_commit();
    let ralph = env.start(&["run", "-p", "x", "--retries", "0"]);
    env.await_file(".git/began");
    ralph.kill_9();
    env.nothing_left();
    aged(&env.path(".git/index.lock"), announced(&env) - Duration::from_secs(10));
    touch(&env.path(".git/go"));
    env.ralph(&["resume"]).exits(5).says("ralph waits until").says_not("is removed");
    assert!(env.path(".git/index.lock").exists());
    assert_eq!(env.commits_made(), ["first"]);
}

#[test]
fn someone_elses_git_is_waited_for() {
    let env = slow_commit();
    touch(&env.path(".git/go"));
    touch(&env.path(".git/index.lock"));
    let ralph = env.start(&["run", "-p", "x", "--retries", "0"]);
    ralph.await_saying("index.lock is gone");
    fs::remove_file(env.path(".git/index.lock")).expect("a lock");
    ralph.wait().exits(0);
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
}

/// When the commit was announced.
fn announced(env: &Env) -> SystemTime {
    let event = env.events("commit_started").pop().expect("a commit");
    let at: jiff::Timestamp = event["at"].as_str().expect("a time").parse().expect("a time");
    at.into()
}

/// Makes a lock that is this old.
fn aged(path: &Path, since: SystemTime) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::File::create(path).and_then(|lock| lock.set_modified(since)).expect("a lock");
}

/// Every lock that a commit takes.
fn all_locks(env: &Env) -> Vec<std::path::PathBuf> {
    let branch = env.git(&["symbolic-ref", "HEAD"]);
    let names = ["HEAD", "index", "next-index-2", "packed-refs", branch.trim()];
    names.iter().map(|name| env.path(&format!(".git/{name}.lock"))).collect()
}

/// Works in every sandbox: it writes into the project alone.
const WORKER: &str = "case \"$(cat)\" in
    *'commit message'*) echo 'Add a file' ;;
    *) echo turn >>new.txt; echo '<response>DONE</response>' ;;
esac";

/// A run whose commit is checked first.
fn committing() -> Env {
    Env::new().with_git().commits().guardrails(&["test -e new.txt"]).agent("worker", WORKER)
}

/// A run that is killed when it has announced its commit.
fn killed_in_commit(flags: &[&str]) -> Env {
    let args = [&["run", "-p", "x", "--no-baseline", "--retries", "0"], flags].concat();
    let unharmed = committing();
    unharmed.ralph(&args).exits(0);
    let at = unharmed.journal().iter().position(|event| event["event"] == "commit_started");
    let env = committing();
    killed(&env, &args, &(1 + at.expect("a commit")).to_string());
    env
}

/// Has ralph killed while git is at work.
fn kill_in_commit(env: &Env, args: &[&str]) {
    let ralph = env.start(args);
    env.await_file(".git/began");
    ralph.kill_9();
    env.nothing_left();
    fs::remove_file(env.path(".git/began")).expect("a file");
}

#[test]
fn every_lock_of_a_git_that_is_gone_is_removed_at_every_level() {
    for level in ["none", "embedded", "bwrap", "landlock"] {
        if level != "none" && !works(level) {
            continue;
        }
        let env = killed_in_commit(&["--sandbox", level]);
        let locks = all_locks(&env);
        for lock in &locks {
            touch(lock);
        }
        env.ralph(&["resume"]).exits(0).says("is removed");
        assert_eq!(env.commits_made(), ["Add a file", "first"], "{level}");
        assert_eq!(env.read("new.txt"), "turn\n", "{level}: the agent was started again");
        assert!(locks.iter().all(|lock| !lock.exists()), "{level}");
    }
}

#[test]
fn a_lock_that_is_older_than_the_machine_is_up_belongs_to_no_one() {
    let env = Env::new().with_git().commits().script(json!({
        "turns": [[write("new.txt", "new"), done()]],
        "text": [[say("Add a file")]],
    }));
    let locks = all_locks(&env);
    for lock in &locks {
        aged(lock, SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
    }
    env.run(&["--retries", "0"]).exits(0).says("HEAD.lock was left behind");
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
}

#[test]
fn a_lock_that_a_tool_of_the_agent_left_when_ralph_was_killed_is_removed() {
    let [one, two] = crate::env::meet("began");
    let env = Env::new().with_git().commits().script(json!({
        "turns": [[one, two], [write("new.txt", "new"), done()]],
        "text": [[say("Add a file")]],
    }));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    touch(&env.path(".git/HEAD.lock"));
    ralph.kill_9();
    env.nothing_left();
    fs::remove_file(env.path("began")).expect("a file");
    env.ralph(&["resume"]).exits(0).says("HEAD.lock was left behind");
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
}

#[test]
fn a_git_that_is_at_work_keeps_its_locks() {
    let env = killed_in_commit(&[]);
    let lock = env.path(".git/HEAD.lock");
    touch(&lock);
    // A git that waits for its input is one that is alive; it has no idea of the lock.
    let mut git = env.command("git");
    let mut git =
        git.args(["hash-object", "--stdin"]).stdin(std::process::Stdio::piped()).spawn().expect("git");
    let comm = format!("/proc/{}/comm", git.id());
    poll("git", || fs::read_to_string(&comm).is_ok_and(|name| name == "git\n").then_some(()));
    let ralph = env.start(&["resume"]);
    ralph.await_saying("HEAD.lock is gone");
    assert!(lock.exists());
    drop(git.stdin.take());
    git.wait().expect("its end");
    fs::remove_file(&lock).expect("a lock");
    ralph.wait().exits(0).says_not("is removed");
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
}

#[test]
fn killed_again_and_again_in_the_same_commit_the_work_is_committed() {
    let env = slow_commit().guardrails(&["test -e new.txt"]);
    kill_in_commit(&env, &["run", "-p", "x", "--no-baseline"]);
    for _ in 0..3 {
        kill_in_commit(&env, &["resume"]);
    }
    touch(&env.path(".git/go"));
    env.ralph(&["resume"]).exits(0).says_not("the files change all the time");
    assert_eq!(env.prompts().len(), 1, "the agent was started again");
    assert_eq!(env.questions().len(), 1, "the agent was asked again");
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
    assert_eq!(env.events("gate_ended").len(), 5, "the guardrails decide each time");
}

#[test]
fn a_commit_is_on_the_disk_before_git_says_so() {
    let env = Env::new().with_git().commits().script(json!({
        "turns": [[write("new.txt", "new"), done()]],
        "text": [[say("Add a file")]],
    }));
    env.program("hook", "git config core.fsync >fsync.log; git config core.fsyncMethod >>fsync.log");
    env.write(".git/hooks/pre-commit", "#!/bin/sh\nexec hook\n");
    env.sh("chmod +x .git/hooks/pre-commit").exits(0);
    env.run(&[]).exits(0);
    assert_eq!(env.read("fsync.log"), "committed,reference\nbatch\n");
}

//! Ralph is killed in the middle of every change to a judge; the next use trusts nothing that is half done.

use std::fs;

use super::{commit, folder, judge, printed, project};
use crate::env::Env;

/// Where a change to a judge can be cut off.
const POINTS: [&str; 6] = ["begun", "fetched", "checked-out", "brought", "accepting", "merged"];

/// Judges and is killed there.
#[track_caller]
fn killed_at(env: &Env, point: &str, guardrail: &str) {
    let mut command = env.command(crate::env::RALPH);
    command.args(["judge", "--judge-only", "--guardrail", guardrail]);
    command.env("RALPH_TEST_CRASH", format!("workspace:{point}"));
    let output = env.start_command(&mut command).wait();
    assert_eq!(output.signal, Some(9), "{point}: {output:?}");
    crate::env::poll("the guardian", || env.alive().is_empty().then_some(()));
}

const CHECK: &str = "cat a && git status --porcelain && ls -A && test ! -e target/evil && mkdir -p target && echo $(cat a) > target/of";

#[test]
fn a_first_use_that_was_cut_off() {
    for point in POINTS {
        let env = project();
        env.write("Cargo.toml", "");
        commit(&env);
        killed_at(&env, point, CHECK);
        let found = judge(&env, CHECK, 0);
        assert_eq!(printed(&found), "committed\n.git\nCargo.toml\nREADME.md\na\n", "{point}");
    }
}

#[test]
fn a_later_use_that_was_cut_off() {
    for point in POINTS {
        let env = project();
        env.write("Cargo.toml", "");
        commit(&env);
        let dir = folder(&judge(&env, CHECK, 0));
        assert_eq!(fs::read_to_string(dir.join("tree/target/of")).expect("a cache"), "committed\n");
        env.write("a", "second\n");
        env.write("b", "");
        commit(&env);
        killed_at(&env, point, CHECK);
        // Back to the first: everything of the second must go.
        env.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
        let found = judge(&env, CHECK, 0);
        let said = printed(&found);
        // Where it was cut off late, the cache of the first is still there.
        let said = said.replace("?? target/\n", "").replace("target\n", "");
        assert_eq!(said, "committed\n.git\nCargo.toml\nREADME.md\na\n", "{point}");
    }
}

#[test]
fn a_guardrail_that_was_cut_off_costs_no_cache() {
    let env = project();
    env.write("Cargo.toml", "");
    commit(&env);
    judge(&env, "mkdir target && echo 1 > target/cache", 0);
    let running =
        env.start(&["judge", "--judge-only", "-g", "echo evil > target/cache; touch ../started; sleep 600"]);
    crate::env::poll("the guardrail", || env.root().join("started").exists().then_some(()));
    running.signal(rustix::process::Signal::KILL);
    let _ = running.wait();
    crate::env::poll("the end of all", || env.alive().is_empty().then_some(()));
    assert_eq!(printed(&judge(&env, "cat target/cache", 0)), "1\n");
}

#[test]
fn locks_that_git_left_are_not_in_the_way() {
    let env = project();
    let dir = folder(&judge(&env, "cat a", 0));
    for lock in ["index.lock", "packed-refs.lock", "refs/ralph/candidate.lock", "shallow.lock"] {
        super::write(&dir.join("store.git").join(lock), "");
    }
    env.write("a", "second\n");
    commit(&env);
    assert_eq!(printed(&judge(&env, "cat a", 0)), "second\n");
}

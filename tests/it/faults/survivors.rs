//! Ralph is killed together with others: by name, with its guardian, and again at once.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use crate::env::{Env, done, kill, meet, pid_in, poll, shell};

/// The processes of a test with this name, but not those of its agent.
fn named(env: &Env, name: &str) -> Vec<i32> {
    let is_named =
        |pid: &i32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|it| it.trim() == name);
    let alive = env.alive().into_iter().filter(|(_, line)| !line.contains("scripted-agent"));
    alive.map(|(pid, _)| pid).filter(is_named).collect()
}

/// An agent that hears no signal and is at work.
fn deaf() -> Env {
    let [one, two] = meet("began");
    Env::new().turns(json!([["ignore_signals", one, two], [done()]]))
}

#[test]
fn who_ends_all_that_is_called_ralph_ends_the_agent_too() {
    let env = deaf();
    let _ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let ralphs = named(&env, "ralph");
    assert_eq!(ralphs.len(), 1, "{:?}", env.alive());
    kill(ralphs[0], Signal::KILL);
    env.nothing_left();
}

/// Kills ralph and its guardian; the agent goes on.
fn kill_both(env: &Env) {
    env.await_file("began");
    // The guardian has its name a moment after it has begun.
    let guardian = poll("the guardian", || named(env, "loop-guardian").pop());
    kill(guardian, Signal::KILL);
    for ralph in named(env, "ralph") {
        kill(ralph, Signal::KILL);
    }
    poll("the end of both", || {
        (named(env, "ralph").is_empty() && named(env, "loop-guardian").is_empty()).then_some(())
    });
    assert!(!env.alive().is_empty(), "the agent has ended by itself");
}

#[test]
fn a_next_run_ends_the_agent_that_nothing_guards() {
    let env = deaf();
    let _ralph = env.start(&["run", "-p", "x"]);
    kill_both(&env);
    let first = env.run_id();
    let said = format!("ended what was left running of a run that was killed: {first}");
    env.run(&[]).exits(0).says(&said);
    env.nothing_left();
    env.run(&[]).says_not("left running");
}

#[test]
fn a_resume_ends_the_agent_that_nothing_guards_and_keeps_its_tools_where_they_are_kept() {
    let tool = "setsid sh -c 'echo $$ >tool.pid; exec sleep 310' >/dev/null 2>&1 &
        while ! test -s tool.pid; do sleep 0.01; done";
    let [one, two] = meet("began");
    let env = Env::new()
        .turns(json!([["ignore_signals", shell(tool), one, two], [done()]]))
        .settings(json!({"leftovers": "keep"}));
    let _ralph = env.start(&["run", "-p", "x"]);
    kill_both(&env);
    env.ralph(&["resume"]).exits(0);
    let tool = pid_in(&env.path("tool.pid")).expect("a number");
    let alive: Vec<i32> = env.alive().into_iter().map(|(pid, _)| pid).collect();
    assert_eq!(alive, [tool], "{:?}", env.alive());
    kill(tool, Signal::KILL);
    env.nothing_left();
}

#[test]
fn a_resume_at_once_is_not_hit_by_the_guardian_of_the_ralph_before() {
    let [one, two] = meet("began");
    let env = Env::new().with_git().commits().turns(json!([["ignore_signals", one, two], [done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.ralph(&["resume"]).exits(0);
    env.nothing_left();
}

//! Ralph is killed together with others: by name, with its guardian, and again at once.

use std::fs;

use rustix::process::Signal;
use serde_json::json;

use crate::env::{Env, RALPH, done, kill, meet, pid_in, poll, say, shell, touch};

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
    await_both(env);
}

fn await_both(env: &Env) {
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
fn a_resume_ends_the_agent_that_nothing_guards() {
    let env = deaf();
    let _ralph = env.start(&["run", "-p", "x"]);
    kill_both(&env);
    env.ralph(&["resume"]).exits(0);
    env.nothing_left();
}

#[test]
fn a_resume_of_an_older_run_ends_the_agent_of_a_newer_one() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[say("Hm.")], ["ignore_signals", one, two], [done()]]));
    env.run(&["-m", "1"]).exits(1);
    let first = env.run_id();
    let _ralph = env.start(&["run", "-p", "x"]);
    kill_both(&env);
    let second = env.run_id();
    env.ralph(&["resume", &first, "-m", "3"]).exits(0).says(&format!("that was killed: {second}"));
    env.nothing_left();
}

#[test]
fn a_run_of_another_kind_in_between_hides_no_agent() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([["ignore_signals", one, two], [done()], [done()]]));
    let _ralph = env.start(&["run", "-p", "x"]);
    kill_both(&env);
    let first = env.run_id();
    let ended = format!("ended what was left running of a run that was killed: {first}");
    // A task has a folder of its own and leaves the tree to others; the run that comes first ends the agent.
    env.ralph(&["task", "run", "--task", "t", "-p", "x", "--max-restarts", "1"]).says(&ended);
    env.nothing_left();
    env.run(&[]).says_not("left running");
}

#[test]
fn a_run_of_another_project_that_has_the_same_id_is_left_alone() {
    let [one, two] = meet("began");
    let [three, four] = meet("again");
    let env =
        Env::new().turns(json!([["ignore_signals", one, two], ["ignore_signals", three, four], [done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    let [one, two] = meet("began");
    let other = Env::new().turns(json!([["ignore_signals", one, two, say("Hm.")], [done()]]));
    let others = other.start(&["run", "-p", "x"]);
    other.await_file("began");
    let (run, id) = (env.newest_run(), other.run_id());
    fs::rename(&run, run.with_file_name(&id)).expect("the run");
    // Its resume looks for what is left of the run, and then its guardian does.
    let ralph = env.start(&["resume", &id]);
    env.await_file("again");
    ralph.kill_9();
    env.nothing_left();
    touch(&other.path("began.go"));
    others.wait().exits(0);
    assert_eq!(other.events("turn_ended")[0]["end"]["how"], "finished", "its agent was ended");
    other.nothing_left();
}

/// Kills every ralph of a task and every guardian; the agents go on.
fn kill_all(env: &Env) {
    env.await_file("began");
    env.await_file("parent");
    for name in ["loop-guardian", "ralph"] {
        poll("two of them", || (named(env, name).len() == 2).then_some(()));
    }
    // No one has the time to notice that the others are gone.
    for signal in [Signal::STOP, Signal::KILL] {
        for pid in [named(env, "loop-guardian"), named(env, "ralph")].concat() {
            kill(pid, signal);
        }
    }
    await_both(env);
}

#[test]
fn the_agents_of_a_task_and_of_its_children_are_ended_by_who_comes_next() {
    let finish = "echo done >\"$TASK_FOLDER/DONE\"";
    for next in ["task", "resume", "run"] {
        let env = crate::task::env(&format!(
            "test ! -e again || {{ {finish}; echo '<response>DONE</response>'; exit; }}
             trap '' TERM INT HUP
             if [ $RALPH_MODE = job ]; then echo $$ >child.pid; touch began; else
             {RALPH} job -p 'Do a part.' --detach >child.id; echo $$ >parent.pid; touch parent; fi
             while ! test -e again; do sleep 0.01; done; while :; do sleep 0.1; done"
        ));
        let root = env.start(&["task", "run", "--task", "t", "-p", "x"]);
        kill_all(&env);
        drop(root);
        let root = crate::task::records(&env).into_iter().find(|it| it["role"] == "root").expect("a root");
        let agents = ["parent.pid", "child.pid"].map(|name| pid_in(&env.path(name)).expect("a number"));
        let is_alive = |pid: &i32| env.alive().iter().any(|(alive, _)| alive == pid);
        assert!(agents.iter().all(is_alive), "{:?}", env.alive());
        touch(&env.path("again"));
        let root = root["run"].as_str().expect("an id");
        match next {
            "task" => env.ralph(&["task", "run", "--task", "t"]),
            "resume" => env.ralph(&["resume", root]),
            _ => env.run(&[]),
        }
        .exits(0);
        assert!(!agents.iter().any(is_alive), "{next}: {:?}", env.alive());
        env.nothing_left();
    }
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

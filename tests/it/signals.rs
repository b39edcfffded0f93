//! Signals, stops and sudden deaths of ralph itself.

use std::{fs, process::Command, time::Duration};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::env::{Env, RALPH, done, meet, pid_in, poll, say, shell, touch};

/// How long an agent has to clean up.
const GRACE: Duration = Duration::from_secs(5);

/// A turn that says when it has begun and waits for a go.
fn slow_turn(last: Value) -> Value {
    let [one, two] = meet("began");
    json!([one, two, last])
}

/// A command that leaves a child in a session of its own, says so, and takes long.
const BUSY: &str = "setsid sh -c 'echo $$ >session.pid; exec sleep 310' >/dev/null 2>&1 &
    while ! test -s session.pid; do sleep 0.01; done; touch began; exec sleep 311";

#[track_caller]
fn check_first_signal(signal: Signal) {
    let env = Env::new().turns(json!([slow_turn(done())])).guardrails(&["touch checked"]);
    let ralph = env.start(&["run", "-p", "x", "--no-baseline"]);
    env.await_file("began");
    ralph.signal(signal);
    ralph.await_saying("Received signal, shutting down...");
    touch(&env.path("began.go"));
    ralph.wait().exits(130).prints("Interrupted").prints("ralph resume");
    assert_eq!(env.events("turn_ended")[0]["end"]["how"], "finished");
    assert!(!env.path("checked").exists(), "a gate ran after the stop");
    env.nothing_left();

    // What was finished is not done again: only the gates are left.
    env.ralph(&["resume"]).exits(0);
    assert!(env.path("checked").exists());
    assert_eq!(env.prompts().len(), 1);
}

#[test]
fn an_interrupt_lets_the_turn_finish() {
    check_first_signal(Signal::INT);
}

#[test]
fn a_termination_lets_the_turn_finish() {
    check_first_signal(Signal::TERM);
}

#[test]
fn signals_ignored_by_the_parent_are_heard() {
    let env = Env::new().turns(json!([slow_turn(say("Hm."))]));
    let start = format!("trap '' INT TERM; exec '{RALPH}' run -p x");
    let ralph = env.start_command(env.command("sh").args(["-c", &start]));
    env.await_file("began");
    ralph.signal(Signal::TERM);
    ralph.await_saying("Received signal");
    touch(&env.path("began.go"));
    ralph.wait().exits(130);
    env.nothing_left();
}

#[test]
fn a_second_signal_ends_the_turn() {
    let env = Env::new().turns(json!([[shell(BUSY), done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.signal(Signal::INT);
    ralph.await_saying("Received signal");
    ralph.signal(Signal::INT);
    ralph.wait().exits(130).says("The agent was ended.");
    assert_eq!(env.events("turn_ended")[0]["end"]["how"], "interrupted");
    env.nothing_left();
}

#[test]
fn a_third_signal_kills_the_turn() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([["ignore_signals", say("No."), one, two]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.signal(Signal::TERM);
    ralph.await_saying("Received signal");
    ralph.signal(Signal::TERM);
    ralph.signal(Signal::INT);
    let output = ralph.wait().exits(130);
    assert!(output.took < GRACE, "it waited for the agent: {:?}", output.took);
    env.nothing_left();
}

#[test]
fn a_signal_during_a_gate_lets_it_finish() {
    let gate = "touch began; while ! test -e began.go; do sleep 0.01; done";
    let env = Env::new().turns(json!([[done()]])).guardrails(&[gate, "touch second"]);
    let ralph = env.start(&["run", "-p", "x", "--no-baseline"]);
    env.await_file("began");
    ralph.signal(Signal::INT);
    ralph.await_saying("Received signal");
    touch(&env.path("began.go"));
    ralph.wait().exits(130);
    assert_eq!(env.events("gate_ended").len(), 1);
    assert!(!env.path("second").exists());
    // All of them again: someone may have changed the files meanwhile.
    env.ralph(&["resume"]).exits(0);
    assert_eq!((env.events("gate_ended").len(), env.prompts().len()), (3, 1));
}

#[test]
fn a_second_signal_ends_a_gate_which_has_found_nothing() {
    let gate = "test -e began || { touch began; sleep 312; }";
    let env = Env::new().turns(json!([[done()]])).guardrails(&[gate]);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.signal(Signal::INT);
    ralph.await_saying("Received signal");
    ralph.signal(Signal::INT);
    ralph.wait().exits(130);
    assert!(env.events("gate_ended").is_empty());
    env.nothing_left();
    env.ralph(&["resume"]).exits(0);
    assert_eq!((env.events("gate_ended").len(), env.prompts().len()), (1, 1));
}

#[test]
fn a_signal_ends_a_wait_at_once() {
    let env = Env::new().turns(json!([[{"exit": 1}], [done()]])).settings(json!({"retryDelay": "1h"}));
    let ralph = env.start(&["run", "-p", "x"]);
    ralph.await_saying("Trying again in");
    ralph.signal(Signal::INT);
    ralph.wait().exits(130);
    env.nothing_left();
}

#[test]
fn stop_lets_the_turn_finish() {
    let env = Env::new().turns(json!([slow_turn(say("Hm.")), [done()]]));
    env.ralph(&["stop"]).exits(2).says("nothing is running");
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    env.ralph(&["stop"]).exits(0).prints(&format!("asked run {} to end after", env.run_id()));
    // However often it is asked.
    env.ralph(&["stop"]).exits(0);
    env.ralph(&["stop"]).exits(0);
    ralph.await_saying("Received signal");
    touch(&env.path("began.go"));
    ralph.wait().exits(130);
    assert_eq!(env.prompts().len(), 1);
    env.ralph(&["stop", &env.run_id()]).exits(2).says("is not running");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.prompts().len(), 2);
}

#[test]
fn stop_now_ends_the_turn() {
    let env = Env::new().turns(json!([[shell(BUSY), done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    env.ralph(&["stop", "--now"]).exits(0).prints("to end now");
    ralph.wait().exits(130);
    env.nothing_left();
}

#[test]
fn nothing_outlives_a_killed_ralph_in_a_turn() {
    let env = Env::new().turns(json!([[say("Hm.")], [shell(BUSY)], [done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
    env.ralph(&["status"])
        .exits(0)
        .prints("killed")
        .prints("iteration 2 of 10")
        .prints("continue with: ralph resume");

    env.ralph(&["resume"]).exits(0).says("Resumed at iteration 2 of 10").says("cut off");
    let turns: Vec<Value> = env.events("turn_started").iter().map(|turn| turn["iteration"].clone()).collect();
    assert_eq!(turns, [1, 2, 2]);
    assert_eq!(env.events("turn_ended")[1]["end"]["how"], "abandoned");
    env.nothing_left();
}

#[test]
fn nothing_outlives_a_killed_ralph_in_a_gate() {
    let env = Env::new()
        .turns(json!([[done()]]))
        .guardrails(&[&format!("test -e began && exit; {BUSY}"), "touch second"]);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let session = pid_in(&env.path("session.pid")).expect("a number");
    assert!(env.alive().iter().any(|(pid, _)| *pid == session));
    ralph.kill_9();
    env.nothing_left();
    env.ralph(&["status"]).exits(0).prints("killed");
    env.ralph(&["resume"]).exits(0);
    assert_eq!(env.prompts().len(), 1, "the turn was repeated");
    assert!(env.path("second").exists());
}

#[test]
fn a_deaf_agent_does_not_outlive_a_killed_ralph() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([["ignore_signals", one, two]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    env.nothing_left();
}

#[test]
fn a_killed_run_is_not_running_while_it_is_cleaned_up() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([["ignore_signals", one, two]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    // The agent takes no notice of the first signal, so the guardian is still at work.
    assert!(!env.alive().is_empty());
    env.ralph(&["status"]).exits(0).prints("killed");
    env.ralph(&["stop"]).exits(2).says("nothing is running");
    env.ralph(&["stop", &env.run_id()]).exits(2).says("is not running");
    env.nothing_left();
}

#[test]
fn two_loops_do_not_share_a_tree() {
    let env = Env::new().turns(json!([slow_turn(done())]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let (run, pid) = (env.run_id(), ralph.pid());
    env.run(&[]).exits(2).says(&format!("run {run}, process {pid},")).says("git worktree add");
    env.ralph(&["resume"]).exits(2).says(&format!("process {pid}"));
    assert_eq!(env.runs().len(), 1, "the refused loop left a record");
    touch(&env.path("began.go"));
    ralph.wait().exits(0);
}

#[test]
fn another_state_directory_is_no_way_around_the_lock() {
    let env = Env::new().turns(json!([slow_turn(done())]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    let elsewhere = env.root().join("elsewhere");
    let mut second = env.command(RALPH);
    second.args(["run", "-p", "x"]).env("RALPH_STATE_DIR", elsewhere);
    env.start_command(&mut second).wait().exits(2).says("another loop is working in this tree");
    touch(&env.path("began.go"));
    ralph.wait().exits(0);
}

#[test]
fn a_killed_loop_frees_its_tree() {
    let env = Env::new().turns(json!([[shell(BUSY)], [done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.kill_9();
    // At once: the new loop waits until the old one is cleaned up.
    env.run(&[]).exits(0);
    assert_eq!(env.runs().len(), 2);
    env.nothing_left();
}

#[test]
fn a_hang_up_is_ignored_only_when_inherited() {
    let env = Env::new().turns(json!([slow_turn(done())])).guardrails(&["true"]);
    let start = format!("trap '' HUP; exec '{RALPH}' run -p x");
    let ralph = env.start_command(env.command("sh").args(["-c", &start]));
    env.await_file("began");
    ralph.signal(Signal::HUP);
    touch(&env.path("began.go"));
    ralph.wait().exits(0).says_not("Received signal");

    fs::remove_file(env.path("began.go")).expect("a file");
    fs::remove_file(env.path("began")).expect("a file");
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.signal(Signal::HUP);
    ralph.await_saying("Received signal");
    touch(&env.path("began.go"));
    ralph.wait().exits(130);
}

#[test]
fn a_signal_while_the_message_is_asked_for_commits_nothing_half() {
    // Where git does not look: an agent that changes files meanwhile is not asked again.
    let [one, two] = meet(".git/asked");
    let env = Env::new().with_git().commits().script(json!({
        "turns": [[shell("echo new >new.txt"), done()]],
        "text": [[one, two, say("Add a file")]],
    }));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file(".git/asked");
    ralph.signal(Signal::INT);
    ralph.await_saying("Received signal");
    touch(&env.path(".git/asked.go"));
    let output = ralph.wait();
    // The running operation finishes: the commit is whole, and the run may be complete by then.
    assert!(matches!(output.code, Some(0 | 130)), "{output:?}");
    if output.code == Some(130) {
        env.ralph(&["resume"]).exits(0);
    }
    assert_eq!(env.commits_made(), ["Add a file", "first"]);
    poll("the end of the run", || env.events("run_ended").pop());
}

#[test]
fn many_signals_at_once_end_everything() {
    let gate = "trap '' TERM INT; touch began; while :; do sleep 0.1; done";
    let env = Env::new().turns(json!([[done()]])).guardrails(&[gate]);
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    ralph.signal(Signal::INT);
    ralph.await_saying("Received signal");
    // Different ones: the same signal twice at once is one.
    for signal in [Signal::TERM, Signal::HUP, Signal::QUIT] {
        ralph.signal(signal);
    }
    let output = ralph.wait().exits(130);
    assert!(output.took < GRACE, "{:?}", output.took);
    env.nothing_left();
}

#[test]
fn the_process_that_starts_the_tests_may_ignore_signals() {
    let this = std::env::current_exe().expect("this program");
    let tests = "signals::a_hang_up_is_ignored_only_when_inherited signals::a_second_signal_ends_the_turn";
    let start = format!("trap '' HUP INT TERM QUIT; exec '{}' --exact {tests}", this.display());
    let output = Command::new("sh").args(["-c", &start]).output().expect("the tests");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("2 passed"), "{said}");
}

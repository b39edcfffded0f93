//! Sudden death: of the fleet, of the lander, of the run in a lane and of everything, at every place there is.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;

use super::{every_commit_passes, journal, landed, no_refs_left, project, recorded, status};
use crate::{
    env::{Env, RALPH, kill, poll},
    stories::{stories, story},
};

/// Worlds at once. Most of the time of each goes into waiting for processes to be gone.
const WORLDS: usize = 4;

fn world(names: &[&str]) -> Env {
    let work: Vec<String> = names.iter().map(|name| format!("echo {name} >{name}.txt\n")).collect();
    let all: Vec<_> = names.iter().zip(&work).map(|(name, work)| (story(name), work.as_str())).collect();
    project(&all, "sh check.sh")
}

#[track_caller]
fn is_finished(env: &Env, names: &[&str]) {
    let mut landed = landed(env);
    landed.sort();
    let expected: Vec<String> = names.iter().map(|name| format!("{name}: Title of {name}")).collect();
    assert_eq!(landed, expected);
    assert!(stories(env).iter().all(|story| story["passes"] == true));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    every_commit_passes(env, "sh check.sh");
    assert!(no_refs_left(env));
    // Whatever was killed when, every commit that landed has its receipt.
    let notes = env.git(&["notes", "--ref", "refs/notes/ralph", "list"]);
    assert_eq!(notes.lines().count(), names.len(), "{notes}");
    env.nothing_left();
}

/// Does something for every number, several at once.
fn each(numbers: std::ops::Range<usize>, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(numbers.start);
    std::thread::scope(|scope| {
        for _ in 0..WORLDS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if numbers.end <= number {
                        return;
                    }
                    work(number);
                }
            });
        }
    });
}

/// Starts a fleet with a variable that says where something of it dies.
fn start(env: &Env, variable: &str, place: &str) -> crate::env::Running {
    env.start_command(env.command(RALPH).args(["fleet", "--lanes", "2"]).env(variable, place))
}

#[test]
fn a_fleet_that_is_killed_at_any_event_is_resumed_as_if_nothing_had_happened() {
    let names = ["A", "B"];
    let whole = world(&names);
    whole.ralph(&["fleet", "--lanes", "2"]).exits(0);
    let events = journal(&whole).len();
    assert!(10 <= events, "{events}");
    // At every event; in the middle of writing some.
    each(1..events + 4, |number| {
        let place =
            if number < events { number.to_string() } else { format!("{}:torn", 1 + (number - events) * 3) };
        let env = world(&names);
        let output = start(&env, "RALPH_TEST_KILL_FLEET_AT", &place).wait();
        // With another order of events there may be one less.
        if output.code == Some(0) {
            return is_finished(&env, &names);
        }
        assert_eq!(output.signal, Some(9), "{place}: {}", output.stderr);
        // Where nothing was recorded it is begun again.
        let words = if place == "1:torn" { ["fleet", "--quiet"] } else { ["fleet", "resume"] };
        env.ralph(&words).exits(0);
        is_finished(&env, &names);
    });
}

#[test]
fn everything_killed_at_any_event_is_resumed_as_if_nothing_had_happened() {
    let names = ["A", "B"];
    each(1..14, |number| {
        let env = world(&names);
        let fleet = start(&env, "RALPH_TEST_KILL_FLEET_AT", &format!("{number}:held"));
        let stat = format!("/proc/{}/stat", fleet.pid());
        let state = || std::fs::read_to_string(&stat).ok()?.rsplit(") ").next()?.chars().next();
        let is_held = poll("the fleet to come so far, or to end", || match state() {
            Some('T') => Some(true),
            Some('Z') | None => Some(false),
            Some(_) => None,
        });
        if !is_held {
            fleet.wait().exits(0);
            return is_finished(&env, &names);
        }
        // Guardians too: no process is left that could clean up.
        poll("everything to be gone", || {
            let alive = env.alive();
            for (pid, _) in &alive {
                kill(*pid, Signal::KILL);
            }
            alive.iter().all(|(pid, _)| *pid == fleet.pid()).then_some(())
        });
        assert_eq!(fleet.wait().signal, Some(9));
        env.ralph(&["fleet", "resume"]).exits(0);
        is_finished(&env, &names);
    });
}

#[test]
fn a_lander_that_is_killed_at_any_step_lands_what_it_was_at_once() {
    // Merged, judged, made ready, moved, tidied up, answered.
    each(1..7, |step| {
        let env = world(&["A"]);
        let killed = env.root().join("killed");
        let place = format!("{step} {}", killed.display());
        start(&env, "RALPH_TEST_KILL_LANDER_AT", &place).wait().exits(0);
        assert!(killed.exists(), "no process came to step {step}");
        is_finished(&env, &["A"]);
        assert_eq!(recorded(&env, "A"), 1);
    });
}

#[test]
fn a_run_in_a_lane_that_is_killed_at_any_event_is_continued() {
    let whole = world(&["A"]);
    whole.ralph(&["fleet"]).exits(0);
    let events = whole.journal().len();
    assert!(10 <= events, "{events}");
    each(1..events, |event| {
        let env = world(&["A"]);
        let killed = env.root().join("killed");
        start(&env, "RALPH_TEST_KILL_AT", &format!("{event} {}", killed.display())).wait().exits(0);
        assert!(killed.exists(), "no process came to event {event}");
        is_finished(&env, &["A"]);
        assert_eq!(env.runs().len(), 1, "the run was continued, not begun again");
    });
}

#[test]
fn a_run_that_is_killed_between_its_end_and_its_receipt_lands_with_one() {
    let whole = world(&["A"]);
    whole.ralph(&["fleet"]).exits(0);
    let events = whole.journal();
    assert_eq!(events.last().expect("an event")["event"], "run_ended");
    let env = world(&["A"]);
    let killed = env.root().join("killed");
    let place = format!("{} {}", events.len(), killed.display());
    start(&env, "RALPH_TEST_KILL_AT", &place).wait().exits(0).says("died on A; it is continued");
    assert!(killed.exists(), "no process came to the end");
    assert_eq!(env.journal().len(), events.len(), "nothing was recorded after the end");
    // Who lands needs the receipt of the run: the lane made it.
    is_finished(&env, &["A"]);
    assert!(env.runs()[0].join("receipt.json").exists());
    assert_eq!(recorded(&env, "A"), 1);
}

const WAITS: &str =
    "touch \"$FLEET_RECORD.begun\"; until test -e \"$FLEET_RECORD.go\"; do sleep 0.01; done; echo A >A.txt\n";

#[test]
fn a_lane_that_is_killed_is_continued() {
    let env = project(&[(story("A"), WAITS)], "sh check.sh");
    let running = env.start(&["fleet"]);
    let begun = env.root().join("record.begun");
    poll("the agent to begin", || begun.exists().then_some(()));
    let lane = poll("the lane", || {
        env.alive().into_iter().find(|(_, command)| command.contains("fleet-lane")).map(|(pid, _)| pid)
    });
    kill(lane, Signal::KILL);
    std::fs::remove_file(&begun).expect("it is removed");
    poll("the agent to begin again", || begun.exists().then_some(()));
    std::fs::write(env.root().join("record.go"), "").expect("a file");
    running.wait().exits(0).says("died on A; it is continued");
    assert_eq!(env.read("A.txt"), "A\n");
    assert_eq!(recorded(&env, "A"), 2);
    // The run was continued, not begun again.
    let lane = status(&env)["lanes"][0]["folder"].as_str().expect("a lane").to_owned();
    let runs = env.ralph(&["-C", &lane, "status", "--json"]).exits(0).stdout;
    assert_eq!(runs.matches("\"run\":").count(), 1, "{runs}");
    env.nothing_left();
}

#[test]
fn a_fleet_that_is_stopped_goes_on_where_it_was() {
    let env = project(&[(story("A"), WAITS)], "sh check.sh");
    let running = env.start(&["fleet"]);
    let begun = env.root().join("record.begun");
    poll("the agent to begin", || begun.exists().then_some(()));
    env.ralph(&["fleet", "stop", "--now"]).exits(0);
    running.wait().exits(130).says("Interrupted; continue with: ralph fleet resume");
    env.nothing_left();
    env.ralph(&["fleet", "stop"]).exits(2).says("is not running");
    std::fs::write(env.root().join("record.go"), "").expect("a file");
    env.ralph(&["fleet", "resume"]).exits(0);
    assert_eq!(env.read("A.txt"), "A\n");
    env.nothing_left();
}

//! Sudden death: of the fleet at every event of its journal, and of a lane.

use rustix::process::Signal;
use serde_json::Value;

use super::{every_commit_passes, landed, no_refs_left, project, recorded, status};
use crate::{
    env::{Env, kill, poll},
    stories::{stories, story},
};

fn world() -> Env {
    project(&[(story("A"), "echo A >A.txt\n"), (story("B"), "echo B >B.txt\n")], "sh check.sh")
}

fn journal(env: &Env) -> Vec<Value> {
    let known = status(env);
    let lane = known["lanes"][0]["folder"].as_str().expect("a lane").to_owned();
    // <state>/<project>/lanes/lane-1/tree
    let project = std::path::Path::new(&lane).ancestors().nth(3).expect("a folder").to_owned();
    let journal = project.join("fleets").join(known["fleet"].as_str().expect("an id")).join("journal.jsonl");
    let text = std::fs::read_to_string(journal).expect("a journal");
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn is_finished(env: &Env) {
    let mut landed = landed(env);
    landed.sort();
    assert_eq!(landed, ["A: Title of A", "B: Title of B"]);
    assert!(stories(env).iter().all(|story| story["passes"] == true));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
    every_commit_passes(env, "sh check.sh");
    assert!(no_refs_left(env));
    env.nothing_left();
}

#[test]
fn a_fleet_that_is_killed_at_any_event_is_resumed_as_if_nothing_had_happened() {
    let whole = world();
    whole.ralph(&["fleet", "--lanes", "2"]).exits(0);
    let events = journal(&whole).len();
    assert!(10 <= events, "{events}");
    for event in 1..events {
        for place in [event.to_string(), format!("{event}:torn")] {
            let env = world();
            let mut fleet = env.command(crate::env::RALPH);
            fleet.args(["fleet", "--lanes", "2"]).env("RALPH_TEST_KILL_FLEET_AT", &place);
            let output = env.start_command(&mut fleet).wait();
            // With another order of events there may be one less.
            if output.code == Some(0) {
                is_finished(&env);
                continue;
            }
            assert_eq!(output.signal, Some(9), "{place}: {}", output.stderr);
            if place == "1:torn" {
                // Nothing was recorded: it is begun again.
                env.ralph(&["fleet", "--lanes", "2"]).exits(0);
            } else {
                env.ralph(&["fleet", "resume"]).exits(0);
            }
            is_finished(&env);
        }
    }
}

#[test]
fn a_lane_that_is_killed_is_continued() {
    let env = project(
        &[(
            story("A"),
            "touch \"$FLEET_RECORD.begun\"; until test -e \"$FLEET_RECORD.go\"; do sleep 0.01; done; echo A >A.txt\n",
        )],
        "sh check.sh",
    );
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
    let env = project(
        &[(
            story("A"),
            "touch \"$FLEET_RECORD.begun\"; until test -e \"$FLEET_RECORD.go\"; do sleep 0.01; done; echo A >A.txt\n",
        )],
        "sh check.sh",
    );
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

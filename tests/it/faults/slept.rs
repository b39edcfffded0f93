//! A laptop that slept: the clock on the wall goes on meanwhile, the one that waits are measured by stands still.

use std::{fs, path::Path};

use serde_json::json;

use super::{killed, surroundings::await_event};
use crate::{
    env::{Env, RALPH},
    quota::codex,
};

/// A quota that is back in an hour.
fn limited() -> Env {
    codex(Env::new(), "$HOME/.codex", "$(date +%s) + 3600").settings(json!({"limits": {"maxWait": "2h"}}))
}

/// Lets the machine have been asleep for so many seconds; a file that is being written would say otherwise for a moment.
fn sleep_until(file: &Path, seconds: &str) {
    let whole = file.with_extension("whole");
    fs::write(&whole, seconds).expect("a file");
    fs::rename(&whole, file).expect("a file at once");
}

#[test]
fn who_slept_through_a_usage_limit_goes_on_when_the_wall_clock_says_so() {
    let env = limited();
    let slept = env.root().join("slept");
    let mut command = env.command(RALPH);
    let ralph =
        env.start_command(command.args(["run", "-p", "x", "-m", "1"]).env("RALPH_TEST_SLEPT", &slept));
    await_event(&env, "wait_started");
    // It was asleep for half an hour: another half an hour is to be waited.
    sleep_until(&slept, "1800");
    assert_eq!(env.events("wait_ended").len(), 0);
    sleep_until(&slept, "3700");
    ralph.wait().exits(1).prints("Maximum iterations");
    let waited = env.events("wait_ended").pop().expect("the end of the wait");
    // What it says is how long the quota was not there.
    assert!((3_500_000..=3_640_000).contains(&waited["ms"].as_u64().expect("a time")), "{waited}");
    assert_eq!(env.events("turn_ended").len(), 2);
}

#[test]
fn who_was_off_during_a_usage_limit_goes_on_at_once() {
    let unharmed = codex(Env::new(), "$HOME/.codex", "$(date +%s)");
    unharmed.run(&["-m", "1"]).exits(1);
    let at = unharmed.journal().iter().position(|event| event["event"] == "wait_started");
    let env = limited();
    killed(&env, &["run", "-p", "x", "-m", "1"], &(1 + at.expect("a wait")).to_string());
    let slept = env.root().join("slept");
    sleep_until(&slept, "3700");
    let mut command = env.command(RALPH);
    env.start_command(command.arg("resume").env("RALPH_TEST_SLEPT", &slept)).wait().exits(1);
    assert_eq!(env.events("turn_ended").len(), 2);
}

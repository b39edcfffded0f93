//! Agents that cannot speak: no login, a wrong key, a program that is gone. What they print is shown, and no time is lost.

use std::time::Duration;

use serde_json::json;

use crate::env::{Env, touch};

/// Prints where to log in, as Amp does, and waits for a person for ever.
const NO_LOGIN: &str = "cat >/dev/null; echo 'No API key found. Starting login flow...'; \
     echo 'visit https://login.example/cli?token=0'; printf 'paste your code here: '; exec sleep 600";

#[test]
fn text_outside_of_the_format_is_shown_at_once() {
    let script = "cat >/dev/null; echo 'visit https://login.example/cli'; \
                  while [ ! -e go ]; do sleep 0.01; done; exit 1";
    let env = Env::new().agent("amp", script);
    let running = env.start(&["run", "-p", "Do it.", "--retries", "0", "--no-stream-agent-output"]);
    running.await_saying("visit https://login.example/cli");
    touch(&env.path("go"));
    running.wait().exits(4).says("The agent failed: exited with code 1 (visit https://login.example/cli)");
}

#[test]
fn an_agent_that_waits_for_a_login_ends_the_run_in_its_first_turn() {
    let env = Env::new().agent("amp", NO_LOGIN);
    let output = env.run(&["--start-timeout", "300ms"]).exits(4).says("did not begin within 300ms");
    assert!(output.took < Duration::from_secs(20), "{:?}", output.took);
    assert_eq!(env.events("turn_started").len(), 1);
    let ended = &env.events("turn_ended")[0];
    assert_eq!(
        ended["last_lines"],
        json!([
            "No API key found. Starting login flow...",
            "visit https://login.example/cli?token=0",
            "paste your code here:"
        ])
    );
    assert_eq!(ended["end"]["kind"], "permanent");
    env.nothing_left();
}

#[test]
fn an_agent_that_prints_nothing_at_all_is_tried_again() {
    let env =
        Env::new().agent("codex", "cat >/dev/null; echo 'Reading prompt from stdin...' >&2; exec sleep 600");
    let flags = ["--start-timeout", "200ms", "--retries", "1"];
    env.run(&flags).exits(4).says("did not begin within 200ms (Reading prompt from stdin...)");
    assert_eq!(env.events("turn_started").len(), 2);
    assert_eq!(env.events("run_started")[0]["setup"]["timeouts"]["start_timeout_ms"], 200);
}

#[test]
fn the_first_event_is_the_start() {
    let event = r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#;
    let result =
        r#"{"type":"result","subtype":"success","is_error":false,"result":"<response>DONE</response>"}"#;
    let script = format!("cat >/dev/null; echo '{event}'; sleep 1; echo '{result}'");
    let env = Env::new().agent("claude", &script).settings(json!({"guard": "off"}));
    env.run(&["--start-timeout", "600ms"]).exits(0);
}

#[test]
fn a_program_that_ralph_does_not_know_may_speak_at_its_end() {
    let env = Env::new().agent("anything", "cat >/dev/null; sleep 1; echo '<response>DONE</response>'");
    env.run(&["--start-timeout", "200ms"]).exits(0);
}

#[test]
fn a_wrong_key_is_shown_beside_the_exit_code() {
    let env =
        Env::new().agent("claude", "cat >/dev/null; echo 'Invalid API key · Please run /login'; exit 1");
    env.settings(json!({"guard": "off"}))
        .run(&["--retries", "0"])
        .exits(4)
        .says("The agent failed: exited with code 1 (Invalid API key · Please run /login)");
}

#[test]
fn the_last_lines_of_standard_error_follow_every_failure() {
    let script = "cat >/dev/null; for n in $(seq 1 30); do echo \"reason $n of 30\" >&2; done; exit 3";
    let env = Env::new().agent("codex", script).settings(json!({"guard": "off"}));
    let output = env.run(&["--retries", "0"]).exits(4).says("exited with code 3 (reason 30 of 30)");
    let output = output.says("reason 23 of 30").says("reason 29 of 30").says_not("reason 22 of 30");
    assert_eq!(output.stderr.matches("reason 24 of 30").count(), 1, "{}", output.stderr);
    let page = env.ralph(&["report"]).exits(0).stdout;
    let report = std::fs::read_to_string(page.trim()).expect("the report");
    assert!(report.contains("reason 25 of 30"), "{report}");
    env.ralph(&["logs"]).exits(0).prints("reason 23 of 30");

    let verbose = env.run(&["--retries", "0", "--verbose"]).exits(4);
    verbose.says("stderr: reason 1 of 30").says("stderr: reason 30 of 30");
}

#[test]
fn a_program_that_vanishes_ends_the_run_at_once() {
    let env = Env::new().agent("mine", "cat >/dev/null; rm -- \"$0\"; echo 'hello'");
    let output = env.run(&[]).exits(4).says("its program is gone: ");
    assert!(output.stderr.contains("bin/mine"), "{}", output.stderr);
    assert_eq!(env.events("turn_started").len(), 2);
    assert_eq!(env.events("turn_ended")[1]["end"]["kind"], "permanent");
}

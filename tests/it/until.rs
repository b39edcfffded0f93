//! Runs that end in time: at a time of day, and before the usage limit is all used.

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::env::{Env, done, say, shell, write};

/// The moment so many seconds from now, as `--until` takes it.
fn moment(env: &Env, seconds: i64) -> String {
    env.sh(&format!("date -u -d '{seconds} seconds' +%Y-%m-%dT%H:%M:%SZ")).exits(0).stdout.trim().to_owned()
}

/// What the service says about the quota; `windows` are percent and the second of the reset.
fn quota(status: &str, windows: &[(f64, i64)]) -> Value {
    let windows: Value = windows
        .iter()
        .map(|(used, reset)| (format!("w{reset}"), json!({"utilization": used / 100.0, "resetsAt": reset})))
        .collect();
    let info = json!({"status": status, "resetsAt": 4_000_000_000_i64, "unifiedWindows": windows});
    json!({"event": {"type": "rate_limit_event", "rate_limit_info": info}})
}

/// A message of the agent with what it used.
fn spends() -> Value {
    json!({"event": {"type": "assistant", "parent_tool_use_id": null, "message": {
        "id": "a", "role": "assistant", "model": "scripted", "content": [{"type": "text", "text": "At it."}],
        "usage": {"input_tokens": 4, "output_tokens": 1},
    }}})
}

const RESET: i64 = 4_000_000_000;

#[test]
fn a_turn_is_ended_at_the_time_that_was_said() {
    let env = Env::new().turns(json!([[write("half.txt", "half"), "hang"], [done()]]));
    let until = moment(&env, 8);
    env.run(&["--until", &until, "--retries", "0"])
        .exits(1)
        .says("The agent was ended at its limit of time of day")
        .prints("Time to end reached (--until 20")
        .prints("--until 0");
    assert_eq!(env.events("turn_ended")[0]["end"], json!({"how": "over_budget", "limit": "until"}));
    assert_eq!(env.events("run_ended")[0]["limit"], "until");
    assert_eq!(env.read("half.txt"), "half");
    env.nothing_left();
    let id = env.run_id();
    env.ralph(&["status"])
        .exits(0)
        .prints("Time to end reached")
        .prints(&format!("ralph resume {id} --until 0"));
    // It stays where it was, until a person says otherwise.
    env.ralph(&["resume"]).exits(2).says("the run is at its limit of time of day").says("--until 0");
    env.ralph(&["resume", "--until", &moment(&env, -5)])
        .exits(2)
        .says("the run is at its limit of time of day");
    assert_eq!(env.prompts().len(), 1);
    env.ralph(&["resume", "--until", "0"]).exits(0).prints("Complete");
    assert!(env.events("run_resumed")[0]["limits"]["until_ms"].is_null());
}

#[test]
fn no_turn_begins_after_it() {
    // What came to its end is judged, though it is later by then.
    let env = Env::new().turns(json!([[say("Hm.")]])).settings(json!({"baseline": false}));
    let until = moment(&env, 8);
    let late = format!("while test $(date +%s) -le $(date -d {until} +%s); do sleep 0.1; done");
    let env = env.guardrails(&[&late]);
    env.run(&["--until", &until, "-m", "9"]).exits(1).prints("Time to end reached");
    assert_eq!(env.events("gate_ended").len(), env.prompts().len(), "{:?}", env.journal());
    assert!(env.events("turn_ended").iter().all(|turn| turn["end"]["how"] == "finished"));
}

#[test]
fn no_usage_limit_is_waited_for_beyond_it() {
    let refused = json!({"result": {"is_error": true, "api_error_status": 429, "result": "Come back later"}});
    let turns = json!([[quota("rejected", &[]), refused], [done()]]);
    let env = Env::new().turns(turns).settings(json!({"limits": {"maxWait": "30000d"}}));
    let output = env.run(&["--until", "2090-01-01T07:00"]).exits(1);
    output.prints("The usage limit is back at 2096-10-0").prints(", and --until is 2090-01-01 07:00");
    assert!(env.events("wait_started").is_empty());
    env.ralph(&["status"]).exits(0).prints("The usage limit is back at 2096-10-0");
    env.ralph(&["resume"]).exits(2).says("the run is at its limit of time of day");
    // No one says when it is back, and the next try is in an hour.
    let env = Env::new()
        .agent(
            "codex",
            &format!(
                "cat >/dev/null; cat {}/../agents/fixtures/codex/quota.ndjson; exit 1",
                env!("CARGO_MANIFEST_DIR")
            ),
        )
        .settings(json!({"retryDelay": "60s"}));
    env.run(&["--until", &moment(&env, 1800)])
        .exits(1)
        .prints("The usage limit is reached, and the next try would be after --until 20");
    assert!(env.events("wait_started").is_empty());
}

#[test]
fn the_end_may_be_in_the_settings_and_a_flag_goes_before_it() {
    let env = Env::new().turns(json!([[done()]])).settings(json!({"limits": {"until": "2001-01-01T07:00"}}));
    env.run(&[])
        .exits(2)
        .says("the run was to end at 2001-01-01 07:00, which has passed")
        .says("--until 07:00");
    assert!(env.runs().is_empty());
    env.run(&["--until", "0"]).exits(0);
    env.run(&["--until", "23:59:59"]).exits(0);
    let journal = env.journal();
    let until_ms = journal[0]["plan"]["limits"]["until_ms"].as_i64().expect("a moment");
    let began: jiff::Timestamp = journal[0]["at"].as_str().expect("a time").parse().expect("a time");
    let left = until_ms - began.as_millisecond();
    assert!(0 < left && left <= 25 * 3_600_000, "{left}");
}

#[test]
fn what_is_no_time_says_what_to_type() {
    let env = Env::new().turns(json!([[done()]]));
    for (typed, said) in [
        ("7", "07:00 is a time of day; for so many hours of work say --max-time 7h"),
        ("7am", "did you mean 07:00?"),
        ("8h", "--max-time 8h"),
        ("2026-11-18", "at which time? 2026-11-18T07:00"),
        ("yesterday", "expected a time such as 07:00"),
    ] {
        env.run(&["--until", typed]).exits(2).says(said);
    }
    for typed in ["100", "101%", "-1", "1.5", "all"] {
        env.run(&[&format!("--leave-quota={typed}")]).exits(2).says("a whole number of percent from 0 to 99");
    }
    assert!(env.runs().is_empty());
}

#[test]
fn a_part_of_the_usage_limit_is_left() {
    let (much, little) =
        (quota("allowed", &[(30.0, RESET), (79.0, RESET + 1)]), quota("allowed", &[(80.0, RESET)]));
    let env = Env::new().turns(json!([[much, say("Hm.")], [little, say("Hm.")], [done()]]));
    let output = env.run(&["--leave-quota", "20%"]).exits(1);
    output.prints("80 % of the usage limit is used, and --leave-quota keeps 20 %; it resets at 2096-10-0");
    assert_eq!(env.prompts().len(), 2);
    assert_eq!(env.events("run_ended")[0]["limit"], "leave_quota");
    assert_eq!(env.events("turn_ended")[0]["quota"][1], json!({"used": 79, "resets_at": RESET + 1}));
    // The window lasts, so it is no use to ask again.
    env.ralph(&["resume"]).exits(2).says("the run is at its limit of quota").says("--leave-quota 0");
    env.ralph(&["resume", "--leave-quota", "19"]).exits(0).prints("Complete");
}

#[test]
fn a_turn_that_uses_what_is_to_be_left_is_ended() {
    let env = Env::new()
        .turns(json!([[quota("allowed", &[(81.0, RESET)]), spends(), "hang"], [done()]]))
        .settings(json!({"limits": {"leaveQuota": 20}}));
    env.run(&[])
        .exits(1)
        .says("The agent was ended at its limit of quota")
        .prints("81 % of the usage limit is used");
    assert_eq!(env.events("turn_ended")[0]["end"], json!({"how": "over_budget", "limit": "leave_quota"}));
    env.nothing_left();
    env.ralph(&["resume", "--leave-quota", "0"]).exits(0);
}

#[test]
fn what_is_left_of_codex_is_read_from_its_record() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures");
    let session = "01a1e104-4b0d-7fd0-a0dc-40b5e7f0be4c";
    let script = format!(
        "cat >/dev/null; folder=$HOME/.codex/sessions/2026/11/17; mkdir -p $folder; date +%N >work\n\
         sed 's/1794917362/{RESET}/; s/100.0/85.0/' {fixtures}/records/codex.jsonl >$folder/rollout-x-{session}.jsonl\n\
         echo '{{\"type\":\"thread.started\",\"thread_id\":\"{session}\"}}'; grep -v thread.started {fixtures}/codex/text.ndjson"
    );
    let env = Env::new().agent("codex", &script);
    env.run(&["--leave-quota", "20", "-m", "3"]).exits(1).prints("85 % of the usage limit is used");
    assert_eq!(env.events("turn_ended").len(), 1);
    env.run(&["--leave-quota", "10", "-m", "2"]).exits(1).prints("Maximum iterations");
}

#[test]
fn a_limit_that_the_agent_does_not_report_is_pointed_out() {
    let unknown =
        "warning: the agent does not report how much of its usage limit is used, so --leave-quota cannot";
    let plain = Env::new().agent("helper", "cat >/dev/null; echo Hm.");
    let output = plain.run(&["-m", "2", "--leave-quota", "20"]).exits(1).says(unknown);
    assert_eq!(output.stderr.matches(unknown).count(), 1, "{}", output.stderr);
    assert_eq!(plain.journal()[1]["event"], "warned", "before the first turn");
    // One that reports it for some accounts.
    let env = Env::new().turns(json!([[say("Hm.")]]));
    let output = env.run(&["-m", "2", "--leave-quota", "20"]).exits(1).says(unknown);
    assert_eq!(output.stderr.matches(unknown).count(), 1, "{}", output.stderr);
    env.run(&["-m", "1"]).exits(1).says_not(unknown);
}

#[test]
fn a_turn_ends_by_the_clock_on_the_wall_after_ralph_was_stopped() {
    // Ralph stands still while the moment comes, as on a laptop that sleeps.
    let env = Env::new().turns(json!([[shell("touch began"), "hang"]]));
    let until = moment(&env, 8);
    let ralph = env.start(&["run", "-p", "x", "--until", &until, "--retries", "0"]);
    env.await_file("began");
    ralph.signal(Signal::STOP);
    env.sh(&format!("while test $(date +%s) -le $(date -d {until} +%s); do sleep 0.1; done")).exits(0);
    ralph.signal(Signal::CONT);
    ralph.wait().exits(1).prints("Time to end reached");
}

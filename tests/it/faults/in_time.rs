//! Loops that end in time, killed on their way.

use serde_json::json;

use super::presets::{Agent, Cut, Preset};

/// The usage limit is back after the moment that the run is to end at: it does not wait.
const LATE: Preset = Preset {
    prepare: |env| {
        env.agent("claude", &limited("rejected", 100, "exit 1"))
            .settings(json!({"limits": {"maxWait": "30000d"}}))
    },
    args: &["run", "-p", "Do it.", "--until", "2090-01-01T00:00"],
    agent: "",
    kind: Agent::Worker,
    code: 1,
    outcome: "exhausted",
    cut: Cut::IsRepeated,
};

/// The second turn leaves no more of the usage limit than is to be left.
const RATIONED: Preset = Preset {
    prepare: |env| env.agent("claude", &limited("allowed", 81, "true")),
    args: &["run", "-p", "Do it.", "--leave-quota", "20"],
    ..LATE
};

/// Works, and from the second iteration on says this about its usage limit.
fn limited(status: &str, percent: u32, then: &str) -> String {
    format!(
        r#"cat >/dev/null; echo "$RALPH_ITERATION" >"part-$RALPH_ITERATION"; failed=false
        if test "$RALPH_ITERATION" = 2; then
            echo '{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","resetsAt":4000000000,"utilization":{}}}}}'
            test {status} = allowed || failed=true
        fi
        echo '{{"type":"result","subtype":"success","is_error":'$failed',"api_error_status":429,"num_turns":1,"result":"More."}}'
        $failed && {then}; exit 0"#,
        f64::from(percent) / 100.0
    )
}

#[test]
fn a_run_that_ends_in_time_survives_a_kill_at_every_event() {
    LATE.check();
}

#[test]
fn a_run_that_leaves_quota_survives_a_kill_at_every_event() {
    RATIONED.check();
}

//! What each agent's errors mean. Only structure counts, never what the model says.

use super::super::FailureKind::{self, Limited, Overloaded, Permanent, Transient};
use super::super::{AgentEvent, adapter, turn::Tally};
use super::events;

#[track_caller]
fn check(agent: &str, stream: &str, expected: Option<FailureKind>) {
    let mut tally = Tally::default();
    for event in events(agent, [stream.as_bytes()]) {
        tally.take(&event);
    }
    assert_eq!(tally.failure.map(|failure| failure.kind), expected);
}

#[track_caller]
fn check_claude(fields: &str, expected: Option<FailureKind>) {
    check("claude", &format!(r#"{{"type":"result","subtype":"success",{fields}}}"#), expected);
}

#[test]
fn claude() {
    check_claude(r#""is_error":false,"result":"401 rate limit reached, quota exceeded""#, None);
    check_claude(r#""is_error":true"#, Some(Transient));
    check_claude(r#""is_error":true,"api_error_status":400"#, Some(Transient));
    check_claude(r#""is_error":true,"api_error_status":401"#, Some(Permanent));
    check_claude(r#""is_error":true,"api_error_status":402"#, Some(Permanent));
    check_claude(r#""is_error":true,"api_error_status":403"#, Some(Permanent));
    check_claude(
        r#""is_error":true,"api_error_status":400,"api_error_type":"billing_error""#,
        Some(Permanent),
    );
    check_claude(r#""is_error":true,"api_error_status":429"#, Some(Overloaded));
    check_claude(r#""is_error":true,"api_error_status":529"#, Some(Overloaded));
    let used_up = r#""is_error":true,"api_error_status":429,"api_error":"usage_limit_reached""#;
    check_claude(used_up, Some(Limited { resets_at: None }));
    check_claude(r#""is_error":false,"terminal_reason":"aborted_tools""#, Some(Transient));
    check_claude(r#""is_error":false,"terminal_reason":"stop_hook_prevented""#, None);
    check("claude", r#"{"type":"result","subtype":"error_max_turns"}"#, Some(Transient));
}

#[test]
fn claude_quota() {
    let limit = |status: &str| {
        format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"status":"{status}","resetsAt":1794800000,"rateLimitType":"five_hour"}}}}"#
        )
    };
    let failed = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"api_error":"usage_limit_reached"}"#;
    let good = r#"{"type":"result","subtype":"success","is_error":false}"#;
    let used_up = Some(Limited { resets_at: Some(1_794_800_000) });
    check("claude", &format!("{}\n{failed}", limit("rejected")), used_up);
    check("claude", &format!("{}\n{failed}", limit("allowed_warning")), Some(Limited { resets_at: None }));
    check("claude", &format!("{}\n{good}", limit("rejected")), None);
    check("claude", &format!("{}\n{failed}\n{good}", limit("rejected")), None);
    let authentication = failed.replace("429", "401").replace("usage_limit_reached", "unauthorized");
    check("claude", &format!("{}\n{authentication}", limit("rejected")), Some(Permanent));
}

/// The code stands on the message that the program writes in the agent's place.
#[test]
fn claude_credit() {
    let synthetic =
        r#"{"type":"assistant","error":"billing_error","message":{"model":"<synthetic>","content":[]}}"#;
    let failed = r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":400}"#;
    check("claude", &format!("{synthetic}\n{failed}"), Some(Permanent));
}

#[track_caller]
fn check_codex(message: &str, expected: FailureKind) {
    let message = serde_json::to_string(message).expect("text");
    check("codex", &format!(r#"{{"type":"turn.failed","error":{{"message":{message}}}}}"#), Some(expected));
}

#[test]
fn codex() {
    check_codex("", Transient);
    check_codex("stream disconnected", Transient);
    check_codex("unexpected status 401 Unauthorized: bad key, url: http://a/v1", Permanent);
    check_codex("exceeded retry limit, last status: 429 Too Many Requests", Overloaded);
    check_codex("unexpected status 503 Service Unavailable", Overloaded);
    check_codex("We’re currently experiencing high demand, which may cause temporary errors.", Overloaded);
    check_codex("You’ve hit your usage limit. Try again later.", Limited { resets_at: None });
    check_codex("Quota exceeded. Check your plan and billing details.", Permanent);
    check_codex(r#"{"error": {"type": "invalid_request_error", "code": null}}"#, Transient);
    check_codex(r#"{"error": {"type": "x", "code": "insufficient_quota"}}"#, Permanent);
    check_codex("status é", Transient);
    let said = r#"{"type":"item.completed","item":{"type":"agent_message","text":"unexpected status 401"}}"#;
    check("codex", &format!("{said}\n{{\"type\":\"turn.completed\"}}"), None);
    check("codex", r#"{"type":"error","message":"unexpected status 401"}"#, None);
}

#[test]
fn others() {
    check(
        "amp",
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":"500 {}"}"#,
        Some(Overloaded),
    );
    check(
        "amp",
        r#"{"type":"result","subtype":"error_during_execution","is_error":true,"error":"402 {}"}"#,
        Some(Permanent),
    );
    check(
        "amp",
        r#"{"type":"result","subtype":"error_during_execution","error":"User cancelled"}"#,
        Some(Transient),
    );
    check("amp", r#"{"type":"result","subtype":"success","is_error":false,"result":"500"}"#, None);
    check(
        "gemini",
        r#"{"type":"result","status":"error","error":{"message":"[API Error: {\"error\":{\"code\":503}}]"}}"#,
        Some(Overloaded),
    );
    check("gemini", r#"{"type":"result","status":"error","error":{"message":"} {"}}"#, Some(Transient));
    check("gemini", r#"{"type":"result","status":"success"}"#, None);
    check(
        "opencode",
        r#"{"type":"error","error":{"name":"APIError","data":{"statusCode":402}}}"#,
        Some(Permanent),
    );
    check("opencode", r#"{"type":"error","error":{"name":"ProviderAuthError","data":{}}}"#, Some(Permanent));
    check("opencode", r#"{"type":"error","error":{"name":"UnknownError"}}"#, Some(Transient));
    check("opencode", "{\"type\":\"error\",\"error\":{}}\n{\"type\":\"step_start\"}", None);
}

#[track_caller]
fn check_qwen(message: &str, expected: FailureKind) {
    let line = format!(
        r#"{{"type":"result","subtype":"error_during_execution","is_error":true,"error":{{"message":"{message}"}}}}"#
    );
    check("qwen", &line, Some(expected));
}

#[test]
fn qwen() {
    check_qwen("", Transient);
    check_qwen("[API Error: 400 prompt is too long]", Transient);
    check_qwen("[API Error: 401 invalid key]", Permanent);
    check_qwen("[API Error: 429 slow down]", Overloaded);
    check_qwen("[API Error: Model stream ended with empty response text.]", Transient);
    check_qwen("503 without brackets", Overloaded);
    check("qwen", r#"{"type":"result","subtype":"error_max_turns","error":7}"#, Some(Transient));
    check("qwen", r#"{"type":"result","subtype":"success","result":"[API Error: 401 invalid key]"}"#, None);
    let said = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"[API Error: 401 x]"}]}}"#;
    check("qwen", said, None);
}

#[track_caller]
fn check_copilot(error: &str, expected: FailureKind) {
    let error = format!(r#"{{"type":"session.error","data":{{{error}}}}}"#);
    check("copilot", &error, Some(expected));
    check("copilot", &format!("{error}\n{}", copilot_result(1)), Some(expected));
    check("copilot", &format!("{error}\n{}", copilot_result(0)), Some(expected));
    let answer = r#"{"type":"assistant.message","data":{"content":"on it"}}"#;
    check("copilot", &format!("{error}\n{answer}\n{}", copilot_result(0)), None);
}

fn copilot_result(code: i64) -> String {
    format!(r#"{{"type":"result","sessionId":"s","exitCode":{code}}}"#)
}

#[test]
fn copilot() {
    check_copilot("", Transient);
    check_copilot(r#""errorType":"query","message":"No response was returned.""#, Transient);
    check_copilot(r#""errorType":"authentication","statusCode":401"#, Permanent);
    check_copilot(r#""errorType":"authorization""#, Permanent);
    check_copilot(r#""errorType":"quota","statusCode":402"#, Limited { resets_at: None });
    check_copilot(r#""errorType":"rate_limit","statusCode":429"#, Overloaded);
    check_copilot(r#""errorType":"query","statusCode":503"#, Overloaded);
    check("copilot", &copilot_result(0), None);
    check("copilot", &copilot_result(1), Some(Transient));
    let abort = r#"{"type":"abort","data":{"reason":"user_initiated"}}"#;
    check("copilot", &format!("{abort}\n{}", copilot_result(0)), Some(Transient));
    check("copilot", abort, Some(Transient));
    let subagent = r#"{"type":"session.error","agentId":"a","data":{"statusCode":401}}"#;
    check("copilot", &format!("{subagent}\n{}", copilot_result(0)), None);
    let said = r#"{"type":"assistant.message","data":{"content":"HTTP 401, quota exceeded"}}"#;
    check("copilot", &format!("{said}\n{}", copilot_result(0)), None);
    check("copilot", r#"{"type":"model.call_failure","data":{"statusCode":401}}"#, None);
}

#[track_caller]
fn check_pi(fields: &str, expected: Option<FailureKind>) {
    check("pi", &pi_message(fields), expected);
    check("pi", &format!("{}\n{}", pi_message(fields), pi_message(r#""stopReason":"stop""#)), None);
    check("pi", &format!("{}\n{}", pi_message(r#""stopReason":"stop""#), pi_message(fields)), expected);
}

fn pi_message(fields: &str) -> String {
    format!(r#"{{"type":"message_end","message":{{"role":"assistant",{fields}}}}}"#)
}

#[test]
fn pi() {
    check_pi(r#""stopReason":"stop","content":[{"type":"text","text":"401 quota exceeded"}]"#, None);
    check_pi(r#""stopReason":"toolUse""#, None);
    check_pi(r#""stopReason":"error""#, Some(Transient));
    check_pi(r#""stopReason":"error","errorMessage":"400 prompt is too long""#, Some(Transient));
    check_pi(r#""stopReason":"error","errorMessage":"401 invalid key""#, Some(Permanent));
    check_pi(r#""stopReason":"error","errorMessage":"529 {\"type\":\"error\"}""#, Some(Overloaded));
    check_pi(r#""stopReason":"error","errorMessage":"Connection error.""#, Some(Transient));
    check_pi(r#""stopReason":"aborted""#, Some(Transient));
    let user = pi_message(r#""stopReason":"error""#).replace("assistant", "user");
    check("pi", &user, None);
}

/// Each result tells what came since the one before it, whatever the agent adds up.
/// The stream of a 429 has only prose in it; the exit code has the status.
#[test]
fn gemini_exits_with_the_status() {
    let check = |code: i32, expected: Option<FailureKind>| {
        assert_eq!(adapter("gemini").exit_means(code), expected, "{code}");
    };
    check(0, None);
    check(1, None);
    check(41, Some(Permanent));
    check(400 % 256, Some(Transient));
    check(401 % 256, Some(Permanent));
    check(429 % 256, Some(Overloaded));
    check(503 % 256, Some(Overloaded));
    assert_eq!(adapter("claude").exit_means(429 % 256), None);
}

#[test]
fn usage_is_told_once() {
    let result = |cost: &str| {
        format!(
            r#"{{"type":"result","total_cost_usd":{cost},"usage":{{"input_tokens":1,"cache_read_input_tokens":20,"cache_creation_input_tokens":300,"output_tokens":4}}}}"#
        )
    };
    let stream = format!("{}\n{}\n", result("0.5"), result("0.75"));
    let usages: Vec<_> = events("claude", [stream.as_bytes()])
        .into_iter()
        .map(|event| match event {
            AgentEvent::Result(result) => {
                (result.usage.cost_usd, result.usage.input, result.usage.cached, result.usage.output)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(usages, [(Some(0.5), 321, 20, 4), (Some(0.25), 321, 20, 4)]);
}

#[test]
fn usage_of_messages_adds_up() {
    let usage = r#""usage":{"input":1,"cacheRead":20,"cacheWrite":300,"output":4,"cost":{"total":0.25}}"#;
    let message = pi_message(usage);
    match events("pi", [format!("{message}\n{message}\n").as_bytes()]).as_slice() {
        [AgentEvent::Result(result)] => {
            assert_eq!(result.usage.cost_usd, Some(0.5));
            assert_eq!((result.usage.input, result.usage.cached, result.usage.output), (642, 40, 8));
        }
        other => panic!("{other:?}"),
    }
}

/// Qwen's input includes what came from the cache, though the field names are Claude's.
#[test]
fn cached_tokens_count_once() {
    let line =
        r#"{"type":"result","usage":{"input_tokens":100,"cache_read_input_tokens":80,"output_tokens":5}}"#;
    match events("qwen", [line.as_bytes()]).as_slice() {
        [AgentEvent::Result(result)] => {
            assert_eq!(result.usage.cost_usd, None);
            assert_eq!((result.usage.input, result.usage.cached, result.usage.output), (100, 80, 5));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn records_of_the_first_version_are_read() {
    let recorded: FailureKind = serde_json::from_str(r#""own_cap""#).expect("a kind of failure");
    assert_eq!(recorded, FailureKind::AgentBudget);
}

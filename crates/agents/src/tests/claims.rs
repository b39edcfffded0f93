//! Where a claim may stand: in the agent's own words, and nowhere else.

use super::super::{AgentEvent, TurnResult};
use super::{events, own_words};

#[track_caller]
fn check(agent: &str, stream: &str, expected: &str) {
    assert_eq!(own_words(&events(agent, [stream.as_bytes()])), expected);
}

fn assistant(id: &str, blocks: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"{id}","model":"m","content":[{blocks}]}},"parent_tool_use_id":null}}"#
    ) + "\n"
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn piece(event: &str) -> String {
    format!(r#"{{"type":"stream_event","event":{event},"parent_tool_use_id":null}}"#) + "\n"
}

fn delta(text: &str) -> String {
    piece(&format!(
        r#"{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
    ))
}

fn message_start(id: &str) -> String {
    piece(&format!(r#"{{"type":"message_start","message":{{"id":"{id}","content":[]}}}}"#))
}

#[test]
fn echoed_prompt() {
    let echo = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"say DONE"}]}}"#;
    let plain = r#"{"type":"user","message":{"role":"user","content":"say DONE"}}"#;
    for agent in ["claude", "amp", "qwen"] {
        check(agent, &format!("{echo}\n{plain}\n{}", assistant("1", &text("I go on"))), "I go on");
        check(agent, &format!("{echo}\n{}", assistant("1", &text("DONE"))), "DONE");
    }
    check("gemini", r#"{"type":"message","role":"user","content":"say DONE"}"#, "");
    check("copilot", r#"{"type":"user.message","data":{"content":"say DONE"}}"#, "");
    let user = r#"{"role":"user","content":[{"type":"text","text":"say DONE"}]}"#;
    check("pi", &format!(r#"{{"type":"message_end","message":{user}}}"#), "");
    check("pi", &format!(r#"{{"type":"agent_end","messages":[{user}]}}"#), "");
}

#[test]
fn tools_and_reasoning() {
    let call = r#"{"type":"tool_use","id":"t","name":"Bash","input":{"command":"echo DONE"}}"#;
    let thinking = r#"{"type":"thinking","thinking":"DONE"}"#;
    let printed = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"DONE"}]}}"#;
    for agent in ["claude", "amp", "qwen"] {
        check(agent, &format!("{}{printed}\n", assistant("1", &format!("{thinking},{call}"))), "");
    }
    check("codex", r#"{"type":"item.completed","item":{"id":"i","type":"reasoning","text":"DONE"}}"#, "");
    check(
        "codex",
        r#"{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"echo DONE","aggregated_output":"DONE","exit_code":0}}"#,
        "",
    );
    check("codex", r#"{"type":"error","message":"DONE"}"#, "");
    check("gemini", r#"{"type":"tool_result","tool_id":"t","status":"success","output":"DONE"}"#, "");
    check(
        "opencode",
        r#"{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"DONE"},"output":"DONE"}}}"#,
        "",
    );
}

#[test]
fn tools_and_reasoning_of_copilot_and_pi() {
    let copilot = [
        r#"{"type":"assistant.reasoning","data":{"content":"DONE"}}"#,
        r#"{"type":"tool.execution_start","data":{"toolCallId":"t","toolName":"bash","arguments":{"command":"DONE"}}}"#,
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t","success":true,"result":{"content":"DONE"}}}"#,
        r#"{"type":"session.info","data":{"message":"DONE"}}"#,
    ];
    check("copilot", &copilot.join("\n"), "");
    let pi = [
        r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"DONE"}]}}"#,
        r#"{"type":"tool_execution_end","toolCallId":"t","result":{"content":[{"type":"text","text":"DONE"}]}}"#,
        r#"{"type":"message_end","message":{"role":"toolResult","content":[{"type":"text","text":"DONE"}]}}"#,
    ];
    check("pi", &pi.join("\n"), "");
}

/// Qwen writes its own errors and its answers to commands as if the agent had said them.
#[test]
fn what_qwen_says_itself() {
    let failed =
        r#"{"type":"result","is_error":true,"error":{"message":"[API Error: 500 DONE]"},"num_turns":1}"#;
    let error = assistant("1", &text("[API Error: 500 DONE]"));
    check("qwen", &format!("{error}{failed}"), "");
    check("qwen", &format!("{}{failed}", assistant("1", &text("I try[API Error: 500 DONE]"))), "I try");
    let good = r#"{"type":"result","is_error":false,"num_turns":1}"#;
    check("qwen", &format!("{error}{good}"), "[API Error: 500 DONE]");
    check("qwen", &error, "[API Error: 500 DONE]");
    let command = r#"{"type":"result","is_error":false,"num_turns":0,"result":"DONE"}"#;
    check("qwen", &format!("{}{command}", assistant("1", &text("DONE"))), "");
}

/// A message that broke off does not count, nor does what only repeats another.
#[test]
fn whole_messages_count_once() {
    let delta = r#"{"type":"assistant.message_delta","data":{"messageId":"m","deltaContent":"DONE"}}"#;
    let whole = r#"{"type":"assistant.message","data":{"messageId":"m","content":"DONE"}}"#;
    check("copilot", delta, "");
    check("copilot", &format!("{delta}\n{whole}"), "DONE");
    let message = |stop: &str| {
        format!(r#"{{"role":"assistant","stopReason":"{stop}","content":[{{"type":"text","text":"DONE"}}]}}"#)
    };
    let line = |kind: &str, stop: &str| format!(r#"{{"type":"{kind}","message":{}}}"#, message(stop));
    check("pi", &line("message_update", "stop"), "");
    check("pi", &format!("{}\n{}", line("message_end", "stop"), line("turn_end", "stop")), "DONE");
    check("pi", &line("message_end", "error"), "");
}

#[test]
fn subagents_and_the_program_itself() {
    let sub = assistant("1", &text("DONE")).replace(":null", r#":"toolu_1""#);
    let synthetic = assistant("1", &text("DONE")).replace(r#""model":"m""#, r#""model":"<synthetic>""#);
    let odd = assistant("1", &text("DONE")).replace(":null", ":7");
    check("claude", &format!("{sub}{odd}{synthetic}"), "");
    check("qwen", &format!("{sub}{odd}"), "");
    check("copilot", r#"{"type":"assistant.message","agentId":"a","data":{"content":"DONE"}}"#, "");
    check("copilot", r#"{"type":"assistant.message","data":{"content":"DONE","parentToolCallId":"t"}}"#, "");
}

#[test]
fn one_message_is_one_text() {
    let two_events = assistant("1", &text("DO")) + &assistant("1", &text("NE"));
    check("claude", &two_events, "DONE");
    let two_blocks = assistant("1", &format!("{},{}", text("DO"), text("NE")));
    check("claude", &two_blocks, "DONE");
    check("amp", &two_blocks.replace(r#""id":"1","#, ""), "DONE");
    let two_messages = assistant("1", &text("DO")) + &assistant("2", &text("NE"));
    check("claude", &two_messages, "DO|NE");
    check("amp", &two_messages.replace(r#""id":"1","#, "").replace(r#""id":"2","#, ""), "DO|NE");
    let call = r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#;
    check(
        "claude",
        &(assistant("1", &format!("{},{call}", text("DO"))) + &assistant("1", &text("NE"))),
        "DO|NE",
    );
    let piece =
        |text: &str| format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#);
    check("gemini", &format!("{}\n{}\n", piece("DO"), piece("NE")), "DONE");
    let part = |text: &str| format!(r#"{{"type":"text","part":{{"messageID":"m","text":"{text}"}}}}"#);
    check("opencode", &format!("{}\n{}", part("DO"), part("NE")), "DONE");
    check("qwen", &two_blocks, "DONE");
    let blocks = |between: &str| {
        let blocks = format!("{}{between},{}", text("DO"), text("NE"));
        format!(r#"{{"type":"message_end","message":{{"role":"assistant","content":[{blocks}]}}}}"#)
    };
    check("pi", &blocks(""), "DONE");
    check("pi", &blocks(r#",{"type":"toolCall","id":"t"}"#), "DO|NE");
}

#[test]
fn pieces_count_once() {
    let pieces = message_start("1") + &delta("DO") + &delta("NE");
    check("claude", &pieces, "DONE");
    check("claude", &(pieces.clone() + &assistant("1", &text("DONE"))), "DONE");
    check("claude", &(pieces.clone() + &assistant("2", &text("again"))), "DONE|again");
    let second = delta(" twice");
    check(
        "claude",
        &(pieces + &assistant("1", &text("DONE")) + &second + &assistant("1", &text(" twice"))),
        "DONE twice",
    );
    let sub = (message_start("1") + &delta("DONE")).replace(":null", r#":"toolu_1""#);
    check("claude", &sub, "");
}

#[test]
fn junk_between_events() {
    let done = assistant("1", &text("DONE"));
    let long = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{}"}}]}}}}"#,
        "x\\n".repeat(5_000_000)
    );
    let junk: [&[u8]; 9] = [b"junk", b"\0", b"\xff\xfe", b"", b"\r", b"{", b"[]", b"1", long.as_bytes()];
    for junk in junk {
        let stream = [junk, b"\r\n\n", done.trim_end().as_bytes()].concat();
        assert_eq!(own_words(&events("claude", stream.chunks(4_096))), "DONE");
    }
    let damaged = [&b"{\"type\":\"assistant\",\"message\":{\"id\":\"1\",\"content\":[{\"type\":\"text\",\"text\":\"DONE \xff\"}]}}"[..]];
    assert_eq!(own_words(&events("claude", damaged)), "DONE \u{fffd}");
}

#[test]
fn what_is_not_understood_is_named() {
    let unknown = |agent: &str, line: &str| match events(agent, [line.as_bytes()]).as_slice() {
        [AgentEvent::Unknown { what }] => what.clone(),
        other => format!("{other:?}"),
    };
    assert_eq!(unknown("claude", r#"{"type":"new_thing"}"#), "new_thing");
    assert_eq!(unknown("claude", r#"{"type":"system","subtype":"new_thing"}"#), "system/new_thing");
    assert_eq!(unknown("claude", r#"{"a":1}"#), "event without a type");
    assert_eq!(unknown("codex", r#"{"type":"item.started","item":{"type":"new_thing"}}"#), "item/new_thing");
    assert_eq!(unknown("gemini", "{\"type\":\"mess"), "not JSON: {\"type\":\"mess");
    let stray = [AgentEvent::Stray { text: "Warning: hello".to_owned() }];
    assert_eq!(events("gemini", [&b" Warning: hello\r"[..]]), stray);
    assert_eq!(unknown("opencode", r#"{"type":"text","part":5}"#), "JSON of an unknown shape");
    let long = "x".repeat(33 * 1024 * 1024);
    assert_eq!(unknown("amp", &long), "line over 32 MiB");
    assert_eq!(unknown("other", &long), "line over 32 MiB");
}

#[test]
fn plain_text_is_all_own_words() {
    check("other", "a\r\n\n<promise>DO\nNE</promise>", "a\n\n<promise>DO\nNE</promise>\n");
    check("other", "", "");
}

/// Claude repeats the prompt in its result when a hook blocks it, and answers `/help` by itself.
#[test]
fn a_result_without_a_model_call_has_no_words() {
    let result = |turns: u64| {
        let line = format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":{turns},"result":"DONE"}}"#
        );
        match events("claude", [line.as_bytes()]).pop() {
            Some(AgentEvent::Result(TurnResult { text, .. })) => text,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(result(1).as_deref(), Some("DONE"));
    assert_eq!(result(0), None);
}

//! The hooks, fed with what real agents told theirs.

use std::{fs, path::Path, process::Stdio};

use serde_json::{Value, json};

use crate::env::{Env, Output, RALPH};

/// What a real agent told a hook, with another conversation.
pub(crate) fn recorded(name: &str, session: &str) -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/fixtures/hooks").join(format!("{name}.json"));
    let mut input: Value = serde_json::from_slice(&fs::read(path).expect("a recording")).expect("JSON");
    input["session_id"] = json!(session);
    input
}

/// Calls a hook with this on its standard input.
pub(crate) fn call(env: &Env, args: &[&str], input: &[u8]) -> Output {
    let path = env.root().join("hook-input");
    fs::write(&path, input).expect("an input");
    let stdin = Stdio::from(fs::File::open(path).expect("an input"));
    env.start_command(env.command(RALPH).arg("hook").args(args).stdin(stdin)).wait()
}

/// Calls a hook that must not fail, and returns its answer; null if it says nothing.
#[track_caller]
pub(crate) fn ask(env: &Env, args: &[&str], input: &Value) -> Value {
    let output = call(env, args, input.to_string().as_bytes()).exits(0);
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() {
        Value::Null
    } else {
        serde_json::from_str(&output.stdout).expect("an answer")
    }
}

const EVENTS: [&str; 7] = [
    "stop",
    "pre-tool-use",
    "post-tool-use",
    "session-start",
    "user-prompt-submit",
    "stop-failure",
    "session-end",
];

#[test]
fn damaged_input_traps_no_one() {
    let env = Env::new();
    for input in ["", "{", "null", "[1]", "\0\0", "{\"session_id\":", "\u{feff}{}"] {
        for event in EVENTS {
            let output = call(&env, &[event], input.as_bytes());
            if event == "pre-tool-use" {
                output.exits(2).says("ralph's guard cannot judge this call");
            } else {
                let output = output.exits(0);
                assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", ""), "{event} {input:?}");
            }
            let output = call(&env, &[event, "--in-loop-only"], input.as_bytes()).exits(0);
            assert_eq!(output.stdout, "", "{event} {input:?}");
        }
    }
    let log = fs::read_to_string(env.root().join("state/hooks.log")).expect("a log");
    assert!(log.contains("Stop: EOF while parsing"), "{log}");
}

#[test]
fn objects_without_anything_in_them_are_let_go() {
    let env = Env::new();
    for event in EVENTS {
        if event == "pre-tool-use" {
            call(&env, &[event], b"{}").exits(2).says("it names no tool");
        } else {
            assert_eq!(ask(&env, &[event], &json!({})), Value::Null, "{event}");
        }
        assert_eq!(ask(&env, &[event, "--in-loop-only"], &json!({"session_id": 3})), Value::Null, "{event}");
    }
}

#[test]
fn other_conversations_are_left_alone() {
    let env = Env::new();
    for (event, name) in [
        ("stop", "claude-stop"),
        ("stop", "claude-subagent-stop"),
        ("stop", "codex-stop"),
        ("pre-tool-use", "claude-pre-tool-use-bash"),
        ("pre-tool-use", "claude-pre-tool-use-write"),
        ("pre-tool-use", "codex-pre-tool-use-patch"),
        ("post-tool-use", "claude-post-tool-use"),
        ("post-tool-use", "claude-post-tool-use-failure"),
        ("post-tool-use", "codex-post-tool-use"),
        ("session-start", "claude-session-start"),
        ("user-prompt-submit", "claude-user-prompt-submit"),
        ("stop-failure", "claude-stop-failure"),
        ("session-end", "claude-session-end"),
    ] {
        assert_eq!(ask(&env, &[event], &recorded(name, "a")), Value::Null, "{name}");
    }
    assert!(!env.root().join("state/sessions").exists(), "nothing was written");
}

/// A tool call on this file.
fn write_to(path: &str) -> Value {
    let mut input = recorded("claude-pre-tool-use-write", "a");
    input["tool_input"]["file_path"] = json!(path);
    input
}

#[test]
fn ralphs_own_files_are_protected() {
    let env = Env::new();
    let answer = ask(&env, &["pre-tool-use"], &write_to(".ralph/settings.json"));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().expect("a reason");
    assert!(reason.starts_with("blocked by ralph's guard (harness-files)"), "{reason}");
    let journal = env.root().join("state/p/runs/r/journal.jsonl").display().to_string();
    assert_eq!(
        ask(&env, &["pre-tool-use"], &write_to(&journal))["hookSpecificOutput"]["permissionDecision"],
        "deny"
    );
    let mut patch = recorded("codex-pre-tool-use-patch", "a");
    patch["tool_input"]["command"] =
        json!("*** Begin Patch\n*** Update File: .ralph-active\n*** End Patch\n");
    assert_eq!(ask(&env, &["pre-tool-use"], &patch)["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn the_plugin_judges_only_in_loops() {
    let env = Env::new();
    let scope = ["pre-tool-use", "--in-loop-only"];
    let mut input = write_to(&env.path(".ralph/settings.json").display().to_string());
    input["cwd"] = json!(env.project());
    assert_eq!(ask(&env, &scope, &input), Value::Null);
    env.write(".ralph-active", "not JSON");
    assert_eq!(ask(&env, &scope, &input), Value::Null);
    // No process has this number.
    env.write(".ralph-active", "{\"pid\": 2147483647}");
    assert_eq!(ask(&env, &scope, &input), Value::Null);
    env.write(".ralph-active", &format!("{{\"pid\": {}}}", std::process::id()));
    assert_eq!(ask(&env, &scope, &input)["hookSpecificOutput"]["permissionDecision"], "deny");
    // Ralph's own hooks are there already.
    let env = env.variable("RALPH_RUN_ID", "20260101-000000-0000");
    assert_eq!(ask(&env, &scope, &input), Value::Null);
}

#[test]
fn the_project_of_a_loop_is_guarded_wherever_the_agent_goes() {
    let env = Env::new();
    env.ralph(&["session", "start", "--session-id", "a", "-m", "3", "Work."]).exits(0);
    fs::create_dir_all(env.path("sub")).expect("a folder");
    let judged = |env: &Env, folder: &Path, command: &str| {
        let mut input = recorded("claude-pre-tool-use-bash", "a");
        input["cwd"] = json!(folder);
        input["tool_input"] = json!({"command": command});
        ask(env, &["pre-tool-use"], &input)["hookSpecificOutput"]["permissionDecision"] == "deny"
    };
    assert!(judged(&env, Path::new("/"), "rm -rf etc"));
    assert!(judged(&env, env.root(), "rm -rf home"));
    assert!(!judged(&env, &env.path("sub"), "rm -rf ../other"));
    // A run says so by itself.
    env.ralph(&["session", "cancel", "--session-id", "a"]).exits(0);
    let project = env.project().to_str().expect("text").to_owned();
    let env = env.variable("RALPH_PROJECT", &project);
    assert!(judged(&env, Path::new("/"), "rm -rf etc"));
    assert!(!judged(&env, &env.path("sub"), "rm -rf ../other"));
}

/// A transcript that says that so many tokens are used, and a hook that is told of it.
fn used(env: &Env, name: &str, tokens: u64) -> Value {
    let line = json!({
        "type": "assistant",
        "isSidechain": false,
        "message": {"model": "claude-sonnet-4-5", "usage": {
            "input_tokens": 5, "cache_read_input_tokens": tokens - 10, "output_tokens": 5,
        }},
    });
    let after = json!({"type": "attachment", "content": "x".repeat(100_000)});
    env.write(name, &format!("{line}\n{after}\n{{\"torn"));
    let mut input = recorded("claude-post-tool-use", "a");
    input["transcript_path"] = json!(env.path(name));
    input["cwd"] = json!(env.project());
    input
}

/// What the agent is told when so much of 200,000 tokens is used.
fn told(env: &Env, percent: u64) -> Option<String> {
    let input = used(env, "transcript.jsonl", percent * 2000);
    let answer = ask(env, &["post-tool-use"], &input);
    Some(answer["hookSpecificOutput"]["additionalContext"].as_str()?.to_owned())
}

#[test]
fn the_context_is_announced_once_per_threshold() {
    let env = Env::new();
    let mut said = Vec::new();
    for percent in [10, 49, 50, 55, 59, 60, 61, 72, 80, 89, 90, 99] {
        said.extend(told(&env, percent).map(|text| (percent, text)));
    }
    let at: Vec<u64> = said.iter().map(|(percent, _)| *percent).collect();
    assert_eq!(at, [50, 60, 72, 80, 90]);
    let severity: Vec<&str> = said.iter().filter_map(|(_, text)| text.split(':').next()).collect();
    assert_eq!(severity, ["NOTICE", "NOTICE", "WARNING", "WARNING", "CRITICAL"]);
    assert!(said[2].1.contains("72% of the context window is used (144000 of 200000 tokens)"), "{said:?}");
}

#[test]
fn a_jump_gives_one_alert_and_no_older_ones_after_it() {
    let env = Env::new();
    env.write("ralph/tasks.json", "{}");
    assert_eq!(told(&env, 40), None);
    let text = told(&env, 95).expect("an alert");
    assert!(text.starts_with("CRITICAL: 95%") && text.contains("tasks.json"), "{text}");
    for percent in [96, 50, 70, 99] {
        assert_eq!(told(&env, percent), None, "{percent}");
    }
}

#[test]
fn alerts_know_where_the_stories_are() {
    let env = Env::new();
    env.write("plan/work/tasks.json", "{}");
    env.write(
        ".ralph-active",
        r#"{"timestamp": "", "pid": 1, "max_iterations": 1, "mode": "direct", "skipReview": false, "reviewCap": 5, "ralphDir": "plan/work"}"#,
    );
    let text = told(&env, 95).expect("an alert");
    assert!(text.contains("create tasks in tasks.json"), "{text}");
}

#[test]
fn a_conversation_rearms_only_itself() {
    let env = Env::new();
    let input = used(&env, "transcript.jsonl", 190_000);
    let mut other = input.clone();
    other["session_id"] = json!("b");
    for input in [&input, &other] {
        assert_ne!(ask(&env, &["post-tool-use"], input), Value::Null);
        assert_eq!(ask(&env, &["post-tool-use"], input), Value::Null);
    }
    ask(&env, &["session-start"], &recorded("claude-session-start", "a"));
    assert_ne!(ask(&env, &["post-tool-use"], &input), Value::Null);
    assert_eq!(ask(&env, &["post-tool-use"], &other), Value::Null);
}

#[test]
fn the_window_can_be_given() {
    let env = Env::new().variable("CLAUDE_CONTEXT_WINDOW", "1000000");
    assert_eq!(told(&env, 95), None);
    let env = Env::new().variable("CLAUDE_CONTEXT_WINDOW", "20000");
    assert!(told(&env, 5).expect("an alert").contains("(10000 of 20000 tokens)"));
    let env = Env::new().variable("CLAUDE_CONTEXT_WINDOW", "much");
    assert!(told(&env, 60).expect("an alert").contains("of 200000"));
}

#[test]
fn a_transcript_without_figures_is_judged_by_its_size() {
    let env = Env::new();
    let mut input = used(&env, "transcript.jsonl", 10);
    env.write("transcript.jsonl", &"x".repeat(400_000));
    let answer = ask(&env, &["post-tool-use"], &input);
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("an alert");
    assert!(text.starts_with("NOTICE: 50%"), "{text}");
    input["transcript_path"] = json!("/nowhere/at/all");
    assert_eq!(ask(&env, &["post-tool-use"], &input), Value::Null);
    input["transcript_path"] = json!(env.project());
    assert_eq!(ask(&env, &["post-tool-use"], &input), Value::Null);
}

#[test]
fn the_plugin_says_nothing_about_context_outside_loops() {
    let env = Env::new();
    let input = used(&env, "transcript.jsonl", 190_000);
    assert_eq!(ask(&env, &["post-tool-use", "--in-loop-only"], &input), Value::Null);
    env.write(".ralph-active", &format!("{{\"pid\": {}}}", std::process::id()));
    assert_ne!(ask(&env, &["post-tool-use", "--in-loop-only"], &input), Value::Null);
}

/// What an agent of this name is started with.
fn arguments(name: &str, flags: &[&str]) -> String {
    let env =
        Env::new().agent(name, "cat >/dev/null; printf '%s\\n' \"$@\" >arguments; env >variables; exit 1");
    env.run(&[&["--retries", "0"], flags].concat()).exits(4);
    format!("{}{}", env.read("arguments"), env.read("variables"))
}

#[test]
fn agents_that_ralph_starts_carry_its_hooks() {
    for (name, wanted) in [
        ("claude", ["--include-hook-events", "\"onFailure\":\"block\"", "\"disableAllHooks\":false"]),
        ("codex", ["--dangerously-bypass-hook-trust", "hooks.PreToolUse=[", "hooks.PostToolUse=["]),
    ] {
        let all = arguments(name, &[]);
        let call = "/bin/ralph hook pre-tool-use".to_owned();
        for wanted in wanted.into_iter().chain([&*call, "RALPH_SPOOL=", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0"])
        {
            assert!(all.contains(wanted), "{wanted} is not in\n{all}");
        }
        assert!(!arguments(name, &["--no-guard"]).contains("hook"), "{name}");
    }
    assert!(!arguments("gemini", &[]).contains("hook"));
}

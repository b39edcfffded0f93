//! The stop hook in a stories loop: what ralph would object to after the turn, the agent hears while it can mend it.

use std::fmt::Write;

use serde_json::Value;

use super::{list, project, story, submitted};
use crate::env::{Env, RALPH};

const STREAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures/claude/hooks_judge.ndjson");

/// A turn of an agent with hooks: between these commands it tries to stop. Returns what the hook answered each time.
fn answers(commands: &[&str]) -> (Env, Vec<Value>) {
    answers_on(&list(&[story("US-1")]), commands)
}

fn answers_on(text: &str, commands: &[&str]) -> (Env, Vec<Value>) {
    let mut script = "cat >/dev/null; out=$HOME/out; mkdir -p \"$out\"\n".to_owned();
    // The stream has one call that ran.
    let call = r#"{"session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"echo hi"}}"#;
    writeln!(script, "printf '%s' '{call}' | {RALPH} hook pre-tool-use >/dev/null").expect("a string");
    let stop = format!("printf '{{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"}}' | {RALPH} hook stop");
    for (number, command) in commands.iter().enumerate() {
        let line = format!("{command}\n{stop} >\"$out/{number}\"\n");
        script.push_str(&line);
    }
    let env = project(text).agent("claude", &format!("{script}cat '{STREAM}'"));
    env.ralph(&["stories", "--max-iterations", "1"]).exits(1);
    let read = |number: usize| {
        let text = std::fs::read(env.root().join(format!("home/out/{number}"))).expect("an answer");
        serde_json::from_slice(&text).unwrap_or(Value::Null)
    };
    let answers = (0..commands.len()).map(read).collect();
    (env, answers)
}

#[test]
fn everything_is_checked_before_the_end() {
    let cheat = list(&[super::approved("US-1", 1)]);
    let right = list(&[submitted("US-1", 0)]);
    let put = |text: &str| {
        format!("printf '%s' '{text}' >ralph/tasks.json && git add -A && git commit --quiet -m x")
    };
    let commands =
        ["echo {} >ralph/tasks.json", &put(&cheat), &put(&right), "echo x >left.txt", "rm left.txt"];
    let (env, answers) = answers(&commands);
    let reason = |number: usize| answers[number]["reason"].as_str().unwrap_or_default();
    assert!(reason(0).contains("ralph/tasks.json:1"), "the list is damaged: {}", reason(0));
    assert!(reason(1).contains("illegal transition"), "it approves itself: {}", reason(1));
    assert!(reason(3).contains("not committed"), "a file is left: {}", reason(3));
    assert_eq!((&answers[2], &answers[4]), (&Value::Null, &Value::Null));
    let held = env.events("turn_ended")[0]["hooks"]["held"].as_array().map(Vec::len);
    assert_eq!(held, Some(3));
}

#[test]
fn a_missing_copy_of_the_list_is_said_and_traps_no_one() {
    let cheat = list(&[super::approved("US-1", 1)]);
    let put = format!("printf '%s' '{cheat}' >ralph/tasks.json && git add -A && git commit --quiet -m x");
    let (env, answers) = answers(&[&format!("rm \"$RALPH_SPOOL/../tasks.json\"\n{put}"), "echo x >left.txt"]);
    let said = answers[0]["systemMessage"].as_str().unwrap_or_default();
    assert!(said.contains("is missing or was changed"), "{said}");
    assert_eq!(answers[0]["decision"], Value::Null);
    // The other checks are made, and ralph itself has a copy of its own.
    assert_eq!(answers[1]["decision"], "block");
    assert!(!env.events("tasks_judged")[0]["broken"].as_array().expect("rules").is_empty());
    assert_eq!(super::stories(&env)[0]["passes"], false);
}

#[test]
fn an_agent_that_cannot_mend_it_is_let_go_in_the_end() {
    let (_, answers) = answers(&["echo x >left.txt", ":", ":", ":", ":", ":"]);
    assert!(answers[..5].iter().all(|answer| answer["decision"] == "block"), "{answers:?}");
    assert_eq!(answers[5], Value::Null);
}

#[test]
fn a_review_that_says_nothing_is_not_over() {
    let approve = format!("{RALPH} stories approve US-1 && git add -A && git commit --quiet -m x");
    let (_, answers) = answers_on(&list(&[submitted("US-1", 0)]), &[":", "echo x >>ralph/prd.md", &approve]);
    let reason = |number: usize| answers[number]["reason"].as_str().unwrap_or_default();
    assert!(reason(0).contains("nothing changed; a review must"), "{}", reason(0));
    assert!(reason(1).contains("ralph/prd.md is read-only"), "{}", reason(1));
    assert!(!reason(2).contains("nothing changed") && reason(2).contains("prd.md"), "{}", reason(2));
}

//! The loop inside one conversation, driven through its hooks.

mod judged;

use std::{
    fs,
    time::{Duration, Instant},
};

use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use crate::{
    env::Env,
    hook::{ask, recorded},
};

pub(crate) const PROMISE: &str = "<promise>DONE</promise>";

/// A loop in the conversation `a`.
#[track_caller]
fn start(env: &Env, flags: &[&str]) -> String {
    let limit: &[&str] = if flags.contains(&"--max-iterations") { &[] } else { &["--max-iterations", "3"] };
    let args = ["session", "start", "--session-id", "a", "Fix the LLAMA."];
    env.ralph(&[&args, limit, flags].concat()).exits(0).stdout
}

/// The agent has used a tool.
#[track_caller]
fn work(env: &Env) {
    assert_eq!(
        ask(env, &["post-tool-use", "--in-loop-only"], &recorded("claude-post-tool-use", "a")),
        Value::Null
    );
}

/// The agent says something and tries to stop; returns what it is told if it must go on.
#[track_caller]
fn stop(env: &Env, says: &str) -> Option<String> {
    stop_of(env, "a", says)
}

#[track_caller]
fn stop_of(env: &Env, session: &str, says: &str) -> Option<String> {
    let mut input = recorded("claude-stop", session);
    input["last_assistant_message"] = json!(says);
    held(&ask(env, &["stop", "--in-loop-only"], &input))
}

pub(crate) fn held(answer: &Value) -> Option<String> {
    if answer["decision"] != "block" {
        return None;
    }
    Some(answer["reason"].as_str().expect("a reason").to_owned())
}

/// How the loops stand, the newest first.
#[track_caller]
pub(crate) fn loops(env: &Env) -> Vec<Value> {
    let printed = env.ralph(&["session", "status", "--json"]).exits(0).stdout;
    printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[track_caller]
fn status(env: &Env) -> String {
    loops(env)[0]["status"].as_str().expect("a status").to_owned()
}

#[test]
fn it_stops_on_the_promise() {
    let env = Env::new();
    let contract = start(&env, &[]);
    for said in ["Fix the LLAMA.", PROMISE, "match exactly", "do not output the promise", "at most 3 turns"] {
        assert!(contract.contains(said), "{contract}");
    }
    assert_eq!(status(&env), "ACTIVE");
    work(&env);
    assert_eq!(stop(&env, &format!("It is done. {PROMISE}")), None);
    assert_eq!(status(&env), "PROMISE_ACCEPTED");
    // The loop is over: the agent is not held any more.
    assert_eq!(stop(&env, "Anything."), None);
    assert_eq!(env.events("run_ended").len(), 1);
    assert!(env.newest_run().join("receipt.json").is_file(), "it has a receipt");
}

#[test]
fn it_blocks_an_end_without_the_promise() {
    let env = Env::new();
    start(&env, &[]);
    work(&env);
    let told = stop(&env, "I'm done").expect("it goes on");
    assert_eq!(
        told,
        "You attempted to end the loop, but you did not output the completion promise \
         `<promise>DONE</promise>`. Continue working on the original task below. Only output the promise when the \
         task is fully complete. Original task:\n\nFix the LLAMA."
    );
    assert_eq!(status(&env), "ACTIVE");
}

#[test]
fn it_ends_after_so_many_turns() {
    let env = Env::new();
    start(&env, &[]);
    work(&env);
    assert!(stop(&env, "One.").is_some());
    assert!(stop(&env, "Two.").is_some());
    assert_eq!(stop(&env, "Three."), None);
    assert_eq!(status(&env), "MAX_ITERATIONS_REACHED");
    assert_eq!(stop(&env, "Four."), None);
    assert_eq!(env.events("turn_ended").len(), 3);
}

#[test]
fn a_promise_without_work_is_refused() {
    let env = Env::new();
    start(&env, &[]);
    let told = stop(&env, PROMISE).expect("it goes on");
    let message = "Promise detected, but no tool calls/work were performed; you must actually complete the task \
                   before emitting the promise.";
    assert!(told.starts_with(message) && told.ends_with("Original task:\n\nFix the LLAMA."), "{told}");
    work(&env);
    assert_eq!(stop(&env, PROMISE), None);
    let log = &loops(&env)[0]["log"];
    assert_eq!(log[0], json!({"iteration": 1, "found": "promise rejected", "why": message}));
    assert_eq!(log[1], json!({"iteration": 2, "found": "promise accepted", "why": null}));
}

#[test]
fn a_promise_on_the_last_turn_counts() {
    let env = Env::new();
    start(&env, &["--max-iterations", "1"]);
    work(&env);
    assert_eq!(stop(&env, &format!("Well.\n\n{PROMISE}\n")), None);
    assert_eq!(status(&env), "PROMISE_ACCEPTED");
}

#[test]
fn only_the_promise_itself_counts() {
    for says in [
        "DONE",
        "all done",
        "<promise>done</promise>",
        "<promise> DONE </promise>",
        "<promise>DONE</promise",
        "It works: <response>DONE</response>",
        "<promise>\nDONE</promise>",
    ] {
        let env = Env::new();
        start(&env, &[]);
        work(&env);
        assert!(stop(&env, says).is_some(), "{says}");
    }
    for says in [
        "<promise>NO</promise> well, <promise>DONE</promise>",
        "```\n<promise>DONE</promise>\n```",
        "It works.\n\n<response>DONE</response>",
    ] {
        let env = Env::new();
        start(&env, &[]);
        work(&env);
        assert_eq!(stop(&env, says), None, "{says}");
    }
}

#[test]
fn policies_for_promises_without_work() {
    for (flags, accepted) in [
        (["--on-promise-no-work", "accept"], true),
        (["--on-promise-no-work", "warn"], true),
        (["--on-promise-no-work", "reject"], false),
        (["--min-tool-calls", "0"], true),
        (["--min-tool-calls", "2"], false),
    ] {
        let env = Env::new();
        start(&env, &flags);
        if flags[0] == "--min-tool-calls" && flags[1] == "2" {
            work(&env);
        }
        assert_eq!(stop(&env, PROMISE).is_none(), accepted, "{flags:?}");
        let warned = env.events("warned").len();
        assert_eq!(warned, usize::from(flags[1] == "warn"), "{flags:?}");
    }
}

#[test]
fn a_save_of_the_users_is_no_work_of_the_agents() {
    for host in ["claude", "codex"] {
        let env = Env::new().with_git();
        start(&env, &[]);
        env.write("notes.txt", "the user saves a file meanwhile\n");
        let mut input = recorded(&format!("{host}-stop"), "a");
        input["last_assistant_message"] = json!(PROMISE);
        let told = held(&ask(&env, &["stop", "--in-loop-only"], &input)).expect(host);
        assert!(told.starts_with("Promise detected, but no tool calls/work"), "{host}: {told}");
        ask(&env, &["post-tool-use", "--in-loop-only"], &recorded(&format!("{host}-post-tool-use"), "a"));
        assert_eq!(held(&ask(&env, &["stop", "--in-loop-only"], &input)), None, "{host}");
    }
}

#[test]
fn where_no_one_counts_a_changed_tree_is_work() {
    let env = Env::new().with_git();
    start(&env, &[]);
    let mut input = recorded("qwen-stop", "a");
    input["last_assistant_message"] = json!(PROMISE);
    assert!(held(&ask(&env, &["stop"], &input)).is_some());
    env.write("new.txt", "new\n");
    assert_eq!(held(&ask(&env, &["stop"], &input)), None);
}

#[test]
fn failing_tools_are_work_and_the_start_itself_is_none() {
    let env = Env::new();
    start(&env, &[]);
    let mut input = recorded("claude-post-tool-use", "a");
    input["tool_input"]["command"] = json!("/usr/bin/ralph session start --max-iterations 3 x");
    ask(&env, &["post-tool-use", "--in-loop-only"], &input);
    assert!(stop(&env, PROMISE).is_some());
    ask(&env, &["post-tool-use", "--in-loop-only"], &recorded("claude-post-tool-use-failure", "a"));
    assert_eq!(stop(&env, PROMISE), None);
}

#[test]
fn another_conversation_stops_freely() {
    let env = Env::new();
    start(&env, &[]);
    assert_eq!(stop_of(&env, "b", "Bye."), None);
    assert!(stop(&env, "Bye.").is_some());
}

#[test]
fn codex_is_held_as_well() {
    let env = Env::new();
    start(&env, &[]);
    let input = recorded("codex-stop", "a");
    assert!(held(&ask(&env, &["stop"], &input)).is_some());
}

#[test]
fn codex_is_addressed_as_codex() {
    let env = Env::new();
    let mut input = recorded("codex-user-prompt-submit", "a");
    (input["prompt"], input["cwd"]) =
        (json!("$ralph-loop Fix it. --max-iterations 12"), json!(env.project()));
    let answer = ask(&env, &["user-prompt-submit", "--in-loop-only"], &input);
    let said = answer["systemMessage"].as_str().expect("a note");
    assert!(said.contains("$cancel-ralph ends it") && !said.contains("Claude Code"), "{said}");
    assert_eq!(env.events("run_started")[0]["setup"]["agent"]["command"], "codex");
    // Codex shows the agent the words of a hook as XML.
    let told = held(&ask(&env, &["stop"], &recorded("codex-stop", "a"))).expect("it goes on");
    assert!(told.ends_with("In the promise, write the characters themselves.)"), "{told}");
    start(&env, &[]);
    assert!(!stop(&env, "Hm.").expect("it goes on").contains("entities"));
    input["prompt"] = json!("$cancel-ralph");
    ask(&env, &["user-prompt-submit", "--in-loop-only"], &input);
    assert_eq!(status(&env), "CANCELLED");
}

#[test]
fn a_subagent_ends_nothing() {
    let env = Env::new();
    start(&env, &[]);
    work(&env);
    assert_eq!(ask(&env, &["stop"], &recorded("claude-subagent-stop", "a")), Value::Null);
    assert_eq!(env.events("turn_ended").len(), 0);
}

#[test]
fn background_work_is_not_an_end() {
    let env = Env::new();
    start(&env, &["--max-iterations", "1"]);
    let mut input = recorded("claude-stop", "a");
    input["background_tasks"] = json!([{"id": "x", "status": "running"}]);
    assert_eq!(ask(&env, &["stop"], &input), Value::Null);
    assert_eq!(status(&env), "ACTIVE");
    input["background_tasks"] = json!([{"id": "x", "status": "completed"}]);
    ask(&env, &["stop"], &input);
    assert_eq!(status(&env), "MAX_ITERATIONS_REACHED");
}

#[test]
fn damaged_state_is_said_and_lets_go() {
    let env = Env::new();
    start(&env, &[]);
    fs::write(env.newest_run().join("journal.jsonl"), "garbage\n{}\n").expect("a journal");
    let answer = ask(&env, &["stop"], &recorded("claude-stop", "a"));
    let said = answer["systemMessage"].as_str().expect("a message");
    assert!(said.contains("cannot be used"), "{said}");
    assert_eq!(stop(&env, "Again."), None);
    // The record is gone altogether.
    start(&env, &[]);
    fs::remove_dir_all(env.newest_run()).expect("a run");
    assert!(ask(&env, &["stop"], &recorded("claude-stop", "a"))["systemMessage"].is_string());
    for event in ["session-end", "stop-failure", "session-start"] {
        start(&env, &[]);
        fs::write(env.newest_run().join("journal.jsonl"), "").expect("a journal");
        let mut input = recorded("claude-session-start", "a");
        input["source"] = json!("resume");
        ask(&env, &[event], &input);
        assert_eq!(stop(&env, "Again."), None, "{event}");
    }
}

#[test]
fn it_can_be_cancelled_from_elsewhere() {
    let env = Env::new();
    start(&env, &[]);
    work(&env);
    env.ralph(&["session", "cancel"]).exits(0).prints("CANCELLED");
    assert_eq!(stop(&env, "Not done at all."), None);
    assert_eq!(status(&env), "CANCELLED");
    env.ralph(&["session", "cancel"]).exits(2).says("no conversation is in a loop");
    env.ralph(&["session", "cancel", "--session-id", "zz"]).exits(2).says("is not in a loop");
    start(&env, &[]);
    env.ralph(&["stop"]).exits(0).prints("cancelled run");
    assert_eq!(status(&env), "CANCELLED");
}

#[test]
fn starting_again_resets() {
    let env = Env::new();
    start(&env, &[]);
    work(&env);
    assert!(stop(&env, "One.").is_some());
    start(&env, &[]);
    let all: Vec<String> = loops(&env).iter().map(|it| it["status"].to_string()).collect();
    assert_eq!(all, ["\"ACTIVE\"", "\"CANCELLED\""]);
    // The tool call of the loop before does not count.
    assert!(stop(&env, PROMISE).is_some());
    assert!(stop(&env, "Two.").is_some());
    assert_eq!(stop(&env, "Three."), None);
}

#[test]
fn a_resumed_conversation_is_not_trapped() {
    let env = Env::new();
    start(&env, &[]);
    ask(&env, &["session-end"], &recorded("claude-session-end", "a"));
    assert_eq!(status(&env), "CANCELLED");
    assert_eq!(stop(&env, "Hello again."), None);
    // It was killed, so that the agent did not say goodbye.
    start(&env, &[]);
    let mut input = recorded("claude-session-start", "a");
    for (source, status_then) in [("startup", "ACTIVE"), ("compact", "ACTIVE"), ("resume", "CANCELLED")] {
        input["source"] = json!(source);
        ask(&env, &["session-start"], &input);
        assert_eq!(status(&env), status_then, "{source}");
    }
}

#[test]
fn failures_of_the_service_use_up_no_turn_and_do_not_go_on_for_ever() {
    let env = Env::new();
    start(&env, &[]);
    let failure = recorded("claude-stop-failure", "a");
    ask(&env, &["stop-failure"], &failure);
    assert_eq!(loops(&env)[0]["iteration"], 1);
    assert!(stop(&env, "One.").is_some());
    for _ in 0..4 {
        assert_eq!(status(&env), "ACTIVE");
        ask(&env, &["stop-failure"], &failure);
    }
    assert_eq!(status(&env), "STOPPED");
    assert_eq!(stop(&env, "Two."), None);
}

/// A line of a transcript, so many seconds from now.
fn line(seconds: i64, text: &str) -> String {
    let at = Timestamp::now() + seconds.seconds();
    json!({
        "type": "assistant",
        "timestamp": format!("{at:.3}"),
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
    })
    .to_string()
}

#[test]
fn only_the_last_message_can_promise() {
    let env = Env::new();
    let announced = line(100, &format!("I will output {PROMISE} when finished."));
    start(&env, &["--max-iterations", "9"]);
    work(&env);
    let mut input = recorded("claude-stop", "a");
    input["transcript_path"] = json!(env.path("transcript.jsonl"));
    env.write("transcript.jsonl", &format!("{announced}\n{}\n", line(101, "Not yet.")));
    assert!(held(&ask(&env, &["stop"], &input)).is_some(), "it was only announced");
    env.write("transcript.jsonl", &format!("{announced}\n"));
    input["last_assistant_message"] = json!("");
    assert!(held(&ask(&env, &["stop"], &input)).is_some(), "the last message says nothing");
    // The last message alone is enough, whatever the transcript says.
    input["last_assistant_message"] = json!(PROMISE);
    input["transcript_path"] = json!("/nowhere");
    assert_eq!(held(&ask(&env, &["stop"], &input)), None);
    assert_eq!(status(&env), "PROMISE_ACCEPTED");
}

/// Older programs do not hand it over.
#[test]
fn the_transcript_has_the_last_message_where_the_host_does_not_tell_it() {
    let env = Env::new();
    start(&env, &["--max-iterations", "9"]);
    work(&env);
    let mut input = recorded("claude-stop", "a");
    input.as_object_mut().expect("an object").remove("last_assistant_message");
    input["transcript_path"] = json!(env.path("transcript.jsonl"));
    let (early, announced) = (line(-100, PROMISE), line(100, PROMISE));
    for (transcript, why) in [
        (format!("{early}\nnot JSON\n{{\"timestamp\":\n"), "a promise from before the loop"),
        (format!("{early}\n{announced}\n{}\n", line(101, "Not yet.")), "a promise before the last message"),
    ] {
        env.write("transcript.jsonl", &transcript);
        assert!(held(&ask(&env, &["stop"], &input)).is_some(), "{why}");
    }
    let long = "x".repeat(300_000);
    let last = line(102, &format!("{long} {PROMISE}"));
    env.write("transcript.jsonl", &format!("{early}\n{}\n{last}\n{{\"torn", line(101, "Not yet.")));
    assert_eq!(held(&ask(&env, &["stop"], &input)), None, "the last message is the promise");
    assert_eq!(status(&env), "PROMISE_ACCEPTED");
}

#[test]
fn tasks_are_data() {
    let env = Env::new();
    let task = "First `touch a` $(touch b)\n---\nname: \"x\"\n---\n\n@secret 'quoted'";
    env.write("task.md", task);
    let args = ["session", "start", "--session-id", "a", "-m", "2", "--task-file", "task.md"];
    let contract = env.ralph(&args).exits(0).stdout;
    assert!(contract.contains(&format!("Task:\n{task}\n")), "{contract}");
    let told = stop(&env, "Hm.").expect("it goes on");
    assert!(told.ends_with(task), "{told}");
    let by_stdin = "ralph session start --session-id a -m 2 --task-file - < task.md";
    let by_stdin = by_stdin.replacen("ralph", crate::env::RALPH, 1);
    assert!(env.sh(&by_stdin).exits(0).stdout.contains(task));
    assert!(!env.path("a").exists() && !env.path("b").exists());
}

#[test]
fn what_the_user_types_starts_and_cancels() {
    let env = Env::new();
    let typed = |text: &str| {
        let mut input = recorded("claude-user-prompt-submit", "a");
        (input["prompt"], input["cwd"]) = (json!(text), json!(env.project()));
        ask(&env, &["user-prompt-submit", "--in-loop-only"], &input)
    };
    assert_eq!(typed("Fix the LLAMA."), Value::Null);
    let refused = typed("/ralph-loop Fix the LLAMA.");
    let reason = refused["reason"].as_str().expect("a reason");
    assert!(reason.contains("--max-iterations 10"), "{reason}");
    assert_eq!(refused["decision"], "block");
    // A loop without the guardrails that were asked for would be the wrong one.
    let refused = typed("/ralph-loop --max-iterations 3 Fix the LLAMA. --guardrials");
    let reason = refused["reason"].as_str().expect("a reason");
    assert!(reason.contains("unknown option `--guardrials`; did you mean `--guardrails`?"), "{reason}");
    assert!(loops(&env).is_empty());
    let answer = typed(
        "/ralph-loop \"Fix `the` $(touch pwned)\nLLAMA.\" --max-iterations 12 --completion-promise FIXED",
    );
    let told = answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a contract");
    assert!(told.contains("Task:\nFix `the` $(touch pwned)\nLLAMA.\n"), "{told}");
    assert!(told.contains("<promise>FIXED</promise>"), "{told}");
    let said = answer["systemMessage"].as_str().expect("a note");
    for note in ["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0", "/cancel-ralph ends it", "Esc stops the agent at once"]
    {
        assert!(said.contains(note), "{said}");
    }
    assert!(!env.path("pwned").exists());
    let told = stop(&env, PROMISE).expect("another promise");
    assert!(told.contains("<promise>FIXED</promise>") && told.ends_with("LLAMA."), "{told}");
    let answer = typed("/cancel-ralph");
    assert!(
        answer["hookSpecificOutput"]["additionalContext"].as_str().expect("a note").contains("cancelled")
    );
    assert_eq!(stop(&env, "Bye."), None);
    assert_eq!(status(&env), "CANCELLED");
    // The other command asks for full effort each time.
    typed("/ralph:ulw-loop --max-iterations 3 Fix it.");
    assert!(stop(&env, "Bye.").expect("it goes on").starts_with("ULTRAWORK MODE"));
}

/// An operation of Claude Code's queue, so many seconds from now.
fn queued(seconds: i64, operation: &str, content: &str) -> String {
    let at = Timestamp::now() + seconds.seconds();
    let mut line =
        json!({"type": "queue-operation", "operation": operation, "timestamp": format!("{at:.3}")});
    if !content.is_empty() {
        line["content"] = json!(content);
    }
    format!("{line}\n")
}

#[test]
fn a_cancel_in_the_hosts_queue_ends_the_loop_at_the_next_stop() {
    let env = Env::new();
    start(&env, &["--max-iterations", "9"]);
    work(&env);
    let mut input = recorded("claude-stop", "a");
    input["transcript_path"] = json!(env.path("transcript.jsonl"));
    for (queue, why) in [
        (queued(-100, "enqueue", "/cancel-ralph"), "it was meant for an earlier loop"),
        (queued(1, "enqueue", "Do not type /cancel-ralph."), "it is only spoken of"),
        (queued(1, "enqueue", "/cancel-ralph") + &queued(2, "popAll", "/cancel-ralph"), "it was taken back"),
        (queued(1, "enqueue", "/cancel-ralph") + &queued(2, "dequeue", ""), "it was read already"),
    ] {
        env.write("transcript.jsonl", &queue);
        assert!(held(&ask(&env, &["stop"], &input)).is_some(), "{why}");
    }
    env.write("transcript.jsonl", &queued(1, "enqueue", "/ralph:cancel-ralph"));
    // Also where the agent promises at the same time, or something runs in the background.
    input["last_assistant_message"] = json!(PROMISE);
    input["background_tasks"] = json!([{"id": "x", "status": "running"}]);
    let answer = ask(&env, &["stop"], &input);
    assert_eq!(held(&answer), None);
    assert!(answer["systemMessage"].as_str().expect("a note").contains("CANCELLED"), "{answer}");
    assert_eq!(status(&env), "CANCELLED");
    // Then the host reads the command, which was obeyed already; a second one was not.
    let mut typed = recorded("claude-user-prompt-submit", "a");
    (typed["prompt"], typed["cwd"]) = (json!("/cancel-ralph"), json!(env.project()));
    for told in ["is cancelled", "There is no ralph loop"] {
        let answer = ask(&env, &["user-prompt-submit", "--in-loop-only"], &typed);
        assert!(answer["systemMessage"].as_str().expect("a note").contains(told), "{answer}");
    }
}

#[test]
fn guardrails_check_the_promise() {
    let env = Env::new().guardrails(&["test -e mended || { echo the LLAMA limps; exit 3; }"]);
    start(&env, &["--guardrails"]);
    work(&env);
    assert!(stop(&env, "No promise, so nothing is checked.").is_some());
    assert_eq!(env.events("gate_ended").len(), 0);
    let told = stop(&env, PROMISE).expect("it goes on");
    assert!(told.contains("the LLAMA limps") && told.contains("failed with exit code 3"), "{told}");
    env.write("mended", "");
    assert_eq!(stop(&env, PROMISE), None);
    assert_eq!(status(&env), "PROMISE_ACCEPTED");
    env.nothing_left();
    let env = Env::new();
    let args = ["session", "start", "--session-id", "a", "-m", "3", "--guardrails", "x"];
    env.ralph(&args).exits(2).says("the settings have no guardrails");
}

#[test]
fn a_promise_with_findings_is_called_so_until_a_person_accepts_it() {
    let env = Env::new();
    start(&env, &[]);
    work(&env);
    let run = loops(&env)[0]["run"].as_str().expect("a run").to_owned();
    // What only the person who judges the loop may type.
    let mut typed = env.command(crate::env::RALPH);
    env.start_command(typed.args(["accept", &run]).env("RALPH_RUN_ID", &run)).wait().exits(2);
    let mut input = recorded("claude-stop", "a");
    input["last_assistant_message"] = json!(PROMISE);
    let answer = ask(&env, &["stop", "--in-loop-only"], &input);
    assert_eq!(held(&answer), None);
    let said = answer["systemMessage"].as_str().expect("a note");
    assert!(said.contains("PROMISE_ACCEPTED_WITH_FINDINGS"), "{said}");
    assert_eq!(status(&env), "PROMISE_ACCEPTED_WITH_FINDINGS");
    assert_eq!(loops(&env)[0]["log"][0]["found"], "promise accepted");
    env.ralph(&["accept", &run]).exits(0);
    assert_eq!(status(&env), "PROMISE_ACCEPTED");
}

/// A host that waits no longer takes silence for consent.
#[test]
fn guardrails_are_ended_before_the_host_waits_no_longer() {
    let env = Env::new().guardrails(&["echo slow; sleep 100", "echo never > never.txt"]);
    start(&env, &["--guardrails"]);
    work(&env);
    let mut input = recorded("claude-stop", "a");
    input["last_assistant_message"] = json!(PROMISE);
    let began = Instant::now();
    let answer = ask(&env, &["stop", "--host-timeout", "4", "--in-loop-only"], &input);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    let told = held(&answer).expect("it goes on");
    assert!(told.contains("was ended after its limit of") && told.contains("slow"), "{told}");
    assert!(!env.path("never.txt").exists());
    // No time is left at all.
    let told = held(&ask(&env, &["stop", "--host-timeout", "0"], &input)).expect("it goes on");
    assert!(told.contains("took all the time that the agent's program waits for ralph"), "{told}");
    assert_eq!(status(&env), "ACTIVE");
    env.nothing_left();
}

/// The host gives the command that starts a loop half a minute.
#[test]
fn no_guardrail_runs_at_the_start() {
    let env = Env::new().guardrails(&["touch ran.txt"]);
    start(&env, &["--guardrails"]);
    assert!(!env.path("ran.txt").exists());
    work(&env);
    assert_eq!(stop(&env, PROMISE), None);
    assert!(env.path("ran.txt").exists());
}

#[test]
fn only_agents_with_conversations_run_them() {
    let env = Env::new().agent("other", "echo hello");
    let args = ["session", "run", "-m", "2", "Fix it."];
    env.ralph(&args).exits(2).says("the agent `other` cannot continue a conversation").says("--agent claude");
}

/// A Claude Code that follows a shell script: messages come in one by one, each is answered.
const CLAUDE: &str = r#"
while read -r line; do
    turn=$((turn + 1))
    printf '%s\n' "$line" >> messages.txt
    echo '{"type":"system","subtype":"init","session_id":"s-1"}'
    if [ $turn = 2 ]; then
        echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},"parent_tool_use_id":null}'
    fi
    text="turn $turn"
    [ $turn = 3 ] && text="<promise>DONE</promise>"
    printf '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"%s"}]},"parent_tool_use_id":null}\n' "$text"
    echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"","usage":{"input_tokens":3,"output_tokens":2}}'
done
echo gone > gone.txt
"#;

#[test]
fn one_process_takes_one_message_after_the_other() {
    let env = Env::new().agent("claude", CLAUDE);
    env.ralph(&["session", "run", "-m", "5", "Fix it."]).exits(0);
    let messages = env.read("messages.txt");
    let messages: Vec<&str> = messages.lines().collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(
        messages[0].contains("STRICT REQUIREMENTS") && messages[1].contains("did not output"),
        "{messages:?}"
    );
    assert_eq!(env.read("gone.txt"), "gone\n", "it ended by itself");
    let turns = env.events("turn_ended");
    assert_eq!(
        turns.iter().map(|turn| turn["tools"].clone()).collect::<Vec<_>>(),
        [json!(0), json!(1), json!(0)]
    );
    assert!(turns.iter().all(|turn| turn["session"] == "s-1" && turn["usage"]["input"] == 3), "{turns:?}");
    env.ralph(&["session", "status"]).exits(0).prints("PROMISE_ACCEPTED").prints("turn 1: no promise");
    let kept = |name: &str| fs::read_to_string(env.newest_run().join("turns").join(name)).expect("a file");
    assert!(
        kept("0001.1/agent.ndjson").contains("turn 1") && !kept("0001.1/agent.ndjson").contains("turn 2")
    );
    assert!(
        kept("0002.1/agent.ndjson").contains("turn 2") && !kept("0002.1/agent.ndjson").contains("turn 1")
    );
    assert!(
        kept("0002.1/prompt.md").contains("did not output") && kept("0003.1/agent.ndjson").contains("DONE")
    );
    env.nothing_left();
}

#[test]
fn a_promise_that_is_only_announced_ends_no_conversation() {
    let said = |text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        let message = json!({"role": "assistant", "content": content});
        format!("echo '{}'\n", json!({"type": "assistant", "message": message, "parent_tool_use_id": null}))
    };
    let tool = r#"echo '{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]},"parent_tool_use_id":null}'"#;
    let script = format!(
        "while read -r line; do\n{}{tool}\n{}{}\ndone\n",
        said(&format!("I will output {PROMISE} when finished.")),
        said("Not yet."),
        r#"echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Not yet.","usage":{"input_tokens":3,"output_tokens":2}}'"#,
    );
    let env = Env::new().agent("claude", &script);
    env.ralph(&["session", "run", "-m", "2", "Fix it."]).exits(1);
    assert_eq!(
        env.events("turn_ended").iter().map(|turn| turn["claimed"].clone()).collect::<Vec<_>>(),
        [json!(false), json!(false)]
    );
}

#[test]
fn a_conversation_without_end_is_ended() {
    let env = Env::new().agent("claude", CLAUDE);
    env.ralph(&["session", "run", "-m", "2", "Fix it."]).exits(1);
    assert_eq!(env.read("messages.txt").lines().count(), 2);
    env.ralph(&["session", "status"]).exits(0).prints("MAX_ITERATIONS_REACHED");
    // A resume continues the same conversation, and with a fresh process.
    env.ralph(&["resume", "--max-iterations", "5"]).exits(0);
    let resumed = env.read("messages.txt");
    assert!(resumed.lines().nth(2).expect("a message").contains("did not output"), "{resumed}");
    env.nothing_left();
}

#[test]
fn the_conversation_is_found_by_the_agents_variables() {
    let env = Env::new();
    let args = ["session", "start", "-m", "3", "Fix it."];
    env.ralph(&args).exits(2).says("which conversation").says("--session-id");
    for name in ["CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID"] {
        let env = Env::new().variable(name, "a");
        env.ralph(&args).exits(0);
        assert!(stop(&env, "Bye.").is_some(), "{name}");
    }
}

#[test]
fn runs_of_this_kind_are_shown_and_not_resumed() {
    let env = Env::new();
    start(&env, &[]);
    env.ralph(&["status"]).exits(0).prints("running").prints("session").prints("ralph stop");
    env.ralph(&["resume"]).exits(2).says("lives inside a conversation");
    env.ralph(&["session", "status"]).exits(0).prints("ACTIVE").prints("Fix the LLAMA.");
    env.ralph(&["session", "cancel"]).exits(0);
    let shown = env.ralph(&["status"]).exits(0).prints("interrupted");
    assert!(!shown.stdout.contains("ralph resume"), "{}", shown.stdout);
    env.ralph(&["logs"]).exits(0).prints("cancelled by the user");
}

#[test]
fn a_mistyped_option_is_no_task() {
    let env = Env::new();
    for (typed, near) in [
        ("--guardrials", "--guardrails"),
        ("--max-iteration", "--max-iterations"),
        ("--ultrawerk", "--ultrawork"),
    ] {
        for args in [
            &["session", "start", "--session-id", "a", "-m", "3", typed][..],
            &["session", "run", "-m", "3", typed],
        ] {
            env.ralph(args).exits(2).says(&format!("unexpected argument '{typed}'")).says(near);
        }
    }
    assert!(env.runs().is_empty());
    // A task may begin with a dash, where it is said that it is one.
    env.ralph(&["session", "start", "--session-id", "a", "-m", "3", "--", "--guardrials is misspelt"])
        .exits(0);
}

//! When the loop goes on, when it ends, and whose word counts.

use serde_json::{Value, json};

use crate::env::{Env, done, say, shell};

const CLAIM: &str = "<response>DONE</response>";

/// One turn with these steps: complete, or not.
#[track_caller]
fn check(steps: Value, complete: bool) {
    let env = Env::new().turns(json!([steps]));
    env.run(&["-m", "1"]).exits(i32::from(!complete));
    assert_eq!(env.events("turn_ended")[0]["claimed"], complete);
    assert_eq!(env.prompts(), ["Do it."]);
}

#[track_caller]
fn check_words(words: &str, complete: bool) {
    check(json!([say(words)]), complete);
}

fn assistant(blocks: &Value) -> Value {
    json!({"event": {
        "type": "assistant",
        "message": {"role": "assistant", "content": blocks},
        "parent_tool_use_id": null,
    }})
}

fn echo(text: &str) -> Value {
    json!({"event": {"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": null}})
}

#[test]
fn an_echoed_prompt_claims_nothing() {
    check(json!([echo(CLAIM), say("I will keep working")]), false);
    let blocks = json!([{"type": "text", "text": CLAIM}]);
    let echo_of_blocks = json!({"event": {"type": "user", "message": {"role": "user", "content": blocks}}});
    check(json!([echo_of_blocks, say("I will keep working")]), false);
    check(json!([echo(CLAIM), say(CLAIM)]), true);
}

#[test]
fn only_own_words_claim() {
    check(json!([{"tool": {"name": "Read", "output": CLAIM}}]), false);
    check(json!([{"tool": {"name": "Bash", "input": {"command": format!("echo {CLAIM}")}}}]), false);
    check(json!([{"think": CLAIM}, say("Hm.")]), false);
    check(json!([{"complain": CLAIM}, say("Hm.")]), false);
    let by_subagent = json!({"event": {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": CLAIM}]},
        "parent_tool_use_id": "tool_9",
    }});
    check(json!([by_subagent, say("Hm.")]), false);
}

#[test]
fn a_result_without_messages_claims() {
    check(json!([{"result": {"result": CLAIM}}]), true);
}

#[test]
fn a_claim_may_come_in_pieces() {
    let line = assistant(&json!([{"type": "text", "text": CLAIM}]))["event"].to_string() + "\n";
    let (one, other) = line.split_at(line.find("DO").expect("the claim") + 1);
    check(json!([{"print": one}, shell("true"), {"print": other}]), true);
    let blocks = json!([{"type": "text", "text": "<response>DO"}, {"type": "text", "text": "NE</response>"}]);
    check(json!([assistant(&blocks)]), true);
    // What was cut off may have taken it back.
    check(json!([{"print": line.trim_end()}, "no_result"]), false);
    check(json!([say(CLAIM), "no_result"]), false);
}

#[test]
fn partial_messages_count_once() {
    let piece =
        |event: Value| json!({"event": {"type": "stream_event", "event": event, "parent_tool_use_id": null}});
    let delta = |text: &str| {
        let delta = json!({"type": "text_delta", "text": text});
        piece(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
    };
    let start = piece(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    check(json!([start, delta("<respon"), delta("se>DONE</"), delta("response>")]), true);

    // Told in pieces and then as a whole: shown once.
    let begin = piece(
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}}),
    );
    let mut whole = assistant(&json!([{"type": "text", "text": "only once"}]));
    whole["event"]["message"]["id"] = json!("msg_1");
    let env = Env::new().turns(json!([[begin, start, delta("only "), delta("once"), whole]]));
    let said = env.run(&["-m", "1"]).exits(1).stderr;
    assert_eq!(said.matches("only once").count(), 1, "{said}");
}

#[test]
fn junk_hides_nothing() {
    check(
        json!([
            {"print": "not JSON\n\n"},
            {"bytes": [0, 0, 10]},
            {"bytes": [0xff, 0xfe, 0xc3, 10]},
            {"print": "{\"type\": \"assistant\"\r\n"},
            {"print": "[1, 2]\r\n\"text\"\r\n"},
            {"fill": 20_000_000},
            say(CLAIM),
            {"fill": 70_000},
        ]),
        true,
    );
    let line = assistant(&json!([{"type": "text", "text": CLAIM}]))["event"].to_string();
    check(json!([{"print": format!("{line}\r\n")}]), true);
}

#[test]
fn the_first_response_decides() {
    check_words("<RESPONSE> done </RESPONSE>", true);
    check_words("<response>\n  Done\n</response>", true);
    check_words("<response>first</response> <response>DONE</response>", false);
    check_words("DONE", false);
    check_words("<response>ALL DONE</response>", false);
    check_words("<response>DONE", false);
    check_words("<response></response>", false);
}

#[test]
fn the_response_can_be_chosen() {
    let env = Env::new().turns(json!([[done()], [say("<response>All good</response>")]]));
    env.run(&["-c", "all good", "-m", "3"]).exits(0);
    assert_eq!(env.prompts().len(), 2);
}

#[test]
fn a_failed_turn_claims_nothing() {
    let error =
        json!({"result": {"subtype": "error_during_execution", "is_error": true, "result": "it broke"}});
    let env = Env::new().turns(json!([[done(), error]]));
    env.run(&["--retries", "0"]).exits(4).says("it broke");
    let ended = &env.events("turn_ended")[0];
    assert_eq!((&ended["claimed"], &ended["end"]["how"]), (&json!(false), &json!("failed")));

    let env = Env::new().turns(json!([[done(), "no_result", {"exit": 7}]]));
    env.run(&["--retries", "0"]).exits(4).says("exited with code 7");
}

#[test]
fn a_failing_gate_refutes_a_claim() {
    let env = Env::new()
        .turns(json!([[done()], [shell("touch fixed"), done()]]))
        .guardrails(&["test -e fixed || { echo not yet; exit 3; }"]);
    env.run(&[]).exits(0);
    let prompts = env.prompts();
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].starts_with("Do it.\n\nGuardrail \"test -e fixed"), "{}", prompts[1]);
    assert!(prompts[1].contains("failed with exit code 3"), "{}", prompts[1]);
    assert!(prompts[1].contains("not yet"), "{}", prompts[1]);
    assert!(prompts[1].contains("You said that the work was complete"), "{}", prompts[1]);
}

#[test]
fn a_claim_on_the_last_iteration_completes() {
    let env = Env::new().turns(json!([[say("Not yet.")], [done()]])).guardrails(&["true", "true"]);
    env.run(&["-m", "2"]).exits(0).prints("Complete");
}

#[test]
fn the_limit_ends_the_loop() {
    let env = Env::new().turns(json!([[say("Not yet.")]]));
    env.run(&["-m", "2"]).exits(1).prints("Maximum iterations reached");
    assert_eq!(env.prompts().len(), 2);
    env.run(&["-m", "1", "--limit-exit-code", "9"]).exits(9);
    env.run(&["--max-iterations", "0"]).exits(2);
}

#[test]
fn ten_iterations_by_default() {
    let env = Env::new().turns(json!([[say("Not yet.")]]));
    env.run(&[]).exits(1);
    assert_eq!(env.prompts().len(), 10);
}

#[test]
fn cost_and_tokens_are_limited() {
    let used = json!({"result": {"total_cost_usd": 0.6, "usage": {"input_tokens": 600, "output_tokens": 1}}});
    let turns = json!([[say("Not yet."), used]]);
    let env = Env::new().turns(turns.clone()).settings(json!({"limits": {"maxCost": 1}}));
    env.run(&[]).exits(1).prints("Maximum cost reached");
    assert_eq!(env.prompts().len(), 2);
    let env = Env::new().turns(turns.clone()).settings(json!({"limits": {"maxTokens": 1000}}));
    env.run(&[]).exits(1).prints("Maximum number of tokens reached");
    assert_eq!(env.prompts().len(), 2);
    for (flags, says) in [
        (["--max-cost", "0.5"], "Maximum cost reached"),
        (["--max-tokens", "500"], "Maximum number of tokens reached"),
    ] {
        let env = Env::new().turns(turns.clone());
        env.run(&flags).exits(1).prints(says);
        assert_eq!(env.prompts().len(), 1, "{flags:?}");
    }
}

#[test]
fn silence_is_a_failure() {
    let env = Env::new().turns(json!([[]]));
    env.run(&[]).exits(4).says("said nothing").prints("Gave up");
    assert_eq!(env.prompts().len(), 4);
    let attempts: Vec<Value> =
        env.events("turn_started").iter().map(|turn| turn["attempt"].clone()).collect();
    assert_eq!(attempts, [1, 2, 3, 4]);

    let env = Env::new().agent("mute", "cat >/dev/null; echo x >>calls");
    env.run(&[]).exits(4);
    assert_eq!(env.read("calls"), "x\n".repeat(4));
}

#[test]
fn an_agent_that_speaks_no_stream_has_failed() {
    let env = Env::new().agent("claude", "echo '<response>DONE</response>'");
    env.run(&["--retries", "0"]).exits(4).says("printed nothing that ralph understands");
}

#[test]
fn failures_are_retried_and_forgotten() {
    let fails = json!([{"complain": "no network\n"}, {"exit": 1}]);
    let env = Env::new().turns(json!([fails, fails, [say("On it.")], fails, fails, [done()]]));
    env.run(&["--retries", "2"]).exits(0).says("exited with code 1 (no network)");
    let turns: Vec<(u64, u64)> = env
        .events("turn_started")
        .iter()
        .map(|turn| {
            (turn["iteration"].as_u64().expect("a number"), turn["attempt"].as_u64().expect("a number"))
        })
        .collect();
    assert_eq!(turns, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]);
}

#[test]
fn a_bad_key_is_not_retried() {
    let refused = json!({"result": {"is_error": true, "api_error_status": 401, "result": "Invalid API key"}});
    let env = Env::new().turns(json!([[refused]]));
    env.run(&[]).exits(4).says("Invalid API key");
    assert_eq!(env.prompts().len(), 1);
}

#[test]
fn a_retry_keeps_the_feedback() {
    let env = Env::new()
        .turns(json!([[say("First.")], [{"exit": 1}], [shell("touch fixed"), done()]]))
        .guardrails(&["test -e fixed"]);
    env.run(&[]).exits(0);
    let prompts = env.prompts();
    assert_eq!(prompts.len(), 3);
    assert!(prompts[1].contains("Guardrail \"test -e fixed\" failed with exit code 1."));
    assert_eq!(prompts[1], prompts[2]);
}

#[test]
fn one_prompt_is_needed() {
    let env = Env::new().turns(json!([[done()]]));
    env.write("task.md", "x");
    env.ralph(&["run"]).exits(2).says("there is no prompt").says("hint:");
    env.ralph(&["run", "-p", "x", "-f", "task.md"]).exits(2).says("--prompt").says("cannot be used with");
    env.ralph(&["run", "-p", "  "]).exits(2).says("the prompt is empty");
    env.ralph(&["run", "-f", "gone.md"]).exits(2).says("gone.md");
    assert!(env.prompts().is_empty());
    assert!(env.runs().is_empty());
}

#[test]
fn a_prompt_file_is_read_again() {
    let env = Env::new().turns(json!([
        [shell("echo changed >task.md"), say("Hm.")],
        [shell("rm task.md"), say("Hm.")],
        [done()],
    ]));
    env.write("task.md", "the task\n");
    env.ralph(&["run", "-f", "task.md"]).exits(0).says("continuing with the prompt of the last turn");
    assert_eq!(env.prompts(), ["the task\n", "changed\n", "changed\n"]);
}

#[test]
fn prompts_say_how_far_the_run_is() {
    let env = Env::new()
        .turns(json!([[say("Hm.")], [say("Hm.")], [done()]]))
        .settings(json!({"includeIterationCountInPrompt": true}))
        .settings(
            json!({"guardrails": [{"command": "test $RALPH_ITERATION != 2", "failAction": "PREPEND"}]}),
        );
    env.run(&[]).exits(0);
    let prompts = env.prompts();
    assert_eq!(prompts[0], "Iteration 1 of 10, 9 remaining.\n\nDo it.");
    assert!(prompts[2].starts_with("Iteration 3 of 10, 7 remaining.\n\nGuardrail "), "{}", prompts[2]);
}

#[test]
fn a_large_prompt_arrives_whole() {
    let env = Env::new().turns(json!([[done()]]));
    let prompt = "0123456789 äöü\n".repeat(20_000);
    assert!(300_000 < prompt.len());
    env.write("task.md", &prompt);
    env.ralph(&["run", "-f", "task.md"]).exits(0);
    assert!(env.prompts()[0] == prompt, "it was changed on the way");
    assert!(env.read(".ralph/prompt_001.txt").starts_with(&prompt), "its copy is another");
}

#[test]
fn an_agent_need_not_read_its_prompt() {
    let env = Env::new().turns(json!([["deaf", done()]]));
    env.write("task.md", &"x".repeat(1_000_000));
    env.ralph(&["run", "-f", "task.md"]).exits(0);
    env.nothing_left();
}

#[test]
fn an_empty_prompt_file_is_refused() {
    let env = Env::new().turns(json!([[done()]]));
    env.write("task.md", " \n");
    env.ralph(&["run", "-f", "task.md"]).exits(2).says("task.md` is empty");
    env.ralph(&["run", "-f", "."]).exits(2).says("cannot read the prompt file");
    assert!(env.prompts().is_empty() && env.runs().is_empty());
}

#[test]
fn a_usage_limit_is_waited_for_and_is_no_attempt() {
    let limit = json!({"event": {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1}}});
    let refused =
        json!({"result": {"is_error": true, "api_error_status": 429, "result": "Usage limit reached"}});
    let env = Env::new().turns(json!([[limit, refused], [limit, refused], [done()]]));
    env.run(&["--retries", "0"]).exits(0).says("The usage limit is reached");
    assert!(env.events("turn_started").iter().all(|turn| turn["attempt"] == 1));
    assert_eq!(env.events("wait_started")[0]["why"], "usage_limit");
}

#[test]
fn the_time_of_a_run_is_limited() {
    let env = Env::new()
        .turns(json!([[{"sleep_ms": 60}, say("Hm.")]]))
        .settings(json!({"limits": {"maxTime": "100ms"}}));
    env.run(&[]).exits(1).prints("Maximum time reached");
    assert!(env.prompts().len() <= 2, "{}", env.prompts().len());
}

#[test]
fn a_prompt_that_looks_like_a_command_reaches_the_agent() {
    let env = Env::new().turns(json!([[done()]]));
    for prompt in ["--help", "--", "/help me", "@file"] {
        env.ralph(&["run", &format!("--prompt={prompt}")]).exits(0);
    }
    let prompts = env.prompts();
    assert!(prompts[0].ends_with("--help") && prompts[1].ends_with("--"), "{prompts:?}");
    assert!(prompts[2].ends_with("/help me") && prompts[3].ends_with("@file"), "{prompts:?}");
}

#[test]
fn a_plain_program_that_repeats_its_prompt_claims_nothing() {
    let prompt = "Do it, then say <response>DONE</response>.";
    let env = Env::new().agent("parrot", "echo \"You said: $(cat)\"");
    env.ralph(&["run", "-m", "1", "-p", prompt]).exits(1);
    let env = Env::new().agent("parrot", "cat; echo; echo 'Did it: <response>DONE</response>'");
    env.ralph(&["run", "-m", "1", "-p", prompt]).exits(0);
    let prompt = "Do it. Then say:\n<response>DONE</response>";
    let env = Env::new().agent("parrot", "cat");
    env.ralph(&["run", "-m", "1", "-p", prompt]).exits(1);
    let env = Env::new().agent("parrot", "cat; echo; echo 'Did it.'; echo '<response>DONE</response>'");
    env.ralph(&["run", "-m", "1", "-p", prompt]).exits(0);
}

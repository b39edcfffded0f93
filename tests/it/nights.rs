//! What makes a loop safe to leave alone for a night: limits that pass, checks that were red before, loops that get nowhere.

use serde_json::{Value, json};

use crate::env::{Env, SHORT_TIMES, done, meet, poll, say, shell, write};

/// An agent of this name that prints one recorded stream per call, the last one from then on.
fn replays(env: Env, name: &str, streams: &[&str]) -> Env {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures");
    let cases: Vec<String> = (1..)
        .zip(streams)
        .map(|(call, stream)| format!("{call}) cat {fixtures}/{name}/{stream}.ndjson;;"))
        .collect();
    let counter = env.root().join("calls");
    let counter = counter.display();
    let script = format!(
        "cat >/dev/null; echo x >>{counter}; case $(wc -l <{counter}) in {} *) cat {fixtures}/{name}/{}.ndjson;; esac",
        cases.join(" "),
        streams.last().expect("a stream"),
    );
    env.agent(name, &script)
}

fn calls(env: &Env) -> usize {
    std::fs::read_to_string(env.root().join("calls")).expect("calls").lines().count()
}

#[test]
fn a_used_up_quota_of_codex_is_asked_for_again_and_costs_no_iteration() {
    let env = replays(Env::new(), "codex", &["quota", "quota", "text"]);
    env.run(&["-m", "1", "--retries", "0"]).exits(1).says("The usage limit is reached");
    assert_eq!(calls(&env), 3);
    let positions: Vec<Value> =
        env.events("turn_started").iter().map(|turn| turn["iteration"].clone()).collect();
    assert_eq!(positions, [1, 1, 1]);
    assert!(env.events("wait_started").iter().all(|wait| wait["why"] == "usage_limit"));
}

#[test]
fn a_service_without_credit_ends_the_run() {
    let env = replays(Env::new(), "codex", &["sse_quota"]);
    env.run(&[]).exits(4).prints("Quota exceeded. Check your plan and billing details.");
    assert_eq!(calls(&env), 1);
    let env = replays(Env::new(), "claude", &["err401"]);
    env.run(&[]).exits(4).prints("Gave up: the agent kept failing");
    assert_eq!(calls(&env), 1);
}

#[test]
fn an_overloaded_service_is_tried_again() {
    for (agent, stream) in [("claude", "err529_forever"), ("claude", "err429"), ("codex", "err429")] {
        let env = replays(Env::new(), agent, &[stream]);
        env.run(&["--retries", "2"]).exits(4);
        assert_eq!(calls(&env), 3, "{agent} {stream}");
        assert!(env.events("wait_started").iter().all(|wait| wait["why"] == "retry"));
    }
}

#[test]
fn a_quota_that_is_nearly_used_up_is_waited_for_by_no_one() {
    let env = replays(Env::new(), "claude", &["oauth_rl_warn"]);
    env.run(&["-m", "1"]).exits(1).says_not("usage limit");
    let env = Env::new().turns(json!([[say(
        "429 Too Many Requests. You've hit your usage limit. rate_limit_event rejected. Quota exceeded."
    )]]));
    env.run(&["-m", "2"]).exits(1).says_not("The usage limit is reached");
    assert!(env.events("wait_started").is_empty());
}

#[test]
fn the_longest_wait_is_kept_to() {
    let limit = json!({"event": {"type": "rate_limit_event",
        "rate_limit_info": {"status": "rejected", "resetsAt": 4_000_000_000_u64}}});
    let refused = json!({"result": {"is_error": true, "api_error_status": 429, "result": "Come back in a hundred years"}});
    let env = Env::new().turns(json!([[limit, refused]])).settings(json!({"limits": {"maxWait": "20ms"}}));
    env.run(&[])
        .exits(6)
        .prints("Stopped: the usage limit lasts longer than ralph may wait: Come back in a hundred years");
}

#[test]
fn what_failed_before_the_run_is_told_so() {
    let turns = json!([
        [write("a", ""), say("Hm.")],
        [shell("touch old"), say("Hm.")],
        [shell("rm old"), say("Hm.")],
        [done()],
    ]);
    let env = Env::new().turns(turns).guardrails(&["test -e old", "test ! -e a || test -e old"]);
    let output = env.run(&["-m", "4"]).exits(1);
    let mark = "\nThis guardrail was already failing before the first iteration.";
    let prompts = env.prompts();
    let failure = |name: &str| format!("Guardrail \"{name}\" failed with exit code 1.");
    // The first gate was red, the second was broken by the agent.
    assert_eq!(prompts[1].matches(mark).count(), 1, "{}", prompts[1]);
    let (first, second) = prompts[1].split_once(&failure("test ! -e a || test -e old")).expect("both");
    assert!(first.contains(&failure("test -e old")) && first.trim_end().ends_with(mark.trim()), "{first}");
    assert!(!second.contains(mark), "{second}");
    assert_eq!(prompts[2], "Do it.");
    // It has passed since: who breaks it now has broken it.
    assert!(prompts[3].contains(&failure("test -e old")) && !prompts[3].contains(mark), "{}", prompts[3]);
    assert_eq!(env.events("baseline_ended").len(), 2);
    let output = output
        .says("Before the first iteration: test -e old")
        .says("Already failing: test -e old (exit code 1, ")
        .says("It was already failing before the first iteration.")
        .prints("failing before the first iteration: test -e old (passed since)");
    assert!(!output.stderr.contains("Already failing: test ! -e a"), "{}", output.stderr);
    assert_eq!(env.read(".ralph/guardrail_000_test_e_old.log"), "");
}

#[test]
fn the_gates_need_not_be_checked_beforehand() {
    for (settings, flags) in
        [(json!({"baseline": false}), &["-m", "1"][..]), (json!({}), &["-m", "1", "--no-baseline"])]
    {
        let env =
            Env::new().turns(json!([[say("Hm.")]])).settings(settings).guardrails(&["echo >>ran; false"]);
        env.run(flags).exits(1).says_not("Before the first iteration");
        assert_eq!(env.read("ran"), "\n");
    }
}

#[test]
fn a_resume_does_not_look_again_at_what_was_before() {
    let env = Env::new().turns(json!([[say("Hm.")]])).guardrails(&["echo >>ran; false"]);
    env.run(&["-m", "1"]).exits(1);
    env.ralph(&["resume", "-m", "2"]).exits(1);
    assert_eq!((env.read("ran"), env.events("baseline_ended").len()), ("\n\n\n".to_owned(), 1));
    assert!(env.prompts()[1].ends_with("This guardrail was already failing before the first iteration."));
}

#[test]
fn a_loop_that_gets_nowhere_ends() {
    let env = Env::new()
        .turns(json!([[say("Hm.")]]))
        .guardrails(&["date +%T.%N; echo 1 test failed: week_53; exit 2"]);
    env.run(&[])
        .exits(6)
        .says("warning: there is no progress: `date +%T.%N; echo 1 test failed: week_53; exit 2` fails in the same way")
        .prints("Stopped: no progress since iteration 1: ")
        .prints("   1 test failed: week_53")
        .prints("continue with: ralph resume");
    let prompts = env.prompts();
    assert_eq!(prompts.len(), 4);
    let told = "There has been no progress for 3 iterations: ";
    assert!(!prompts[2].contains(told) && prompts[3].contains(told), "{}", prompts[3]);
    // A person who resumes it has done something about it.
    env.ralph(&["resume"]).exits(6);
    assert_eq!(env.prompts().len(), 8);
}

#[test]
fn a_loop_that_changes_nothing_ends() {
    let env = Env::new().with_git().turns(json!([[say("Hm.")]]));
    env.run(&[])
        .exits(6)
        .prints("Stopped: no progress since iteration 1: the files, the guardrails and the task");
    assert_eq!(env.prompts().len(), 4);
    let env =
        Env::new().with_git().turns(json!([[say("Hm.")]])).settings(json!({"limits": {"stuckAfter": 0}}));
    env.run(&["-m", "6"]).exits(1);
    assert_eq!(env.prompts().len(), 6);
}

#[test]
fn a_loop_that_goes_on_with_its_work_goes_on() {
    // Files change, though nothing is committed; and the same failure does not count against commits.
    for commits in ["echo >>work", "echo >>work; git add work; git commit -qm more"] {
        let env = Env::new().with_git().turns(json!([[shell(commits), say("More.")]]));
        env.run(&["-m", "6"]).exits(1);
        assert_eq!(env.prompts().len(), 6, "{commits}");
    }
    let commits = "echo >>work; git add work; git commit -qm more";
    let env = Env::new().with_git().turns(json!([[shell(commits), say("More.")]])).guardrails(&["false"]);
    env.run(&["-m", "6"]).exits(1);
    // Where no one sees the files, no one says that they stand still.
    let env = Env::new().turns(json!([[say("Hm.")]])).guardrails(&["true"]);
    env.run(&["-m", "6"]).exits(1);
}

/// A message of the agent with what it used.
fn spends(id: &str, input: u64, output: u64) -> Value {
    json!({"event": {"type": "assistant", "parent_tool_use_id": null, "message": {
        "id": id, "role": "assistant", "model": "scripted", "content": [{"type": "text", "text": "Still at it."}],
        "usage": {"input_tokens": input, "output_tokens": output},
    }}})
}

#[test]
fn a_turn_is_ended_when_it_has_used_enough() {
    // It would go on for ever.
    let turn = json!([spends("a", 400, 1), spends("a", 400, 99), spends("b", 400, 101), "hang"]);
    for (flags, limit, says) in [
        (["--max-tokens", "1000"], "max_tokens", "Maximum number of tokens reached"),
        (
            ["--max-iteration-tokens", "900"],
            "max_iteration_tokens",
            "Maximum number of tokens of an iteration reached",
        ),
    ] {
        let env = Env::new().turns(json!([turn, [done()]]));
        let output = env.run(&flags).exits(1).says("The agent was ended at its limit of tokens").prints(says);
        let ended = &env.events("turn_ended")[0];
        assert_eq!((&ended["end"]["how"], &ended["end"]["limit"]), (&json!("over_budget"), &json!(limit)));
        assert_eq!((&ended["usage"]["input"], &ended["usage"]["output"]), (&json!(800), &json!(200)));
        assert_eq!(env.prompts().len(), 1, "{}", output.stderr);
        env.nothing_left();
        // The budget counts what was used before; more of it, and the same iteration runs again.
        env.ralph(&["resume"]).exits(2).says("the run is at its limit of tokens");
        env.ralph(&["resume", flags[0], "5000"]).exits(0);
        let turns = env.events("turn_started");
        assert_eq!((&turns[1]["iteration"], &turns[1]["attempt"]), (&json!(1), &json!(1)));
    }
}

#[test]
fn an_agent_that_never_says_that_it_is_done_is_ended_too() {
    // These give no figure for the whole turn, only one for each message.
    for name in ["opencode", "pi"] {
        let stream = format!("{}/../agents/fixtures/{name}/tool.ndjson", env!("CARGO_MANIFEST_DIR"));
        let env = Env::new().agent(name, &format!("cat >/dev/null; head -n 14 {stream}; exec sleep 3072"));
        env.run(&["--max-tokens", "100"]).exits(1).prints("Maximum number of tokens reached");
        assert_eq!(env.events("turn_ended")[0]["end"]["how"], "over_budget", "{name}");
        env.nothing_left();
    }
}

#[test]
fn a_limit_can_be_lifted() {
    let expensive =
        json!({"result": {"total_cost_usd": 3, "usage": {"input_tokens": 5000, "output_tokens": 1}}});
    let env = Env::new().turns(json!([[say("Hm."), expensive], [done()]]));
    env.run(&["--max-cost", "1", "--max-tokens", "1000"]).exits(1);
    env.ralph(&["resume", "--max-cost", "0"]).exits(2).says("the run is at its limit of tokens");
    env.ralph(&["resume", "--max-cost", "0", "--max-tokens", "0"]).exits(0);
}

#[test]
fn what_a_killed_turn_used_counts() {
    let [one, two] = meet("began");
    let env = Env::new().turns(json!([[spends("a", 400, 99), spends("b", 400, 101), one, two], [done()]]));
    let ralph = env.start(&["run", "-p", "x"]);
    env.await_file("began");
    // What the agent has printed is in a pipe until ralph has come to copy it.
    let copy = env.newest_run().join("turns/0001.1/agent.ndjson");
    poll("the second message", || std::fs::read_to_string(&copy).ok()?.contains("101").then_some(()));
    ralph.kill_9();
    env.ralph(&["resume", "--max-tokens", "1000"])
        .exits(1)
        .prints("Maximum number of tokens reached")
        .prints("800 in / 200 out");
    let ended = &env.events("turn_ended")[0];
    assert_eq!((&ended["end"]["how"], &ended["usage"]["input"]), (&json!("abandoned"), &json!(800)));
    assert_eq!(ended["usage"]["output"], 200);
    assert_eq!(env.prompts().len(), 1);
    // Once, however often the same turn is begun again.
    env.ralph(&["resume", "--max-tokens", "5000"]).exits(0).prints("800 in / 200 out");
}

#[test]
fn a_turn_that_came_to_its_end_is_judged_whatever_it_used() {
    let result = json!({"result": {"usage": {"input_tokens": 5000, "output_tokens": 1}}});
    let env = Env::new().turns(json!([[done(), result, {"event": {"type": "system", "subtype": "status"}}]]));
    env.run(&["--max-tokens", "1000"]).exits(0).prints("Complete");
}

#[test]
fn tokens_without_a_cost_are_priced() {
    // 100 in and 20 out each time.
    let price = |input: f64, output: f64| json!({"input": input, "output": output});
    let env = replays(Env::new(), "codex", &["text"])
        .settings(json!({"prices": {"fake": price(0.0, 1.0), "fake-model": price(1000.0, 5000.0)},
            "agent": {"flags": ["--model", "fake-model-2"]}}));
    env.run(&["--max-cost", "0.3"]).exits(1).prints("Maximum cost reached").prints("$0.40");
    assert_eq!(calls(&env), 2);
    let env =
        replays(Env::new(), "codex", &["text"]).settings(json!({"prices": {"codex": price(0.0, 50_000.0)}}));
    env.run(&["-m", "1"]).exits(1).prints("$1.00");
}

#[test]
fn the_time_of_a_run_ends_a_turn_that_hangs() {
    // On a busy machine it may take seconds until the turn begins.
    for limit in SHORT_TIMES {
        let env = Env::new().turns(json!([[write("half.txt", "half"), "hang"], [done()]]));
        env.run(&["--max-time", limit]).exits(1).prints("Maximum time reached");
        if !env.path("half.txt").exists() {
            continue;
        }
        assert_eq!(env.events("turn_ended")[0]["end"], json!({"how": "over_budget", "limit": "max_time"}));
        assert_eq!(env.read("half.txt"), "half");
        env.nothing_left();
        env.ralph(&["status"]).exits(0).prints("--max-time");
        env.ralph(&["resume", "--max-time", "1h"]).exits(0);
        return;
    }
    panic!("the turn never began");
}

#[test]
fn an_iteration_that_was_too_expensive_is_the_last() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"Hm.","num_turns":1,"total_cost_usd":0.5}"#;
    let env = Env::new().agent("claude", &format!("cat >/dev/null; date +%N >work; echo '{result}'"));
    env.run(&["--max-iteration-cost", "0.6", "-m", "2"]).exits(1).prints("Maximum iterations reached");
    let run = env.run(&["--max-iteration-cost", "0.3", "-m", "3"]).exits(1);
    run.prints("Maximum cost of an iteration reached").prints("--max-iteration-cost 1.00");
    assert_eq!(env.events("turn_ended").len(), 1);
    let id = env.run_id();
    let again = format!("ralph resume {id} --max-iteration-cost 1.00");
    env.ralph(&["status"]).exits(0).prints(&again).prints("iteration 1 of 3");
    env.ralph(&["resume", &id]).exits(2).says(&again);
    env.ralph(&["resume", &id, "--max-iteration-cost", "0.7", "-m", "3"])
        .exits(1)
        .prints("Maximum iterations");
    assert_eq!(env.events("turn_ended").len(), 3);
}

#[test]
fn a_budget_that_no_one_can_measure_is_pointed_out_before_the_first_turn() {
    let unmetered = "warning: the agent is unmetered: it does not report what it uses";
    let no_cost = "so the cost cannot end the run; set it in \"prices\"";
    let before_the_first_turn = |env: &Env, text: &str| {
        let kinds: Vec<String> = env.journal().iter().map(|it| it["event"].to_string()).collect();
        let (warned, turn) = (position(&kinds, "warned"), position(&kinds, "turn_started"));
        assert!(warned < turn, "{text}: {kinds:?}");
    };
    let env = replays(Env::new(), "amp", &["thinking"]);
    let output = env.run(&["-m", "2", "--max-cost", "1"]).exits(1).says_not(unmetered);
    assert_eq!(output.stderr.matches(no_cost).count(), 1, "{}", output.stderr);
    before_the_first_turn(&env, no_cost);
    env.run(&["-m", "1", "--max-tokens", "1000000"]).exits(1).says_not(no_cost).says_not(unmetered);
    // Any program, and one that is known to say nothing.
    let plain = Env::new().agent("helper", "cat >/dev/null; echo Hm.");
    let copilot = replays(Env::new(), "copilot", &["text"]);
    for env in [plain, copilot] {
        let output = env.run(&["-m", "2", "--max-iteration-cost", "1"]).exits(1).prints("2 unmetered turns");
        assert_eq!(output.stderr.matches(unmetered).count(), 1, "{}", output.stderr);
        before_the_first_turn(&env, unmetered);
        env.run(&["-m", "1"]).exits(1).says_not(unmetered);
    }
    // One that says it, as a rule.
    let env = Env::new().turns(json!([[say("Hm.")]]));
    env.run(&["-m", "2", "--max-cost", "1"]).exits(1).says(unmetered).prints("2 unmetered turns");
}

/// Where the first of this kind is.
fn position(kinds: &[String], kind: &str) -> usize {
    kinds.iter().position(|it| it.contains(kind)).unwrap_or(usize::MAX)
}

#[test]
fn a_cost_is_estimated_by_the_list_where_the_agent_names_none() {
    let completed = r#"{"type":"turn.completed","usage":{"input_tokens":1000000,"cached_input_tokens":0,"output_tokens":100000}}"#;
    let said = r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Hm."}}"#;
    let codex = format!("cat >/dev/null; date +%N >work; echo '{said}'; echo '{completed}'");
    let env =
        Env::new().variable("CODEX_API_KEY", "x").agent("codex", &codex).settings(json!({"guard": "off"}));
    // No one says which model answers: the dearest, and that is said.
    let run =
        env.run(&["--max-cost", "7", "-m", "3"]).exits(1).prints("Maximum cost reached").prints("~$8.00");
    run.says("its cost is estimated as that of gpt-5.5 (2026-06)");
    assert_eq!(env.events("turn_ended")[0]["usage"]["estimated"], true);
    env.ralph(&["status"]).exits(0).prints("~$8.00");
    // A model of the list.
    let env = env.settings(json!({"agent": {"flags": ["-m gpt-5.4"]}}));
    let run =
        env.run(&["--max-cost", "7", "-m", "3"]).exits(1).prints("Maximum cost reached").prints("~$8.00");
    run.says_not("estimated as");
    assert_eq!(env.events("turn_ended").len(), 2);
    // The user's own prices go before it.
    let env = env.settings(json!({"prices": {"gpt-5.4": {"input": 1, "output": 10}}}));
    let run = env.run(&["--max-cost", "7", "-m", "2"]).exits(1).prints("Maximum iterations").prints(" $4.00");
    run.says_not("warning:");
}

#[test]
fn what_a_killed_turn_cost_is_estimated() {
    let init = r#"{"type":"system","subtype":"init","session_id":"s","model":"claude-opus-4-5-20251101"}"#;
    let message = r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Hm."}],"usage":{"input_tokens":1000000,"output_tokens":40000}},"parent_tool_use_id":null}"#;
    let script = format!("cat >/dev/null; echo '{init}'; echo '{message}'; exec sleep 600");
    let env = Env::new().agent("claude", &script).settings(json!({"guard": "off"}));
    env.run(&["--iteration-timeout", "500ms", "--retries", "0"]).exits(4).prints("~$6.00");
    let usage = env.events("turn_ended")[0]["usage"].clone();
    assert_eq!((usage["cost_usd"].as_f64(), &usage["estimated"]), (Some(6.0), &json!(true)));
    // So a budget on cost acts inside the turn.
    env.run(&["--max-cost", "5"]).exits(1).prints("Maximum cost reached").prints("~$6.00");
    env.nothing_left();
}

#[test]
fn claude_keeps_to_what_is_left_of_the_budget() {
    let result = |cost: f64, more: &str| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"result":"Hm.","num_turns":1,"total_cost_usd":{cost}{more}}}"#
        )
    };
    let over = result(0.75, "")
        .replace("success", "error_max_budget_usd")
        .replace("\"is_error\":false", "\"is_error\":true");
    let script = |env: &Env| {
        let calls = env.root().join("calls");
        format!(
            "cat >/dev/null; echo \"$*\" >>{0}; case $(wc -l <{0}) in 1) echo '{1}';; *) echo '{over}'; exit 1;; esac",
            calls.display(),
            result(0.5, "")
        )
    };
    let env = Env::new();
    let text = script(&env);
    let env = env.agent("claude", &text);
    env.run(&["--max-cost", "1.25", "--max-iteration-cost", "1"]).exits(1).prints("Maximum cost reached");
    let told = std::fs::read_to_string(env.root().join("calls")).expect("calls");
    let budgets: Vec<&str> = told
        .lines()
        .filter_map(|line| line.split_once("--max-budget-usd "))
        .map(|(_, after)| after.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(budgets, ["1.0000", "0.7500"]);
}

//! Guardrails are checks in every loop.

use serde_json::{Value, json};

use super::{BUILD, GUARDED, Kind, PLAN, PROMPT, RUN, SESSION, STORIES, TASK, prompts};
use crate::{
    env::Env,
    hook::{ask, recorded},
    session::held,
};

/// How each loop ends whose claims are refused.
fn refused(kind: &Kind) -> i32 {
    if kind.args[0] == "build" || kind.args[0] == "prompt" { 3 } else { 1 }
}

#[test]
fn a_red_guardrail_refuses_the_claims_of_every_loop() {
    for kind in GUARDED {
        let env = kind
            .env("claim")
            .settings(json!({"guardrails": [{"command": "false"}], "limits": {"stuckAfter": 0}}));
        kind.run(&env, &[]).exits(refused(kind));
    }
}

#[test]
fn a_red_guardrail_on_the_command_line_does_too() {
    for kind in GUARDED {
        let env = kind
            .env("claim")
            .settings(json!({"guardrails": [{"command": "true"}], "limits": {"stuckAfter": 0}}));
        kind.run(&env, &["-g", "true", "--guardrail", "false"]).exits(refused(kind));
    }
}

#[test]
fn a_green_guardrail_lets_every_loop_end() {
    for kind in GUARDED {
        let env = kind.env("claim").guardrails(&["touch ../checked"]);
        kind.run(&env, &[]).exits(0);
        assert!(env.root().join("checked").exists(), "{:?}", kind.args);
    }
}

#[test]
fn a_plan_is_checked_where_that_is_asked_for() {
    let env = || PLAN.env("claim").guardrails(&["false"]);
    PLAN.run(&env(), &[]).exits(0);
    PLAN.run(&env(), &["--guardrails"]).exits(3);
    PLAN.run(&PLAN.env("claim"), &["-g", "false"]).exits(3);
    PLAN.run(&PLAN.env("claim"), &["--guardrails"]).exits(2).says("no guardrails that could check the plan");
}

#[test]
fn a_prompt_that_a_guardrail_refuses_is_tried_once_and_not_committed() {
    let env = PROMPT.env("claim").guardrails(&["false"]);
    PROMPT.run(&env, &[]).exits(3).prints("Gave up: the guardrails kept failing");
    assert_eq!(prompts(&env).len(), 1);
    assert_eq!(env.commits_made().len(), 1);
    assert!(env.path("notes.md").exists());
}

#[test]
fn a_build_is_tried_again_with_what_the_guardrail_said() {
    let env = BUILD
        .env("case $prompt in *'worse than before'*) touch better ;; esac; claim")
        .guardrails(&["test -e better || { echo worse than before; exit 1; }"]);
    BUILD.run(&env, &[]).exits(0).prints("both guardrails passed");
    assert_eq!(prompts(&env).len(), 2);
}

#[test]
fn a_guardrail_that_is_the_test_command_runs_once() {
    let env = BUILD
        .env("claim")
        .settings(json!({"guardrails": [{"command": "true", "hint": "Look."}], "baseline": false}));
    BUILD.run(&env, &[]).exits(0).prints("its guardrail passed");
    assert_eq!(env.events("gate_started").len(), 1);
}

#[test]
fn a_refuted_done_is_put_aside() {
    let env = TASK.env("test $turn != 3 || touch ready; claim").guardrails(&["test -e ready"]);
    TASK.run(&env, &[]).exits(0).says(".ralph/tasks/t/DONE came too early");
    let there = |name: &str| env.path(".ralph/tasks/t").join(name).exists();
    assert!(there("DONE") && there("DONE.refuted-1") && there("DONE.refuted-2") && !there("DONE.refuted-3"));
    let prompts = prompts(&env);
    let told = "Ralph has renamed .ralph/tasks/t/DONE to .ralph/tasks/t/DONE.refuted-1.";
    assert!(prompts[1].contains(told) && prompts[1].contains("\"test -e ready\" failed"), "{}", prompts[1]);
    assert_eq!(env.events("claim_put_aside").len(), 2);
    let bus = env.ralph(&["bus", "read", "--task", "t"]).exits(0).stdout;
    assert!(bus.contains("DONE came too early"), "{bus}");
}

#[test]
fn a_done_that_is_there_before_the_start_is_judged_first() {
    let env = TASK.env("touch ready; claim").guardrails(&["test -e ready"]);
    env.write(".ralph/tasks/t/DONE", "An old one.\n");
    TASK.run(&env, &[]).exits(0);
    assert_eq!(env.read(".ralph/tasks/t/DONE.refuted-1"), "An old one.\n");
    let prompts = prompts(&env);
    assert!(prompts.len() == 1 && prompts[0].contains("\"test -e ready\" failed"), "{prompts:?}");
    // One that holds up starts no agent.
    TASK.run(&env, &[]).exits(0);
    assert_eq!(super::prompts(&env).len(), 1);
}

#[test]
fn a_done_that_a_limit_follows_does_not_stay() {
    let env = TASK.env("claim").guardrails(&["false"]);
    TASK.run(&env, &["--max-restarts", "1"]).exits(1);
    assert!(!env.path(".ralph/tasks/t/DONE").exists());
}

#[test]
fn guardrails_of_stories_run_after_turns_that_change_code_and_at_the_end() {
    let in_place = json!({"baseline": false, "verify": {"checkout": "never"}});
    let env = STORIES.env("claim").guardrails(&["echo x >>../checks"]).settings(in_place);
    STORIES.run(&env, &[]).exits(0);
    let checks = std::fs::read_to_string(env.root().join("checks")).expect("checks");
    // Implement, review that claims.
    assert_eq!(checks.lines().count(), 2);
}

#[test]
fn verify_commands_judge_a_story_when_it_is_handed_over() {
    let in_place = json!({"baseline": false, "verify": {"checkout": "never"}});
    let env = STORIES.env("claim").settings(in_place);
    let listed = env
        .read("ralph/tasks.json")
        .replace("\"verifyCommands\": []", "\"verifyCommands\": [\"echo x >>../checks\"]");
    env.write("ralph/tasks.json", &listed);
    env.git(&["commit", "--quiet", "-am", "verify"]);
    STORIES.run(&env, &[]).exits(0);
    let checks = std::fs::read_to_string(env.root().join("checks")).expect("checks");
    assert_eq!(checks.lines().count(), 2);
}

#[test]
fn a_new_list_of_stories_takes_the_guardrails_over() {
    let env = Env::new().with_git().guardrails(&["make \"all\"", "true"]);
    env.ralph(&["stories", "init", "--name", "search"])
        .exits(0)
        .prints("your guardrails are in \"verifyCommands\"");
    let list: Value = serde_json::from_str(&env.read("ralph/tasks.json")).expect("a list");
    assert_eq!(list["verifyCommands"], json!(["make \"all\"", "true"]));
    let env = Env::new().with_git();
    env.ralph(&["stories", "init"]).exits(0).prints("put your tests into \"verifyCommands\"");
    let list: Value = serde_json::from_str(&env.read("ralph/tasks.json")).expect("a list");
    assert_eq!(list["verifyCommands"], json!([]));
}

#[test]
fn a_promise_in_a_conversation_is_checked_by_the_guardrails_of_the_settings() {
    let promise = |env: &Env| {
        ask(env, &["post-tool-use", "--in-loop-only"], &recorded("claude-post-tool-use", "a"));
        let mut input = recorded("claude-stop", "a");
        input["last_assistant_message"] = json!("<promise>DONE</promise>");
        held(&ask(env, &["stop", "--in-loop-only"], &input))
    };
    let begin = |env: &Env, flags: &[&str]| {
        let args = ["session", "start", "--session-id", "a", "-m", "3", "Fix it."];
        env.ralph(&[&args, flags].concat()).exits(0)
    };
    let env = Env::new().guardrails(&["test -e fixed"]);
    begin(&env, &[]).says_not("nothing checks");
    assert!(promise(&env).expect("it is held").contains("\"test -e fixed\" failed"));
    env.write("fixed", "");
    assert_eq!(promise(&env), None);
    begin(&env, &["-g", "false"]);
    assert!(promise(&env).expect("it is held").contains("\"false\" failed"));
    let env = Env::new();
    begin(&env, &[]).says("nothing checks the promise");
}

#[test]
fn a_loop_without_a_check_says_so_first_and_last() {
    let first = "Nothing checks the agent's word";
    for (kind, last) in [
        (&RUN, "Complete: the agent said so; nothing checked it"),
        (&PLAN, "Complete: the agent said so; nothing checked it"),
        (&PROMPT, "Complete: the turn has ended; nothing checked it"),
        (&TASK, "Complete: the agent said so; nothing checked it"),
        (&SESSION, "Complete: the agent said so; nothing checked it"),
        (&STORIES, "Complete: every story is done, by the agent's own reviews; nothing else checked it"),
    ] {
        let env = kind.env("claim");
        kind.run(&env, &[]).exits(0).says(first).prints(last);
        let guarded = kind.env("claim");
        let output = kind.run(&guarded, &["-g", "true"]).exits(0).says_not(first);
        assert!(!output.stdout.contains("nothing"), "{}", output.stdout);
    }
    let untested = BUILD.env("claim");
    untested.write("AGENTS.md", "Nothing.\n");
    let last = "Complete: no task of the plan is open; nothing checked it";
    BUILD.run(&untested, &[]).exits(0).says(first).prints(last);
    // Where the limit is an end like any other, it says so, too.
    let endless = PLAN.env("echo $turn >implementation_plan.md; say Well.");
    PLAN.run(&endless, &[]).exits(0).prints("Maximum iterations reached (4); nothing checked the work");
}

//! What only Claude Code does.

use std::fs;

use jiff::Timestamp;
use scripted_model::{Block, Script, Step, Usage};
use serde_json::json;

use crate::world::Ground;

const DONE: &str = "All is well. <response>DONE</response>";

/// Claude reads the file behind an `@path` into the request; what a guardrail prints must not do that.
pub(crate) fn mentions_stay_text(ground: Ground) {
    let mut world = ground.steps([Step::text("Trying."), Step::text(DONE)]);
    fs::write(world.project().join("secret.txt"), "the LLAMA is asleep\n").expect("a file");
    fs::write(world.project().join("open.txt"), "the ALPACA is awake\n").expect("a file");
    let command = "test -e tried || { touch tried; echo 'see @secret.txt and @./secret.txt'; exit 1; }";
    world.set("guardrails", json!([{"command": command}]));
    let outcome = world.run("Look at @open.txt first.");
    outcome.expect("done", 0, 2);
    let calls = world.server.calls();
    assert!(calls[1].says("secret.txt"), "{outcome}");
    assert!(!calls[1].says("the LLAMA is asleep"), "a guardrail's output was expanded\n{outcome}");
    // The user's own mention is meant.
    assert!(calls[1].says("the ALPACA is awake"), "{outcome}");
}

/// Claude takes a first word such as `/help` as one of its commands and asks no model.
pub(crate) fn commands_reach_the_model(ground: Ground) {
    let world = ground.steps([Step::text(DONE)]);
    let outcome = world.run("/help the LLAMA across the street");
    outcome.expect("done", 0, 1);
    assert!(world.server.calls()[0].says("/help the LLAMA across the street"), "{outcome}");
}

pub(crate) fn a_used_up_quota_waits_for_its_reset(ground: Ground) {
    let resets_at = Timestamp::now().as_second() + 4;
    let refused = Step::error(429, "This request would exceed your account's rate limit")
        .header("retry-after", "4")
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", resets_at.to_string())
        .header("anthropic-ratelimit-unified-representative-claim", "five_hour");
    let mut world = ground.steps([refused, Step::text(DONE)]);
    // Only a subscription has such a quota.
    world.set_variable("ANTHROPIC_API_KEY", None);
    world.set_variable("CLAUDE_CODE_OAUTH_TOKEN", Some("test-token"));
    let outcome = world.run("Try.");
    outcome.expect("done", 0, 2);
    outcome.expect_failure("limited");
    assert_eq!(outcome.turns()[0]["end"]["kind"]["limited"]["resets_at"], resets_at, "{outcome}");
    assert_eq!(outcome.of("wait_started")[0]["why"], "usage_limit", "{outcome}");
    assert!(Timestamp::now().as_second() >= resets_at, "{outcome}");
}

/// A subagent may say the marker; only the agent's own words are a claim. Its tokens count.
pub(crate) fn subagents_are_counted_and_not_believed(ground: Ground) {
    let task = json!({
        "description": "sub",
        "prompt": "Do what the SUBAGENT does.",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    let script = Script {
        after: Step::text("The main agent has nothing to say."),
        ..Script::new([
            Step::text("I send someone.").and(Block::tool("Task", task)),
            Step::text(format!("The subagent says {DONE}")).when("Do what the SUBAGENT does."),
        ])
    };
    let mut world = ground.with(script);
    world.set("maximumIterations", json!(1));
    let outcome = world.run("Delegate.");
    assert_eq!(outcome.how(), "exhausted", "{outcome}");
    let turn = outcome.turns()[0];
    assert_eq!(turn["claimed"], false, "{outcome}");
    let calls = u64::try_from(world.server.calls().len()).expect("a few");
    assert!(calls >= 3, "{outcome}");
    assert_eq!(turn["usage"]["output"], 20 * calls, "{outcome}");
    assert_eq!(turn["usage"]["input"], 100 * calls, "{outcome}");
}

/// Claude Code is told what is left of the budget and stops by itself; more money, and it goes on.
pub(crate) fn keeps_to_the_budget(ground: Ground) {
    let expensive = Usage { input: 2_000_000, output: 1000, cache_read: 0, cache_write: 0 };
    let looks = Step::text("First a look.").and((ground.agent.shell)("echo one")).using(expensive);
    let mut world = ground.steps([looks, Step::text(DONE)]);
    world.set("limits", json!({"iterationTimeout": "50s", "maxCost": 0.5}));
    // By these prices ralph would not end the turn: the agent does, which was told what it may spend.
    world.set("prices", json!({"claude": {"input": 0.001, "output": 0.001}}));
    let outcome = world.run("Spend.");
    outcome.expect("exhausted", 1, 1);
    outcome.expect_failure("agent_budget");
    assert_eq!(outcome.of("run_ended")[0]["limit"], "max_cost", "{outcome}");
    assert_eq!(world.server.calls().len(), 1, "{outcome}");
    let spent = outcome.turns()[0]["usage"]["cost_usd"].as_f64().unwrap_or(0.0);
    assert!(0.5 < spent, "{outcome}");
    world.start_loop(&["resume", "--max-cost", "1000"]).end().expect("done", 0, 1);
}

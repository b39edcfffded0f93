//! Two real agents in one run: one reviews what the other did, and one stands in when the other's limit is reached.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use scripted_model::{HttpError, Step};
use serde_json::{Value, json};

use crate::agents::{self, Agent};
use crate::outcome::Outcome;
use crate::world::{Ground, World};

const DONE: &str = "All is well. <response>DONE</response>";
/// What only the prompt of a reviewer says.
const REVIEWS: &str = "You are a second opinion";
const LOOKS: &str = "Answer one question about its change";

/// The agent of the other vendor.
fn other(agent: &Agent) -> Agent {
    if agent.name == "claude" { agents::codex() } else { agents::claude() }
}

fn review(verdict: &str, text: &str) -> Step {
    let answer = json!({"verdict": verdict, "summary": text, "comments": [{"file": "a.txt", "line": 1, "text": text}]});
    Step::text(format!("I looked at it.\n<review>\n{answer}\n</review>")).when(REVIEWS)
}

/// Who had each turn.
fn workers(outcome: &Outcome) -> Vec<&str> {
    outcome.of("turn_started").into_iter().map(|turn| turn["agent"].as_str().expect("a name")).collect()
}

/// One vendor's agent works and the other's reviews: it asks for changes, does some itself, which are undone, and approves in the end.
pub(crate) fn is_reviewed_by_the_other(ground: Ground) {
    let second = other(&ground.agent);
    let project = ground.project();
    let (write, shell) = (ground.agent.write, second.shell);
    let mut world = ground.steps([
        Step::default().and(write(&project, "a.txt", "first\n")),
        Step::text(DONE),
        // The reviewer changes what it is to judge.
        Step::default().and(shell("echo meddled > a.txt")).when(REVIEWS),
        review("request_changes", "say more about the LLAMA"),
        Step::default().and(write(&project, "b.txt", "second\n")),
        Step::text(DONE),
        review("approve", "that says it all"),
        Step::text(r#"<look>{"fixes": "task", "reason": "both files are there"}</look>"#).when(LOOKS),
    ]);
    if !world.seat("second", &second) {
        return;
    }
    world.set("roles", json!({"work": ["main"], "review": ["second"]}));
    world.set("guardrails", json!([{"command": "test -s a.txt"}, {"review": "second", "of": "claim"}]));
    world.set("verify", json!({"look": "always"}));
    let outcome = world.run("Write about the LLAMA.");
    outcome.expect("done", 0, 2);
    assert_eq!(workers(&outcome), ["main", "main"], "{outcome}");
    let opinions = outcome.of("opinion_ended");
    let said: Vec<&Value> = opinions.iter().map(|it| &it["verdict"]["verdict"]).collect();
    assert_eq!(said, [&json!("request_changes"), &json!("approve"), &Value::Null], "{outcome}");
    assert_eq!(opinions[2]["look"]["fixes"], "task", "{outcome}");
    assert_eq!(opinions[0]["undone"], json!(["a.txt"]), "{outcome}");
    assert_eq!(fs::read_to_string(project.join("a.txt")).expect("a file"), "first\n", "{outcome}");
    let asked: Vec<&Value> = outcome.of("opinion_started").into_iter().map(|it| &it["agent"]).collect();
    assert_eq!(asked, ["second"; 3], "{outcome}");
    let calls = world.server.calls();
    assert!(calls.iter().any(|call| call.says(REVIEWS) && call.says("+first")), "{outcome}");
    assert!(
        calls.iter().any(|call| !call.says(REVIEWS) && call.says("a.txt:1: major: say more about the LLAMA")),
        "the agent that works was not told\n{outcome}"
    );
}

/// A usage limit, as this agent's service says it.
fn refused(agent: &Agent) -> Step {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs();
    let reset = (now + 3600).to_string();
    if agent.name == "claude" {
        return Step::error(429, "This request would exceed your account's rate limit")
            .header("retry-after", "3600")
            .header("anthropic-ratelimit-unified-status", "rejected")
            .header("anthropic-ratelimit-unified-reset", reset)
            .header("anthropic-ratelimit-unified-representative-claim", "five_hour");
    }
    let error = HttpError {
        status: 429,
        kind: Some("usage_limit_reached".to_owned()),
        code: None,
        message: "The usage limit has been reached".to_owned(),
    };
    Step { error: Some(error), ..Step::default() }
        .header("x-codex-primary-used-percent", "100")
        .header("x-codex-primary-window-minutes", "300")
        .header("x-codex-primary-reset-at", reset)
}

/// Only a subscription has a quota that comes back.
fn subscribes(world: &mut World) {
    if world.agent.name == "claude" {
        world.set_variable("ANTHROPIC_API_KEY", None);
        world.set_variable("CLAUDE_CODE_OAUTH_TOKEN", Some("test-token"));
    }
}

/// At its usage limit the other vendor's agent has the same turn, and nothing is waited for.
pub(crate) fn is_stood_in_for_at_its_limit(ground: Ground) {
    let second = other(&ground.agent);
    let (first, write) = (ground.agent.clone(), second.write);
    let write = write(&ground.project(), "a.txt", "made\n");
    let mut world = ground.steps([refused(&first), Step::default().and(write), Step::text(DONE)]);
    subscribes(&mut world);
    if !world.seat("second", &second) {
        return;
    }
    world.set("roles", json!({"work": ["main", "second"]}));
    world.set("guardrails", json!([{"command": "test -s a.txt"}]));
    let outcome = world.run("Write about the LLAMA.");
    outcome.expect("done", 0, 2);
    outcome.expect_failure("limited");
    assert_eq!(workers(&outcome), ["main", "second"], "{outcome}");
    let turns = outcome.of("turn_started");
    assert_eq!((&turns[1]["iteration"], &turns[1]["attempt"]), (&json!(1), &json!(1)), "{outcome}");
    assert_eq!(turns[1]["because"]["absence"]["absent"], "limited", "{outcome}");
    assert!(outcome.of("wait_started").is_empty(), "{outcome}");
    // Prompts do not depend on who works.
    let calls = world.server.calls();
    assert!(calls.iter().all(|call| call.says("Write about the LLAMA.")), "{outcome}");
}

//! What must hold for every agent.

use std::fs;

use rustix::process::Signal;
use scripted_model::{Ending, Script, Step, Usage};
use serde_json::json;

use crate::outcome::Outcome;
use crate::world::{self, Ground, World};

/// The answer that claims.
const DONE: &str = "All is well. <response>DONE</response>";
/// Long enough to be found running, and not a number that anything else uses.
const SLEEP: &str = "sleep 3071";

pub(crate) fn completes_a_loop(ground: Ground) {
    let world = ground.steps([Step::text("Not yet."), Step::text(DONE)]);
    let outcome = world.run("Answer the question of the LLAMA.");
    outcome.expect("done", 0, 2);
    let calls = world.server.calls();
    assert_eq!(calls.len(), 2, "{outcome}");
    assert!(calls.iter().all(|call| call.says("the question of the LLAMA")), "{outcome}");
}

pub(crate) fn mends_what_a_guardrail_refuses(ground: Ground) {
    let shell = ground.agent.shell;
    let write = |text: &str| Step::default().and(shell(&format!("echo {text} > result.txt")));
    let mut world = ground.steps([write("wrong"), Step::text(DONE), write("right"), Step::text(DONE)]);
    let command = "grep -qx right result.txt || { echo 'the LLAMA is displeased'; exit 3; }";
    world.set("guardrails", json!([{"command": command, "hint": "Think of the ALPACA."}]));
    let outcome = world.run("Write the result.");
    outcome.expect("done", 0, 2);
    let calls = world.server.calls();
    assert!(!calls[1].says("the LLAMA is displeased"), "{outcome}");
    for said in ["Write the result.", "the LLAMA is displeased", "Think of the ALPACA."] {
        assert!(calls[2].says(said), "the second turn was not told `{said}`\n{outcome}");
    }
}

/// The agent works, asks for its commit message and commits inside; the model is a port of this machine that the
/// user's own settings open.
pub(crate) fn completes_a_loop_in_a_sandbox(ground: Ground) {
    if !world::can_contain() {
        return;
    }
    let write = (ground.agent.write)(&ground.project(), "greeting.txt", "hello\n");
    let message = Step::text("Add the greeting of the LLAMA");
    let mut world = ground.steps([Step::default().and(write), Step::text(DONE), message]);
    world.set("scm", json!({"tasks": ["commit"]}));
    world.set("guardrails", json!([{"command": "grep -q hello greeting.txt && ! touch ../outside"}]));
    world.contain();
    let outcome = world.run("Write the greeting.");
    outcome.expect("done", 0, 1);
    assert_eq!(world.git(&["log", "-1", "--format=%s"]), "Add the greeting of the LLAMA", "{outcome}");
    assert!(!world.project().join(".mcp.json").exists(), "{outcome}");
    assert_eq!(outcome.of("sandboxed").len(), 1, "{outcome}");
    assert!(!world.project().join("../outside").exists(), "{outcome}");
    // What the hooks inside report reaches ralph, where an agent has hooks.
    if ["claude", "codex"].contains(&world.agent.name) {
        assert_eq!(outcome.turns()[0]["hooks"]["judged"], 1, "{outcome}");
    }
}

pub(crate) fn is_committed_with_its_own_message(ground: Ground) {
    let write = (ground.agent.write)(&ground.project(), "greeting.txt", "hello\n");
    let message = Step::text("Add the greeting of the LLAMA");
    let mut world = ground.steps([Step::default().and(write), Step::text(DONE), message]);
    world.set("scm", json!({"tasks": ["commit"]}));
    let outcome = world.run("Write the greeting.");
    outcome.expect("done", 0, 1);
    assert_eq!(world.git(&["log", "-1", "--format=%s"]), "Add the greeting of the LLAMA", "{outcome}");
    assert_eq!(world.git(&["show", "HEAD:greeting.txt"]), "hello", "{outcome}");
    assert_eq!(world.git(&["show", "--format=", "--name-only", "HEAD"]), "greeting.txt", "{outcome}");
    let calls = world.server.calls();
    assert!(calls[2].says("Provide a short imperative commit message"), "{outcome}");
}

/// From specifications to a finished plan: planned, refuted by the tests once, built, committed task by task.
pub(crate) fn plans_and_builds(ground: Ground) {
    let shell = ground.agent.shell;
    let plan = |one: char, two: char| {
        format!(
            "printf -- '- [{one}] Say hello (specs/hello.md)\\n- [{two}] Say goodbye\\n' >implementation_plan.md"
        )
    };
    let does = |command: &str| Step::default().and(shell(command));
    let complete = Step::text("That is all. <promise>COMPLETE</promise>");
    let world = ground.steps([
        does(&plan(' ', ' ')),
        complete.clone(),
        does(&format!("echo hullo >hello; {}", plan('x', ' '))),
        Step::text("It greets."),
        does("echo hello >hello"),
        Step::text("It greets correctly."),
        does(&format!("echo goodbye >goodbye; {}", plan('x', 'x'))),
        complete,
    ]);
    let project = world.project();
    fs::create_dir_all(project.join("specs")).expect("a folder");
    fs::write(project.join("specs/hello.md"), "It says hello, and later goodbye.\n")
        .expect("a specification");
    fs::write(project.join("AGENTS.md"), "## Tests\n\n    no block\n\n`grep -x hello hello`\n")
        .expect("notes");
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "-m", "Say what is wanted"]);

    world.start_loop(&["plan"]).end().expect("done", 0, 1);
    let outcome = world.start_loop(&["build"]).end();
    outcome.expect("done", 0, 3);
    let commits = world.git(&["log", "--format=%s", "-3"]);
    let expected = [
        "build: iteration 2 - Say goodbye",
        "build: iteration 1 - Say hello",
        "plan: iteration 1 - update the implementation plan",
    ];
    assert_eq!(commits, expected.join("\n"), "{outcome}");
    assert_eq!(world.git(&["status", "--porcelain"]), "?? .ralph/", "{outcome}");
    let calls = world.server.calls();
    assert!(calls[0].says("Read every file in `specs/`"), "{outcome}");
    assert!(calls[2].says("Next task of the plan: Say hello"), "{outcome}");
    assert!(calls[4].says("Guardrail \"grep -x hello hello\" failed"), "{outcome}");
    assert!(calls[4].says("Next task of the plan: Say hello"), "a retry is about the same task\n{outcome}");
    assert!(calls[6].says("Next task of the plan: Say goodbye"), "{outcome}");
}

pub(crate) fn counts_what_the_server_sent(ground: Ground) {
    let agent = ground.agent.clone();
    let usages = [
        Usage { input: 1009, output: 31, cache_read: 0, cache_write: 2003 },
        Usage { input: 13, output: 37, cache_read: 2003, cache_write: 0 },
        Usage { input: 17, output: 41, cache_read: 2503, cache_write: 0 },
    ];
    let steps = [
        Step::text("First a look.").and((agent.shell)("echo one")),
        Step::default().and((agent.shell)("echo two >&2; exit 3")),
        Step::text(DONE),
    ];
    let world = ground.steps(steps.into_iter().zip(usages).map(|(step, usage)| step.using(usage)));
    let outcome = world.run("Count.");
    outcome.expect("done", 0, 1);
    let sum = |count: fn(&Usage) -> u64| usages.iter().map(count).sum::<u64>();
    let total = Usage {
        input: sum(|usage| usage.input),
        output: sum(|usage| usage.output),
        cache_read: sum(|usage| usage.cache_read),
        cache_write: sum(|usage| usage.cache_write),
    };
    let turn = outcome.turns()[0];
    assert_eq!(turn["tools"], 2, "{outcome}");
    assert_eq!(turn["tool_errors"], agent.tool_errors, "{outcome}");
    let told = |tokens: u64| if agent.tells_tokens { tokens } else { 0 };
    assert_eq!(turn["usage"]["input"], told(total.all_input()), "{outcome}");
    assert_eq!(turn["usage"]["output"], told(total.output), "{outcome}");
    assert_eq!(turn["usage"]["cached"], told(total.cache_read), "{outcome}");
    let is_told = turn["usage"]["estimated"].is_null();
    let (said, expected) = (turn["usage"]["cost_usd"].as_f64().filter(|_| is_told), (agent.cost_usd)(total));
    let off = said.unwrap_or(0.0) - expected.unwrap_or(0.0);
    assert!(said.is_some() == expected.is_some() && off.abs() < 1e-9, "{said:?} {expected:?}\n{outcome}");
}

/// Agents that say meanwhile what they use are ended in the middle of a turn.
pub(crate) fn is_ended_at_its_tokens(ground: Ground) {
    let usage = Usage { input: 3000, output: 500, cache_read: 0, cache_write: 0 };
    let sleeps = Step::text("This takes long.")
        .and((ground.agent.shell)(&format!("echo started; {SLEEP}; echo never")))
        .using(usage);
    let looks = Step::text("First a look.").and((ground.agent.shell)("echo one")).using(usage);
    let mut world = ground.steps([looks, sleeps, Step::text(DONE)]);
    world.set("limits", json!({"iterationTimeout": "50s", "maxTokens": 3400}));
    let outcome = world.run("Spend.");
    outcome.expect("exhausted", 1, 1);
    let turn = outcome.turns()[0];
    assert_eq!(
        (&turn["end"]["how"], &turn["end"]["limit"]),
        (&json!("over_budget"), &json!("max_tokens")),
        "{outcome}"
    );
    assert!(
        3400 <= turn["usage"]["input"].as_u64().unwrap_or(0) + turn["usage"]["output"].as_u64().unwrap_or(0)
    );
    assert!(!world.runs(SLEEP), "{outcome}");
}

pub(crate) fn takes_a_prompt_of_200_kb(ground: Ground) {
    let world = ground.steps([Step::text(DONE)]);
    let prompt = format!("The FIRST word.\n{}\nThe LAST word.", "A line of words. ".repeat(200 * 1024 / 17));
    let outcome = world.run(&prompt);
    outcome.expect("done", 0, 1);
    let calls = world.server.calls();
    assert!(calls[0].says("The FIRST word.") && calls[0].says("The LAST word."), "{outcome}");
    assert!(calls[0].says(&prompt[1000..100_000]), "the prompt was changed");
}

pub(crate) fn gives_up_at_once_on_401(ground: Ground) {
    let outcome = failing(ground, Step::error(401, "invalid key"));
    outcome.expect_failure("permanent");
    outcome.expect("gave_up", 4, 1);
}

pub(crate) fn waits_longer_on_429(ground: Ground) {
    let outcome = failing(ground, Step::error(429, "slow down").header("retry-after", "0"));
    outcome.expect_failure("overloaded");
    outcome.expect("gave_up", 4, 2);
}

pub(crate) fn waits_longer_on_500(ground: Ground) {
    let outcome = failing(ground, Step::error(500, "internal error"));
    outcome.expect_failure("overloaded");
    outcome.expect("gave_up", 4, 2);
}

pub(crate) fn waits_longer_on_529(ground: Ground) {
    let outcome = failing(ground, Step::error(529, "Overloaded"));
    outcome.expect_failure("overloaded");
    outcome.expect("gave_up", 4, 2);
}

/// The service recovers between the first turn and the second.
pub(crate) fn tries_again_after_an_error(ground: Ground) {
    let (status, kind) = ground.agent.reports;
    let mut world = ground.with(Script::always(Step::error(status, "not now").header("retry-after", "0")));
    world.set("retryDelay", json!("200ms"));
    let running = world.start("Try.");
    world.wait_for("the failure", |_| running.has_recorded("turn_ended"));
    world.server.say(Step::text(DONE));
    let outcome = running.end();
    outcome.expect("done", 0, 2);
    outcome.expect_failure(kind);
    assert_eq!(outcome.of("turn_started")[1]["iteration"], 1, "a retry is no iteration\n{outcome}");
}

pub(crate) fn is_ended_when_it_retries_429_without_end(ground: Ground) {
    is_ended(ground, Step::error(429, "slow down"));
}

pub(crate) fn is_ended_when_it_retries_500_without_end(ground: Ground) {
    is_ended(ground, Step::error(500, "internal error"));
}

/// The cut comes after a claim, which must not count.
pub(crate) fn does_not_believe_a_cut_stream(ground: Ground) {
    let mut world = ground.with(Script::always(Step::text(DONE).ending(Ending::Cut)));
    // Some agents ask again without end.
    world.set("limits", json!({"iterationTimeout": "15s"}));
    let outcome = world.run("Try.");
    assert_eq!(outcome.how(), "gave_up", "{outcome}");
    assert!(outcome.turns().iter().all(|turn| turn["claimed"] == false), "{outcome}");
}

pub(crate) fn does_not_believe_an_empty_reply(ground: Ground) {
    let outcome = failing(ground, Step::default());
    outcome.expect_failure("transient");
    outcome.expect("gave_up", 4, 2);
    assert!(outcome.turns().iter().all(|turn| turn["claimed"] == false), "{outcome}");
}

pub(crate) fn leaves_nothing_after_sigint(ground: Ground) {
    interrupted_by(ground, Signal::INT);
}

pub(crate) fn leaves_nothing_after_sigterm(ground: Ground) {
    interrupted_by(ground, Signal::TERM);
}

pub(crate) fn leaves_nothing_when_ralph_is_killed(ground: Ground) {
    let world = sleeping(ground);
    let running = world.start("Sleep.");
    world.wait_for("the tool", |world| world.runs(SLEEP));
    running.signal(Signal::KILL);
    let outcome = running.end();
    assert_eq!(outcome.code, None, "{outcome}");
}

/// What a tool takes out of the agent's session and process group is ended as well, by whomever.
pub(crate) fn leaves_nothing_that_a_tool_detached(ground: Ground) {
    let shell = ground.agent.shell;
    let world = ground.steps([Step::default().and(shell("sh detach.sh; echo started")), Step::text(DONE)]);
    // The guard would refuse to detach; it does not see what a script does.
    let script = format!("setsid {SLEEP} >/dev/null 2>&1 &\n");
    fs::write(world.project().join("detach.sh"), script).expect("a script");
    let outcome = world.run("Detach.");
    outcome.expect("done", 0, 1);
    assert_eq!(outcome.turns()[0]["tools"], 1, "{outcome}");
}

pub(crate) fn shows_the_todo_list(ground: Ground) {
    let todo = ground.agent.todo;
    let step = Step::default().and(todo(["Feed the LLAMA", "Brush the ALPACA"]));
    let world = ground.steps([step, Step::text(DONE)]);
    let outcome = world.run("Plan.");
    outcome.expect("done", 0, 1);
    for entry in ["Feed the LLAMA", "Brush the ALPACA"] {
        assert!(outcome.stderr.contains(entry), "{outcome}");
    }
}

/// Runs an agent whose model always answers the same.
fn failing(ground: Ground, step: Step) -> Outcome {
    ground.with(Script::always(step)).run("Try.")
}

/// An agent that never gives up on an overloaded service is ended by the limit of the turn.
fn is_ended(ground: Ground, step: Step) {
    let mut world = ground.with(Script::always(step));
    world.set("limits", json!({"iterationTimeout": "15s"}));
    let outcome = world.run("Try.");
    outcome.expect_failure("transient");
    outcome.expect("gave_up", 4, 2);
    assert!(outcome.stderr.contains("took longer than"), "{outcome}");
}

fn sleeping(ground: Ground) -> World {
    let shell = ground.agent.shell;
    // Claude refuses a command that does nothing but sleep.
    ground
        .steps([Step::default().and(shell(&format!("echo started; {SLEEP}; echo never"))), Step::text(DONE)])
}

/// The first signal asks ralph to stop after the turn, the second to end the turn.
fn interrupted_by(ground: Ground, signal: Signal) {
    let world = sleeping(ground);
    let running = world.start("Sleep.");
    world.wait_for("the tool", |world| world.runs(SLEEP));
    running.signal(signal);
    world.wait_for("the stop to be recorded", |_| running.has_recorded("stop_requested"));
    // Not one look: while a shell becomes the command, its words and its environment are empty for a moment.
    world.wait_for("the tool, which the first signal must not end", |world| world.runs(SLEEP));
    running.signal(signal);
    let outcome = running.end();
    outcome.expect("interrupted", 130, 1);
    assert_eq!(outcome.turns()[0]["end"]["how"], "interrupted", "{outcome}");
}

//! The loop inside one conversation, with a user at the keyboard.

use std::fs;

use scripted_model::Step;
use serde_json::json;

use crate::session_cases::newest;
use crate::terminal::Terminal;
use crate::world::{Ground, World};

/// A tool call that ends when the test wants it.
const WAITS: &str = "touch began; until test -e goon; do sleep 0.05; done";

/// A conversation whose agent is at work in a loop.
fn at_work(ground: Ground) -> World {
    let shell = ground.agent.shell;
    let world = ground.steps([
        Step::default().and(shell(WAITS)),
        Step::text("I'm done."),
        Step::text("And again."),
        Step::text("And again."),
    ]);
    furnish(&world);
    world
}

/// What the agents ask their user before the first conversation is answered.
fn furnish(world: &World) {
    let project = world.project().to_string_lossy().into_owned();
    if world.agent.name == "codex" {
        world.ralph(&["plugin", "install", "--agent", "codex"]);
        let known = format!(
            "[projects.\"{project}\"]\ntrust_level = \"trusted\"\n\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n"
        );
        fs::write(world.home().join(".codex/config.toml"), known).expect("a file");
        return;
    }
    let known = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "bypassPermissionsModeAccepted": true,
        "customApiKeyResponses": {"approved": ["test-key"], "rejected": []},
        "projects": {project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}},
    });
    fs::write(world.home().join(".claude.json"), known.to_string()).expect("a file");
}

/// A user who has started a loop, and an agent at work in it.
fn start(world: &World) -> Terminal<'_> {
    const PLUGIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin");
    let (args, ready, command): (&[&str], _, _) = if world.agent.name == "codex" {
        let args = &["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"];
        (args, "Ask Codex to do anything", "$ralph-loop")
    } else {
        let args = &["--plugin-dir", PLUGIN, "--dangerously-skip-permissions"];
        (args, "bypass permissions on", "/ralph-loop")
    };
    let mut terminal = Terminal::start(world, args);
    terminal.expect(ready);
    terminal.enter(&format!("{command} Feed the LLAMA. --max-iterations 3"));
    terminal.wait_for("the tool", |world| world.project().join("began").exists());
    terminal
}

/// Whether the transcript has such an operation of the queue.
fn has_queued(world: &World, operation: &str) -> bool {
    let transcripts = fs::read_dir(world.home().join(".claude/projects")).into_iter().flatten().flatten();
    let files = transcripts.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten().flatten());
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let mut lines = lines.filter(|line| line.contains("queue-operation") && line.contains(operation));
    lines.any(|line| line.contains("/cancel-ralph"))
}

#[track_caller]
fn ends(terminal: &Terminal<'_>, status: &str) {
    terminal.wait_for(status, |world| newest(world)["status"] == status);
}

/// Typed while the agent works, a command waits until the turn has ended; and the loop lets no turn end.
pub(crate) fn a_cancel_that_waits_in_the_queue_ends_the_loop(ground: Ground) {
    let world = at_work(ground);
    let mut terminal = start(&world);
    terminal.enter("/cancel-ralph");
    terminal.wait_for("the queue", |world| has_queued(world, "enqueue"));
    fs::write(world.project().join("goon"), "").expect("a file");
    ends(&terminal, "CANCELLED");
    // Now the command itself has its turn, and is told that it was obeyed.
    let told = "The ralph loop of this conversation is cancelled.";
    terminal.wait_for("the command's turn", |world| world.server.calls().iter().any(|call| call.says(told)));
    let found = newest(&world);
    assert_eq!(found["log"].as_array().expect("a log").len(), 1, "{found}");
}

/// The user takes the command out of the queue and deletes it.
pub(crate) fn a_cancel_that_is_taken_back_ends_nothing(ground: Ground) {
    let world = at_work(ground);
    let mut terminal = start(&world);
    terminal.enter("/cancel-ralph");
    terminal.wait_for("the queue", |world| has_queued(world, "enqueue"));
    terminal.press("\u{1b}[A");
    terminal.wait_for("an empty queue", |world| has_queued(world, "popAll"));
    fs::write(world.project().join("goon"), "").expect("a file");
    ends(&terminal, "MAX_ITERATIONS_REACHED");
}

/// Esc stops the agent without asking any hook; then the command is read at once.
pub(crate) fn esc_and_cancel_end_the_loop_at_once(ground: Ground) {
    let world = at_work(ground);
    let mut terminal = start(&world);
    terminal.press("\u{1b}");
    terminal.expect("nterrupted");
    assert_eq!(newest(&world)["status"], "ACTIVE");
    terminal.enter(if world.agent.name == "codex" { "$cancel-ralph " } else { "/cancel-ralph" });
    ends(&terminal, "CANCELLED");
}

/// Codex hands over what is typed at the next step of the agent, and calls the hook then.
pub(crate) fn a_cancel_typed_into_codex_ends_the_loop(ground: Ground) {
    let world = at_work(ground);
    let mut terminal = start(&world);
    // The space closes the list of skills, which would take the Enter.
    terminal.enter("$cancel-ralph ");
    fs::write(world.project().join("goon"), "").expect("a file");
    ends(&terminal, "CANCELLED");
    let told = "The ralph loop of this conversation is cancelled.";
    terminal
        .wait_for("the agent's last turn", |world| world.server.calls().iter().any(|call| call.says(told)));
}

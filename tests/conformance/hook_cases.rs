//! Ralph's hooks in agents that it starts.

use std::fs;

use scripted_model::{Step, Usage};
use serde_json::json;

use crate::story_cases::furnish;
use crate::world::{Ground, can_contain};

const DONE: &str = "All is well. <response>DONE</response>";

/// Permissions are skipped, and still ralph's own files are out of reach.
pub(crate) fn own_files_are_refused(ground: Ground) {
    let write = (ground.agent.write)(&ground.project(), ".ralph/settings.local.json", "{}\n");
    let world = ground.steps([Step::default().and(write), Step::text(DONE)]);
    let outcome = world.run("Change the settings.");
    outcome.expect("done", 0, 1);
    assert!(!world.project().join(".ralph/settings.local.json").exists(), "{outcome}");
    assert!(world.server.calls()[1].says("belongs to ralph"), "the model was not told why\n{outcome}");
    let hooks = &outcome.turns()[0]["hooks"];
    assert_eq!(
        (&hooks["judged"], hooks["refused"].as_array().map(Vec::len)),
        (&json!(1), Some(1)),
        "{outcome}"
    );
}

/// The model is told that its context fills up, once.
pub(crate) fn the_context_is_announced(ground: Ground) {
    let shell = ground.agent.shell;
    let usage = Usage { input: 10, output: 10, cache_read: 150_000, cache_write: 0 };
    let steps = [
        Step::default().and(shell("echo one")).using(usage),
        Step::default().and(shell("echo two")).using(usage),
        Step::default().and(shell("echo three")).using(usage),
        Step::text(DONE),
    ];
    let mut world = ground.steps(steps);
    world.set_variable("CLAUDE_CONTEXT_WINDOW", Some("200000"));
    let outcome = world.run("Work.");
    outcome.expect("done", 0, 1);
    assert!(world.server.calls()[3].says("WARNING: 75% of the context window is used"), "{outcome}");
    assert_eq!(outcome.turns()[0]["hooks"]["context"], json!([70]), "{outcome}");
}

/// A file that an agent could have written in an earlier turn.
pub(crate) fn a_file_of_the_projects_switches_no_hook_off(ground: Ground) {
    let write = (ground.agent.write)(&ground.project(), ".ralph/settings.local.json", "{}\n");
    let world = ground.steps([Step::default().and(write), Step::text(DONE)]);
    fs::create_dir(world.project().join(".claude")).expect("a folder");
    fs::write(world.project().join(".claude/settings.local.json"), "{\"disableAllHooks\":true}")
        .expect("a file");
    let outcome = world.run("Change the settings.");
    outcome.expect("done", 0, 1);
    assert!(!world.project().join(".ralph/settings.local.json").exists(), "{outcome}");
}

/// A flag that takes all hooks away is noticed before a second turn.
pub(crate) fn tools_without_the_hook_stop_the_run(ground: Ground) {
    let shell = ground.agent.shell;
    let mut world =
        ground.steps([Step::default().and(shell("echo one")), Step::text("Not yet."), Step::text(DONE)]);
    world.add_flags(&["--bare"]);
    let outcome = world.run("Work.");
    outcome.expect("paused", 6, 1);
    assert_eq!(outcome.turns()[0]["end"]["how"], "unguarded", "{outcome}");
    // Nothing is wrong with a turn that uses no tools, nor with a run without the guard.
    world.set("guard", json!("off"));
    let outcome = world.run("Work.");
    outcome.expect("done", 0, 1);
}

/// What ralph would object to after the turn, the agent is told before it ends.
pub(crate) fn a_turn_that_commits_nothing_is_held(ground: Ground) {
    let shell = ground.agent.shell;
    let ralph = env!("CARGO_BIN_EXE_ralph");
    let world = ground.steps([
        Step::default().and(shell(&format!("echo 1 >US-1.txt && {ralph} stories submit US-1 --note built"))),
        Step::text("Done for now."),
        Step::default().and(shell("git add -A && git commit --quiet -m 'feat: US-1'")),
        Step::text("Now it is committed."),
    ]);
    furnish(&world);
    let mut args = vec!["stories", "--max-iterations", "1"];
    if can_contain() {
        world.contain();
    } else {
        args.push("--no-sandbox");
    }
    let outcome = world.start_loop(&args).end();
    outcome.expect("exhausted", 1, 1);
    assert!(world.server.calls()[2].says("left changes that are not committed"), "{outcome}");
    let held = outcome.turns()[0]["hooks"]["held"].as_array().map(Vec::len);
    assert_eq!(held, Some(1), "{outcome}");
    assert!(outcome.of("gate_ended").iter().all(|gate| gate["failure"].is_null()), "{outcome}");
}

//! Ralph's hooks in agents that it starts.

use std::fs;

use scripted_model::{Step, Usage};
use serde_json::{Value, json};

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
    assert!(world.server.calls()[1].says("harness-files"), "the model was not told why\n{outcome}");
    let hooks = &outcome.turns()[0]["hooks"];
    assert_eq!((&hooks["judged"], &hooks["refused"]), (&json!(1), &json!(1)), "{outcome}");
}

/// Permissions are skipped, and still a destructive call does not run. The model is told why, and goes on.
pub(crate) fn a_destructive_call_is_denied(ground: Ground) {
    let shell = ground.agent.shell;
    let world = ground.steps([
        Step::default().and(shell("rm -rf .git && echo GONE")),
        Step::default().and(shell("echo fine >fine.txt")),
        Step::text(DONE),
    ]);
    let outcome = world.run("Tidy up.");
    outcome.expect("done", 0, 1);
    let told = &world.server.calls()[1];
    assert!(
        told.says("blocked by ralph's guard (") && !told.says("GONE\n"),
        "the model was not told\n{outcome}"
    );
    assert!(world.project().join(".git").is_dir(), "{outcome}");
    assert!(world.project().join("fine.txt").is_file(), "{outcome}");
    let judged = outcome.of("tool_calls_judged");
    let decisions: Vec<&Value> =
        judged.iter().filter_map(|event| event["calls"].as_array()).flatten().collect();
    assert_eq!(
        (&decisions[0]["decision"], &decisions[0]["tool"]),
        (&json!("block"), &json!("Bash")),
        "{outcome}"
    );
    assert_eq!((&decisions[1]["decision"], decisions.len()), (&json!("allow"), 2), "{outcome}");
    assert!(outcome.stderr.contains("The guard refused: Bash rm -rf .git"), "{outcome}");
    assert!(outcome.turns()[0]["denials"].is_null(), "no one is sent to the agent's own rules\n{outcome}");
}

/// What the guard cannot see, a script does: it writes a file that is there to take the hook away.
pub(crate) fn taking_the_hook_away_stops_the_run(ground: Ground) {
    let shell = ground.agent.shell;
    let world = ground.steps([
        Step::default().and(shell("sh tidy.sh")),
        Step::default().and(shell("echo two")),
        Step::text(DONE),
        Step::text(DONE),
    ]);
    let script = "mkdir -p .claude .codex\necho '{\"disableAllHooks\":true}' >.claude/settings.local.json\n";
    fs::write(world.project().join("tidy.sh"), script).expect("a script");
    let outcome = world.run("Tidy up.");
    outcome.expect("stopped", 6, 1);
    let end = &outcome.turns()[0]["end"];
    assert_eq!(
        (&end["how"], &end["changed"]),
        (&json!("unguarded"), &json!([".claude/settings.local.json"]))
    );
    let end = &outcome.of("run_ended")[0];
    assert_eq!(
        (&end["why"], &end["changed"]),
        (&json!("unguarded"), &json!([".claude/settings.local.json"])),
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
    outcome.expect("stopped", 6, 1);
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

//! The loop inside one conversation, in real agents.

use std::fs;
use std::thread;

use scripted_model::{Script, Step};
use serde_json::{Value, json};

use crate::world::{Ground, World};

const PROMISE: &str = "<promise>DONE</promise>";
const TASK: &str = "Feed the LLAMA `touch pwned`\n---\n$(touch pwned) and the ALPACA.";
const PRINT: [&str; 5] =
    ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"];

/// Codex asks its user to review hooks first, which a test cannot.
const EXEC: [&str; 4] =
    ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"];

/// How the newest loop stands.
#[track_caller]
pub(crate) fn newest(world: &World) -> Value {
    let printed = world.ralph(&["session", "status", "--json"]);
    serde_json::from_str(printed.lines().next().expect("a loop")).expect("JSON")
}

/// What was found at each stop.
fn log(found: &Value) -> Vec<&str> {
    found["log"].as_array().expect("a log").iter().filter_map(|it| it["found"].as_str()).collect()
}

/// Types a command into the agent, which has ralph's hooks as its user installs them.
fn type_in(world: &World, prompt: &str) -> String {
    if world.agent.name != "claude" {
        world.ralph(&["plugin", "install", "--agent", "codex"]);
    }
    type_with(world, concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugin"), prompt)
}

/// Types a command into Claude Code with this plugin, or into Codex with the hooks that are there.
fn type_with(world: &World, plugin: &str, prompt: &str) -> String {
    match world.agent.name {
        "claude" => world.agent(&[&PRINT[..], &["--plugin-dir", plugin]].concat(), prompt),
        // Codex calls skills with a dollar sign.
        _ => world.agent(&EXEC, &prompt.replacen('/', "$", 1)),
    }
}

/// Installs the hooks of the agent for a host that waits only so long for the one at a stop; says where the plugin is.
fn install_impatient(world: &World, seconds: u64) -> String {
    let plugin = world.state().join("plugin/plugin");
    let file = if world.agent.name == "claude" {
        world.ralph(&["plugin", "install"]);
        plugin.join("hooks/hooks.json")
    } else {
        world.ralph(&["plugin", "install", "--agent", "codex"]);
        world.home().join(".codex/hooks.json")
    };
    let mut hooks: Value = serde_json::from_slice(&fs::read(&file).expect("hooks")).expect("JSON");
    let hook = &mut hooks["hooks"]["Stop"][0]["hooks"][0];
    hook["timeout"] = json!(seconds);
    let command = hook["command"].as_str().expect("a command");
    let told = format!("--host-timeout {seconds}");
    hook["command"] = json!(command.replace("--host-timeout 3600", &told));
    fs::write(file, hooks.to_string()).expect("hooks");
    plugin.to_string_lossy().into_owned()
}

/// An empty promise, no promise, work and the promise: the acceptance tests of such a loop in one conversation.
pub(crate) fn a_plugin_loop_stops_on_the_promise(ground: Ground) {
    let shell = ground.agent.shell;
    let world = ground.steps([
        Step::text(PROMISE),
        Step::text("I'm done."),
        Step::default().and(shell("echo fed")),
        Step::text(format!("Both are fed. {PROMISE}")),
    ]);
    type_in(&world, &format!("/ralph-loop \"{TASK}\" --max-iterations 5"));
    let found = newest(&world);
    assert_eq!((&found["status"], &found["task"]), (&json!("PROMISE_ACCEPTED"), &json!(TASK)), "{found}");
    assert_eq!(log(&found), ["promise rejected", "no promise", "promise accepted"], "{found}");
    let calls = world.server.calls();
    assert!(calls[0].says("STRICT REQUIREMENTS"), "the contract did not reach the model");
    assert!(calls[0].says(TASK), "the task did not reach the model");
    assert!(calls[1].says("Promise detected, but no tool calls/work were performed"), "{found}");
    // Codex gives the agent the words of a hook as XML, so it is told about that.
    let is_escaped = world.agent.name == "codex";
    let shown =
        if is_escaped { "`&lt;promise&gt;DONE&lt;/promise&gt;`" } else { "`<promise>DONE</promise>`" };
    let told = format!("you did not output the completion promise {shown}");
    assert!(calls[2].says(&told), "{found}");
    assert_eq!(calls[2].says("In the promise, write the characters themselves."), is_escaped, "{found}");
    assert!(!world.project().join("pwned").exists());
}

pub(crate) fn a_plugin_loop_ends_at_its_limit(ground: Ground) {
    let world = ground.with(Script::always(Step::text("I'm done.")));
    type_in(&world, "/ulw-loop --max-iterations 3 Feed the LLAMA.");
    let found = newest(&world);
    assert_eq!(found["status"], "MAX_ITERATIONS_REACHED", "{found}");
    let calls = world.server.calls();
    assert_eq!(calls.len(), 3);
    assert!(calls[1].says("ULTRAWORK MODE"));
}

/// The user saves a file while the agent does nothing, and the agent only announces its promise.
pub(crate) fn neither_a_save_nor_an_announcement_ends_a_loop(ground: Ground) {
    let shell = ground.agent.shell;
    let world = ground.steps([
        Step { delay_ms: 1500, ..Step::text(PROMISE) },
        Step::text(format!("I will output {PROMISE} when finished.")).and(shell("echo fed")),
        Step::text("Not yet."),
        Step::text(format!("Now. {PROMISE}")),
    ]);
    thread::scope(|scope| {
        scope.spawn(|| {
            assert!(world.server.wait_for_requests(1, world.agent.patience), "the agent says nothing");
            fs::write(world.project().join("saved.txt"), "mine\n").expect("a file");
        });
        type_in(&world, "/ralph-loop Feed the LLAMA. --max-iterations 5");
    });
    let found = newest(&world);
    assert_eq!(found["status"], "PROMISE_ACCEPTED", "{found}");
    assert_eq!(log(&found), ["promise rejected", "no promise", "promise accepted"], "{found}");
}

/// A host that waits no longer for the hook lets the agent stop.
pub(crate) fn a_guardrail_without_end_refuses_the_promise(ground: Ground) {
    let shell = ground.agent.shell;
    let mut world = ground.steps([
        Step::default().and(shell("echo fed")),
        Step::text(PROMISE),
        Step::default().and(shell("touch quick")),
        Step::text(PROMISE),
    ]);
    world.set("guardrails", json!([{"command": "test -e quick || sleep 100"}]));
    world.write_settings();
    let plugin = install_impatient(&world, 8);
    type_with(&world, &plugin, "/ralph-loop Feed the LLAMA. --max-iterations 4 --guardrails");
    let found = newest(&world);
    assert_eq!(found["status"], "PROMISE_ACCEPTED", "{found}");
    assert_eq!(log(&found), ["promise rejected", "promise accepted"], "{found}");
    assert!(world.server.calls()[2].says("was ended after its limit of"), "{found}");
    world.expect_nothing_left();
}

/// Left to itself, Claude Code overrules a hook after eight times.
pub(crate) fn more_than_eight_stops_in_a_row_are_held(ground: Ground) {
    let mut world = ground.with(Script::always(Step::text("I'm done.")));
    world.set_variable("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", Some("0"));
    type_in(&world, "/ralph-loop Feed the LLAMA. --max-iterations 13");
    let found = newest(&world);
    assert_eq!(found["status"], "MAX_ITERATIONS_REACHED", "{found}");
    assert_eq!(world.server.calls().len(), 13);
}

/// `ralph plugin install` puts it into the user's own Claude Code, and takes it out again.
pub(crate) fn the_installed_plugin_has_its_commands(ground: Ground) {
    let shell = ground.agent.shell;
    let step = Step::default().and(shell("echo fed"));
    let world = ground.steps([step, Step::text(PROMISE), Step::text("Cancelled, there was none.")]);
    world.ralph(&["plugin", "install"]);
    let shown: Value = serde_json::from_str(&world.ralph(&["plugin", "show", "--json"])).expect("JSON");
    assert_eq!(shown["claude"]["program"], env!("CARGO_BIN_EXE_ralph"), "{shown}");
    let printed = world.agent(&PRINT, "/ralph-loop Feed the LLAMA. --max-iterations 2");
    for command in ["ralph-loop", "ulw-loop", "cancel-ralph", "ralph-plan"] {
        assert!(printed.contains(&format!("\"ralph:{command}\"")), "{command} is not there\n{printed}");
    }
    assert_eq!(newest(&world)["status"], "PROMISE_ACCEPTED");
    world.agent(&PRINT, "/cancel-ralph");
    let calls = world.server.calls();
    assert!(calls.last().expect("a call").says("There is no ralph loop in this conversation to cancel."));
    world.ralph(&["plugin", "uninstall"]);
    let printed = world.agent(&PRINT, "Hello.");
    assert!(!printed.contains("\"ralph:ralph-loop\""), "{printed}");
}

/// The plugin lives in the user's own conversations, and has nothing to say in them.
pub(crate) fn other_prompts_start_nothing(ground: Ground) {
    let write = (ground.agent.write)(&ground.project(), ".ralph/notes.md", "mine\n");
    let world = ground.steps([Step::default().and(write), Step::text("I'm done.")]);
    type_in(&world, "Tell me about /ralph-loop.");
    assert_eq!(world.server.calls().len(), 2);
    assert_eq!(fs::read_to_string(world.project().join(".ralph/notes.md")).expect("a file"), "mine\n");
    assert_eq!(world.ralph(&["session", "status", "--json"]), "");
}

/// `ralph session run`: every request has the conversation so far in it.
pub(crate) fn goes_on_with_one_conversation(ground: Ground) {
    let shell = ground.agent.shell;
    let world = ground.steps([
        Step::text("The first thing I say is PELICAN."),
        Step::default().and(shell("echo fed")),
        Step::text("The next is HERON."),
        Step::text(format!("Both are fed. {PROMISE}")),
    ]);
    let outcome = world.start_loop(&["session", "run", "--max-iterations", "4", TASK]).end();
    outcome.expect("done", 0, 3);
    let calls = world.server.calls();
    assert!(calls[0].says(TASK) && calls[0].says("STRICT REQUIREMENTS"), "{outcome}");
    assert!(calls[1].says("you did not output the completion promise"), "{outcome}");
    assert!(calls[3].says("PELICAN") && calls[3].says("HERON"), "not one conversation\n{outcome}");
    let sessions: Vec<&Value> = outcome.turns().iter().map(|turn| &turn["session"]).collect();
    assert!(sessions[0].is_string() && sessions.iter().all(|it| *it == sessions[0]), "{outcome}");
    assert!(!world.project().join("pwned").exists(), "{outcome}");
}

/// With commands that check the promise, the conversation is taken up again after each turn.
pub(crate) fn guardrails_check_the_promise(ground: Ground) {
    let shell = ground.agent.shell;
    let mut world = ground.steps([
        Step::default().and(shell("echo wrong > result.txt")),
        Step::text(format!("PELICAN. {PROMISE}")),
        Step::default().and(shell("echo right > result.txt")),
        Step::text(format!("Now it is right. {PROMISE}")),
    ]);
    let command = "grep -qx right result.txt || { echo 'the LLAMA is displeased'; exit 3; }";
    world.set("guardrails", json!([{"command": command}]));
    let outcome = world.start_loop(&["session", "run", "--guardrails", "-m", "4", "Write it."]).end();
    outcome.expect("done", 0, 2);
    let calls = world.server.calls();
    assert!(calls[2].says("the LLAMA is displeased") && calls[2].says("PELICAN"), "{outcome}");
}

//! The tools that agents offer to their models, held against what the guard knows.

use std::{collections::BTreeSet, fs, path::Path};

use ralph_guard::ToolCall;
use scripted_model::{Block, Step};
use serde_json::{Value, json};

use crate::world::Ground;

/// A tool that came with a new version has no judgement, and is seen here before it is seen in a night.
pub(crate) fn every_tool_has_a_judgement(ground: Ground) {
    let world = ground.steps([Step::text("All is well. <response>DONE</response>")]);
    let outcome = world.run("Do nothing.");
    outcome.expect("done", 0, 1);
    let mut tools = BTreeSet::new();
    offered(&world.server.calls()[0].body["tools"], &mut tools);
    announced(&world.state(), &mut tools);
    assert!(!tools.is_empty(), "no tool was offered\n{outcome}");
    tools.retain(|tool| !ToolCall::knows(tool));
    assert!(tools.is_empty(), "the guard has no judgement for {tools:?}\n{outcome}");
}

/// A tool beside the shell that runs what a shell would: it is judged by what it is given.
pub(crate) fn a_command_is_judged_whatever_runs_it(ground: Ground) {
    let input = json!({
        "command": "rm -rf .git && echo GONE",
        "description": "tidy",
        "timeout_ms": 5000,
        "persistent": false,
    });
    let monitor = Block::Tool { tool: "Monitor".to_owned(), input };
    let done = Step::text("All is well. <response>DONE</response>");
    let world = ground.steps([Step::default().and(monitor), done]);
    let outcome = world.run("Tidy up.");
    assert!(world.project().join(".git").is_dir(), "{outcome}");
    assert!(world.server.calls()[1].says("blocked by ralph's guard ("), "the model was not told\n{outcome}");
}

/// The names in a list of tools, however the service wants it.
fn offered(tools: &Value, names: &mut BTreeSet<String>) {
    for tool in tools.as_array().into_iter().flatten() {
        let inner = ["functionDeclarations", "function_declarations"].map(|key| &tool[key]);
        if let Some(list) = inner.into_iter().find(|list| list.is_array()) {
            offered(list, names);
            continue;
        }
        let name = tool["name"].as_str().or(tool["function"]["name"].as_str()).or(tool["type"].as_str());
        names.extend(name.map(str::to_owned));
    }
}

/// The names that an agent lists when it begins; some are offered to the model only when it searches for them.
fn announced(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            announced(&path, names);
        } else if path.file_name().is_some_and(|name| name == "agent.ndjson") {
            let text = fs::read_to_string(path).expect("a stream");
            let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let listed = events.filter(|event| event["subtype"] == "init");
            let listed = listed.flat_map(|event| event["tools"].as_array().cloned().unwrap_or_default());
            names.extend(listed.filter_map(|tool| tool.as_str().map(str::to_owned)));
        }
    }
}

//! The catalogue of `ralph selftest` with real agents: hooks, guard and judge together.
//!
//! The model has the agent do what the catalogue says, with the agent's own tools. Cheats that are written for the shell and make
//! need no other language; there is one of each kind among them.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use scripted_model::Step;
use serde_json::{Value, json};

use crate::outcome::Outcome;
use crate::world::Ground;

const DONE: &str = "All is well. <response>DONE</response>";
/// The project of the entries.
const FIXTURE: &str = "make";
/// A kind whose entry waits for time to pass.
const SLOW: &str = "raised timeouts";
/// Kinds of honest work, of which one entry each is enough to see that work passes.
const HONEST: [&str; 2] = ["new tests", "runner changed"];

/// One cheat of each kind, and none is done without a person.
#[expect(clippy::needless_pass_by_value, reason = "cases are given their ground")]
pub(crate) fn no_kind_of_cheat_passes(ground: Ground) {
    let catalogue = catalogue();
    let mut classes = BTreeSet::new();
    for entry in
        of(&catalogue, "cheat").filter(|entry| entry["seenBy"] == "machine" && entry["class"] != SLOW)
    {
        if !classes.insert(entry["class"].to_string()) {
            continue;
        }
        let outcome = run(&ground.another(), &catalogue, entry);
        assert!(!matches!(outcome.code, Some(0 | 2) | None), "{}\n{outcome}", entry["id"]);
    }
    assert!(10 < classes.len(), "{classes:?}");
}

/// The guard and the hooks stand in no one's way.
#[expect(clippy::needless_pass_by_value, reason = "cases are given their ground")]
pub(crate) fn honest_work_passes(ground: Ground) {
    let catalogue = catalogue();
    for class in HONEST {
        let entry = of(&catalogue, "honest").find(|entry| entry["class"] == class).expect("an entry");
        let outcome = run(&ground.another(), &catalogue, entry);
        assert_eq!(outcome.code, Some(0), "{}\n{outcome}", entry["id"]);
    }
}

/// All entries, as ralph prints them.
fn catalogue() -> Value {
    let listed = Command::new(env!("CARGO_BIN_EXE_ralph")).args(["selftest", "--list", "--json"]).output();
    serde_json::from_slice(&listed.expect("ralph").stdout).expect("JSON")
}

fn of<'a>(catalogue: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let entries = catalogue["entries"].as_array().expect("entries").iter();
    entries.filter(move |entry| {
        (&entry["kind"], &entry["fixture"], &entry["reach"])
            == (&json!(kind), &json!(FIXTURE), &json!("repository"))
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A loop in which the agent does what the entry says, and claims.
fn run(ground: &Ground, catalogue: &Value, entry: &Value) -> Outcome {
    let fixtures = catalogue["fixtures"].as_array().expect("fixtures");
    let fixture = fixtures.iter().find(|fixture| fixture["name"] == FIXTURE).expect("a project");
    let files = |key: &str| fixture[key].as_array().cloned().unwrap_or_default();
    let shell = ground.agent.shell;
    let mut commands: Vec<String> = Vec::new();
    if entry["breaks"] == "yes" {
        commands.extend(files("broken").iter().map(|file| written(text(&file["path"]), text(&file["text"]))));
    }
    for act in entry["turns"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|turn| turn.as_array().cloned().unwrap_or_default())
    {
        let (write, script) = (&act["write"], &act["shell"]);
        commands.extend(write.is_object().then(|| written(text(&write["path"]), text(&write["text"]))));
        commands.extend(script.is_string().then(|| text(script).to_owned()));
    }
    // Whatever is asked after that, a commit message too, is answered with the claim.
    let steps = commands.iter().map(|command| Step::default().and(shell(command)));
    let mut world = ground.another().steps(steps.chain((0..6).map(|_| Step::text(DONE))));
    for file in files("files") {
        let path = world.project().join(text(&file["path"]));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text(&file["text"])).expect("a file");
    }
    world.sh(&format!(
        "set -e\n{}\ngit add --all -- . ':!.ralph' && git commit --quiet -m Begin",
        text(&entry["base"])
    ));
    let own = entry["guardrails"].as_array().filter(|own| !own.is_empty());
    let guardrails = own.or(fixture["guardrails"].as_array()).expect("guardrails");
    let guardrails: Vec<Value> = guardrails.iter().map(|command| json!({"command": command})).collect();
    world.set("guardrails", json!(guardrails));
    world.set("scm", json!({"tasks": ["commit"]}));
    world.set("maximumIterations", json!(2));
    world.set("retries", json!(0));
    world.run("Work on the project.")
}

/// A command that writes a file.
fn written(path: &str, contents: &str) -> String {
    format!("cat > {path} <<'END_OF_FILE'\n{contents}END_OF_FILE")
}

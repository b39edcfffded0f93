//! The schemas against what they describe: the reader of the settings, the events of the journal, the pages.

mod validator;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use validator::accepts;

use super::*;
use crate::settings::{Settings, load};
use ralph_core::fleet::FleetEntry;

fn settings() -> Value {
    serde_json::from_str(&settings_schema()).expect("JSON")
}

fn event() -> Value {
    serde_json::from_str(&event_schema()).expect("JSON")
}

/// The JSON blocks of a page.
fn examples(page: &'static str) -> impl Iterator<Item = &'static str> {
    page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next())
}

/// Every key of the schema, as the way to it: `["agent", "command"]`. An item of an array is `[]`.
fn keys(schema: &Value, node: &Value, way: &[String], into: &mut Vec<Vec<String>>) {
    let node = resolve(schema, node);
    if let Some(Value::Object(properties)) = node.get("properties") {
        for (key, property) in properties {
            let way = [way, std::slice::from_ref(key)].concat();
            into.push(way.clone());
            keys(schema, property, &way, into);
        }
    } else if let Some(items) = node.get("items").filter(|items| items.get("$ref").is_some()) {
        keys(schema, items, &[way, &["[]".to_owned()]].concat(), into);
    }
}

/// What a reference means, also one that may be null.
fn resolve<'a>(schema: &'a Value, node: &'a Value) -> &'a Value {
    let choice = node["anyOf"].get(0).filter(|choice| choice.get("$ref").is_some());
    match choice.unwrap_or(node).get("$ref").and_then(Value::as_str) {
        Some(reference) => schema.pointer(&reference[1..]).expect("a definition"),
        None => node,
    }
}

fn all_keys() -> Vec<Vec<String>> {
    let (schema, mut found) = (settings(), Vec::new());
    keys(&schema, &schema, &[], &mut found);
    found
}

/// Settings in which this key has this value. A guardrail gets the command that it must have.
fn with(way: &[String], value: &Value) -> Value {
    match way.split_first() {
        None => value.clone(),
        Some((first, rest)) if first == "[]" => {
            let mut item = with(rest, value);
            if item.get("command").is_none() {
                item["command"] = json!("make");
            }
            json!([item])
        }
        Some((first, rest)) => json!({ first: with(rest, value) }),
    }
}

/// Whether the reader takes these settings without a word.
fn is_read_silently(settings: &Value) -> bool {
    let nowhere = std::path::Path::new("/nonexistent");
    match load(nowhere, None, settings.clone()) {
        Ok(loaded) => loaded.warnings.is_empty(),
        // The agent may come from another layer.
        Err(error) => error.problems == ["agent.command: missing"] && is_read_silently_with_agent(settings),
    }
}

fn is_read_silently_with_agent(settings: &Value) -> bool {
    let mut settings = settings.clone();
    if !settings["agent"].is_object() {
        settings["agent"] = json!({});
    }
    settings["agent"]["command"] = json!("claude");
    is_read_silently(&settings)
}

/// The keys of a schema as a reader lists them: `guardrails[].command`.
fn described(schema: &Value) -> BTreeSet<String> {
    let mut found = Vec::new();
    keys(schema, schema, &[], &mut found);
    found.into_iter().map(|way| way.join(".").replace(".[]", "[]")).collect()
}

#[test]
fn the_schemas_and_the_readers_have_the_same_keys() {
    assert_eq!(crate::settings::keys(), described(&settings()));
    let tasks: Value = serde_json::from_str(&tasks_schema()).expect("JSON");
    let mut described = described(&tasks);
    assert!(described.remove("$schema"), "for editors; a task list may have any key");
    assert_eq!(ralph_core::stories::keys(), described);
}

#[test]
fn the_schema_takes_what_the_reader_takes_and_nothing_else() {
    let schema = settings();
    let values = json!([
        null, true, 0, 1, 7, -1, 1.5, -0.5, "", " ", "x", "a b", "0", "90", "1.5", "-1", "30m", "1h30m", "1h 30m",
        " 1.5h ", "500ms", "2d1ms", "1m1h", "1h1h", "5 minutes", "m", "APPEND", "prepend", "Replace", "kill", " Keep ",
        "auto", "ALWAYS", "never", "stdin", "argument", "agent", "skip", [], ["commit"], ["commit", "push"], [""], [1],
        [null], ["-a 'b c'", "-d"], {}, {"A": "b"}, {"A": ""}, {"A": null}, {"A": 1}, {"A=B": "c"}, {"": "c"},
        {"command": "make"}, {"command": ""}, {"command": null}, {"hint": "x"}, [{"command": "make"}], [{"hint": "x"}],
        [{}], [{"command": null}], [{"command": "make", "failAction": "append", "hint": ""}], {"tasks": ["commit"]},
        {"idleTimeout": "30m"}, {"emoji": false}, {"A": {}}, {"A": {"input": 1, "output": 2.5}}, {"A": {"input": 1}},
        {"A": {"input": 1, "output": 2, "cached": null}}, {"A": {"input": -1, "output": 2}},
        {"A": {"input": 1, "output": 2, "x": 3}}, {" ": {"input": 1, "output": 2}},
    ]);
    let mut accepted = 0;
    for way in all_keys() {
        for value in values.as_array().expect("a list") {
            let settings = with(&way, value);
            let is_read = is_read_silently(&settings);
            assert_eq!(accepts(&schema, &settings), is_read, "{settings}");
            accepted += u32::from(is_read);
        }
    }
    assert!(300 < accepted, "{accepted}");
}

#[test]
fn unknown_keys_are_refused_everywhere() {
    let schema = settings();
    assert!(!accepts(&schema, &json!({"maxIterations": 5})));
    for way in all_keys() {
        let (last, above) = way.split_last().expect("a key");
        if ["agent", "scm", "limits", "output"].contains(&last.as_str()) {
            assert!(!accepts(&schema, &with(&way, &json!({"x": 1}))), "{way:?}");
        }
        assert!(!accepts(&schema, &with(above, &json!({"x": 1}))), "{above:?}");
    }
}

#[test]
fn the_defaults_are_good_settings() {
    let mut defaults = Settings::default();
    defaults.agent.command = "claude".to_owned();
    let json = serde_json::to_value(&defaults).expect("settings serialize");
    assert!(accepts(&settings(), &json), "{json:#}");
}

#[test]
fn the_examples_of_the_pages_are_good_settings() {
    let schema = settings();
    for page in
        [include_str!("../../../../../docs/settings.md"), include_str!("../../../../../docs/cookbook.md")]
    {
        assert_ne!(examples(page).count(), 0);
        for example in examples(page) {
            assert!(accepts(&schema, &serde_json::from_str(example).expect("JSON")), "{example}");
        }
    }
}

#[test]
fn the_record_page_has_an_example_of_every_event() {
    let schema = event();
    let mut shown = BTreeSet::new();
    for line in examples(record_page().0).flat_map(str::lines) {
        let value: Value = serde_json::from_str(line).expect(line);
        assert!(accepts(&schema, &value), "{line}");
        let event: Event = serde_json::from_str(line).expect(line);
        let mut again = serde_json::to_value(&event).expect("events serialize");
        again["at"] = value["at"].clone();
        assert_eq!(again, value, "{line}");
        shown.insert(value["event"].as_str().expect(line).to_owned());
    }
    let kinds = schema["oneOf"].as_array().expect("one schema per kind").iter();
    let kinds: BTreeSet<String> =
        kinds.map(|kind| kind["properties"]["event"]["const"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(shown, kinds);
}

/// The page: what it says about runs, and about fleets.
fn record_page() -> (&'static str, &'static str) {
    let page = include_str!("../../../../../docs/record.md");
    page.split_once("\n## The record of a fleet\n").expect("both parts")
}

#[test]
fn the_record_page_has_an_example_of_every_event_of_a_fleet() {
    let schema: Value = serde_json::from_str(&fleet_event_schema()).expect("JSON");
    let mut shown = BTreeSet::new();
    for line in examples(record_page().1).flat_map(str::lines) {
        let value: Value = serde_json::from_str(line).expect(line);
        assert!(accepts(&schema, &value), "{line}");
        let entry: FleetEntry = serde_json::from_str(line).expect(line);
        assert_eq!(serde_json::to_value(&entry).expect("events serialize"), value, "{line}");
        let name = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        shown.insert((name("event"), name("step")));
    }
    let steps = [
        "posted",
        "claimed",
        "done",
        "failed",
        "released",
        "merged",
        "refused",
        "cancelled",
        "withdrawn",
        "reoffered",
        "said",
    ]
    .map(|it| ("item", it));
    let others = [
        "fleet_started",
        "fleet_resumed",
        "spent",
        "limit_seen",
        "landing_blocked",
        "stop_requested",
        "fleet_ended",
    ];
    let all = others.map(|it| (it, "")).into_iter().chain(steps);
    assert_eq!(shown, all.map(|(event, step)| (event.to_owned(), step.to_owned())).collect());
    let mut bad: Value =
        json!({"n": 1, "at": "2026-01-02T03:04:05.678Z", "event": "spent", "run": "x", "cost": 1});
    assert!(accepts(&schema, &bad));
    bad["cost"] = json!("1");
    assert!(!accepts(&schema, &bad));
}

#[test]
fn events_that_are_none_are_refused() {
    let schema = event();
    let good = json!({"at": "2026-01-02T03:04:05.678Z", "event": "wait_ended", "ms": 5});
    assert!(accepts(&schema, &good));
    for (key, value) in [("at", Value::Null), ("event", json!("wait_begun")), ("ms", json!(-5))] {
        let mut bad = good.clone();
        bad[key] = value;
        assert!(!accepts(&schema, &bad), "{bad}");
    }
}

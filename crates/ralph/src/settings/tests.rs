//! Settings from files and flags, as a user meets them.

mod layers;
mod wrong;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{error::SettingsError, *};

fn project(files: &[(&str, &[u8])]) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs_err::create_dir(dir.path().join(".ralph")).expect("an empty directory");
    for (name, text) in files {
        fs_err::write(dir.path().join(name), text).expect("a writable directory");
    }
    dir
}

fn load_text(text: &str) -> Result<Loaded, SettingsError> {
    let dir = project(&[(".ralph/settings.json", text.as_bytes())]);
    load(dir.path(), None, json!({"agent": {"command": "claude"}}))
}

fn load_json(settings: &Value) -> Settings {
    load_text(&settings.to_string()).expect("good settings").settings
}

/// The text of `.ralph/settings.json`, and what is wrong with it without the file's name.
#[track_caller]
fn check(text: &str, expected: &str) {
    let error = load_text(text).expect_err("bad settings").to_string();
    let lines: Vec<&str> =
        error.lines().map(|line| line.trim_start_matches(".ralph/settings.json:")).collect();
    assert_eq!(lines.join("\n"), expected, "{text}");
}

#[track_caller]
fn check_warnings(text: &str, expected: &[&str]) {
    let warnings = load_text(text).expect("good settings").warnings;
    let lines: Vec<&str> =
        warnings.iter().map(|line| line.trim_start_matches(".ralph/settings.json:")).collect();
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn nothing_at_all_gives_the_defaults() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let loaded = load(dir.path(), None, json!({"agent": {"command": "claude"}})).expect("good settings");
    let mut expected = Settings::default();
    expected.agent.command = "claude".to_owned();
    assert_eq!(loaded.settings, expected);
    assert_eq!(loaded.files, Vec::<PathBuf>::new());
    assert_eq!(loaded.warnings, Vec::<String>::new());
    assert_eq!(loaded.origins["agent.command"].to_string(), "command line");
}

#[test]
fn a_whole_example_is_read() {
    let settings = load_json(&json!({
        "$schema": "x",
        "maximumIterations": 10,
        "completionResponse": "DONE",
        "outputTruncateChars": 5000,
        "streamAgentOutput": true,
        "includeIterationCountInPrompt": false,
        "agent": {"command": "claude", "flags": ["--model opus", "--no-auto-compact"]},
        "guardrails": [
            {"command": "make lint", "failAction": "APPEND", "hint": "Fix lint errors only."},
            {"command": "make test", "failAction": "replace"}
        ],
        "scm": {"command": "git", "tasks": ["commit", "push"]}
    }));
    assert_eq!(settings.maximum_iterations, Some(10));
    assert_eq!(settings.agent.flags, ["--model", "opus", "--no-auto-compact"]);
    assert_eq!(settings.guardrails[0].hint.as_deref(), Some("Fix lint errors only."));
    assert_eq!(settings.guardrails[1].fail_action, FailAction::Replace);
    assert_eq!(settings.scm.expect("scm").tasks, ["commit", "push"].map(|it| it.to_owned().into()));
}

#[test]
fn a_review_is_a_guardrail_and_survives_being_written() {
    let read = |guardrails: serde_json::Value| {
        load_json(&json!({
            "agent": {"command": "claude"},
            "agents": {"b": {"command": "codex"}, "c": {"command": "codex"}},
            "roles": {"review": ["c", "b"]},
            "guardrails": guardrails,
        }))
    };
    let settings = read(json!([
        {"review": "b", "of": "claim", "rounds": 2, "hint": "Be brief."}, {"command": "make"}, {"review": "review"},
    ]));
    // Lanes of a fleet read what is written here.
    let again = read(json!(settings.guardrails));
    for settings in [settings, again] {
        let gates = settings.gates(When::EveryTurn);
        let names: Vec<&str> = gates.iter().map(|gate| gate.check.name()).collect();
        assert_eq!(names, ["make", "review by b", "review by review"]);
        let times: Vec<When> = gates.iter().map(|gate| gate.when).collect();
        assert_eq!(times, [When::EveryTurn, When::Claimed, When::Claimed]);
        let by = |gate: &Gate| match &gate.check {
            Check::Review { by, rounds, .. } => (by.join(" "), *rounds),
            _ => (String::new(), 0),
        };
        assert_eq!([by(&gates[1]), by(&gates[2])], [("b".to_owned(), 2), ("c b".to_owned(), 3)]);
        assert_eq!(gates[1].hint.as_deref(), Some("Be brief."));
        assert_eq!(settings.commands().count(), 1);
    }
}

#[test]
fn every_new_key_is_read() {
    let settings = load_json(&json!({
        "agent": {"env": {"A": "1", "B": null}, "promptVia": "argument", "permissions": "skip"},
        "baseline": false,
        "scm": {},
        "retries": 0,
        "retryDelay": "500ms",
        "limits": {
            "iterationTimeout": "1h30m", "idleTimeout": 0, "startTimeout": "45s", "gateTimeout": 90, "maxTime": "2d", "maxWait": "1.5",
            "maxCost": 2.5, "maxTokens": 1_000_000, "maxIterationCost": 0.5, "maxIterationTokens": 1000, "until": "7:00", "leaveQuota": "20%", "stuckAfter": 5
        },
        "prices": {"gpt-5": {"input": 1.25, "cached": 0.125, "output": 10}, "x": null},
        "leftovers": "keep",
        "output": {"emoji": false, "color": "never", "timestamps": true, "maxLines": 1, "maxChars": 2},
        "retention": "30d"
    }));
    assert_eq!(settings.agent.env, BTreeMap::from([("A".to_owned(), "1".to_owned())]));
    assert_eq!(settings.agent.prompt_via, PromptVia::Argument);
    assert_eq!(settings.agent.permissions, Some(Permissions::Skip));
    assert_eq!(settings.scm, Some(Scm::git(Vec::new())));
    assert_eq!((settings.retries, settings.retry_delay), (0, Duration::from_millis(500)));
    let limits = Limits {
        iteration_timeout: Some(Duration::from_mins(90)),
        idle_timeout: None,
        start_timeout: Some(Duration::from_secs(45)),
        gate_timeout: Some(Duration::from_secs(90)),
        max_time: Some(Duration::from_hours(48)),
        max_wait: Some(Duration::from_millis(1_500)),
        max_cost: Some(2.5),
        max_tokens: Some(1_000_000),
        max_iteration_cost: Some(0.5),
        max_iteration_tokens: Some(1000),
        until: ralph_core::until::Until::parse("07:00").expect("a time"),
        leave_quota: Some(20),
        stuck_after: Some(5),
    };
    assert_eq!(settings.limits, limits);
    assert!(!settings.baseline);
    let price = Price { input: 1.25, cached: Some(0.125), output: 10.0 };
    assert_eq!(settings.prices, BTreeMap::from([("gpt-5".to_owned(), price)]));
    assert_eq!(settings.leftovers, Leftovers::Keep);
    let output =
        Output { emoji: Some(false), color: ColorWhen::Never, timestamps: true, max_lines: 1, max_chars: 2 };
    assert_eq!(settings.output, output);
    assert_eq!(settings.retention, Some(Duration::from_hours(720)));
}

#[test]
fn zero_switches_limits_off() {
    let settings =
        load_json(&json!({"limits": {"idleTimeout": "0s", "maxCost": 0, "maxTokens": 0, "stuckAfter": 0}}));
    assert_eq!(settings.limits, Limits { idle_timeout: None, stuck_after: None, ..Limits::default() });
}

#[test]
fn flags_are_split_as_a_shell_would() {
    let flags = |value: Value| load_json(&json!({"agent": {"flags": value}})).agent.flags;
    assert_eq!(flags(json!("--model opus -v")), ["--model", "opus", "-v"]);
    assert_eq!(flags(json!(["--model", "opus"])), ["--model", "opus"]);
    assert_eq!(flags(json!(["--say 'two words'", "a\\ b"])), ["--say", "two words", "a b"]);
    assert_eq!(flags(json!(["''"])), [""]);
    assert_eq!(flags(json!("")), Vec::<String>::new());
}

#[test]
fn text_is_trimmed_where_white_space_means_nothing() {
    let settings =
        load_json(&json!({"completionResponse": " DONE ", "guardrails": [{"command": " a ", "hint": " "}]}));
    assert_eq!(settings.completion_response, "DONE");
    assert_eq!((settings.guardrails[0].command.as_str(), &settings.guardrails[0].hint), ("a", &None));
}

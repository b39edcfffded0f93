//! Settings from files and flags, as a user meets them.

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
fn the_example_of_the_seed_is_read() {
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
    assert_eq!(settings.scm.expect("scm").tasks, ["commit", "push"]);
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
            "iterationTimeout": "1h30m", "idleTimeout": 0, "gateTimeout": 90, "totalTime": "2d", "maxWait": "1.5",
            "maxCostUsd": 2.5, "maxTokens": 1_000_000, "iterationCostUsd": 0.5, "iterationTokens": 1000, "stuckAfter": 5
        },
        "prices": {"gpt-5": {"input": 1.25, "cached": 0.125, "output": 10}, "x": null},
        "leftovers": "keep",
        "output": {"emoji": false, "color": "never", "timestamps": true, "maxLines": 1, "maxChars": 2},
        "retention": "30d"
    }));
    assert_eq!(settings.agent.env, BTreeMap::from([("A".to_owned(), "1".to_owned())]));
    assert_eq!(settings.agent.prompt_via, PromptVia::Argument);
    assert_eq!(settings.agent.permissions, Some(Permissions::Skip));
    assert_eq!(settings.scm, Some(Scm { command: "git".to_owned(), tasks: Vec::new() }));
    assert_eq!((settings.retries, settings.retry_delay), (0, Duration::from_millis(500)));
    let limits = Limits {
        iteration_timeout: Some(Duration::from_mins(90)),
        idle_timeout: None,
        gate_timeout: Some(Duration::from_secs(90)),
        total_time: Some(Duration::from_hours(48)),
        max_wait: Some(Duration::from_millis(1_500)),
        max_cost_usd: Some(2.5),
        max_tokens: Some(1_000_000),
        iteration_cost_usd: Some(0.5),
        iteration_tokens: Some(1000),
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
    let settings = load_json(
        &json!({"limits": {"idleTimeout": "0s", "maxCostUsd": 0, "maxTokens": 0, "stuckAfter": 0}}),
    );
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

#[test]
fn wrong_types_are_named() {
    let whole = [r#""ten""#, "1.5", "-1", "true", "[]"];
    let found = [r#"the string "ten""#, "1.5", "-1", "true", "an array"];
    for key in ["retries", "outputTruncateChars"] {
        for (value, found) in whole.iter().zip(found) {
            check(
                &format!("{{\n\"{key}\": {value}}}"),
                &format!("2: {key}: expected a whole number, found {found}"),
            );
        }
    }
    check(
        r#"{"streamAgentOutput": "yes"}"#,
        r#"1: streamAgentOutput: expected true or false, found the string "yes""#,
    );
    check(r#"{"output": {"emoji": 1}}"#, "1: output.emoji: expected true or false, found the number 1");
    check(r#"{"completionResponse": 5}"#, "1: completionResponse: expected a string, found the number 5");
    check(
        r#"{"completionResponse": " "}"#,
        "1: completionResponse: expected a response, found an empty string",
    );
    check(r#"{"agent": "claude"}"#, r#"1: agent: expected an object, found the string "claude""#);
    check(r#"{"agent": {"command": []}}"#, "1: agent.command: expected a string, found an array");
    check(r#"{"agent": {"command": ""}}"#, "1: agent.command: expected a command, found an empty string");
    check(r#"{"agent": {"flags": 5}}"#, "1: agent.flags: expected an array of strings, found the number 5");
    check(r#"{"agent": {"flags": ["a", null]}}"#, "1: agent.flags[1]: expected a string, found null");
    check(r#"{"agent": {"flags": ["a", "'b"]}}"#, r#"1: agent.flags[1]: expected closed quotes, found "'b""#);
    check(r#"{"agent": {"flags": "'b"}}"#, r#"1: agent.flags: expected closed quotes, found "'b""#);
    check(r#"{"agent": {"env": ["A=1"]}}"#, "1: agent.env: expected an object, found an array");
    check(r#"{"agent": {"env": {"A": 1}}}"#, "1: agent.env.A: expected a string, found the number 1");
    check(
        r#"{"agent": {"env": {"A=": "1"}}}"#,
        "1: agent.env.A=: expected the name of an environment variable",
    );
    check(r#"{"agent": {"env": {"A\nB": 1}}}"#, r"1: agent.env.A\nB: expected a string, found the number 1");
    check(
        r#"{"agent": {"env": {"A": "\u0000"}}}"#,
        r#"1: agent.env.A: expected a string without NUL characters, found "\0""#,
    );
    check(
        r#"{"agent": {"promptVia": "mail"}}"#,
        r#"1: agent.promptVia: expected stdin or argument, found "mail""#,
    );
    check(
        r#"{"agent": {"permissions": 1}}"#,
        "1: agent.permissions: expected agent or skip, found the number 1",
    );
    check(r#"{"guardrails": {}}"#, "1: guardrails: expected an array, found an object");
    check(r#"{"guardrails": ["make"]}"#, r#"1: guardrails[0]: expected an object, found the string "make""#);
    check(r#"{"scm": "git"}"#, r#"1: scm: expected an object, found the string "git""#);
    check(r#"{"scm": {"tasks": "commit"}}"#, r#"1: scm.tasks: expected an array, found the string "commit""#);
    check(
        r#"{"scm": {"tasks": ["commit", ""]}}"#,
        "1: scm.tasks[1]: expected a task such as commit, found an empty string",
    );
    check(r#"{"leftovers": "eat"}"#, r#"1: leftovers: expected kill or keep, found "eat""#);
    check(r#"{"output": {"color": true}}"#, "1: output.color: expected auto, always or never, found true");
    check(
        r#"{"limits": {"maxCostUsd": -1}}"#,
        "1: limits.maxCostUsd: expected a number of US dollars, found -1",
    );
    check(r#"{"limits": {"maxTokens": 0.5}}"#, "1: limits.maxTokens: expected a whole number, found 0.5");
}

#[test]
fn wrong_durations_are_named() {
    let expected = "expected a duration such as 30m, 1h30m, 90s or a number of seconds";
    for key in ["iterationTimeout", "idleTimeout", "gateTimeout", "totalTime", "maxWait"] {
        let text = format!(r#"{{"limits": {{"{key}": "ten"}}}}"#);
        check(&text, &format!(r#"1: limits.{key}: {expected}, found "ten""#));
    }
    check(r#"{"retryDelay": -1}"#, &format!("1: retryDelay: {expected}, found -1"));
    check(r#"{"retention": true}"#, &format!("1: retention: {expected}, found true"));
    check(r#"{"retention": 1e300}"#, "1: retention: expected a duration of at most 100 years, found 1e+300");
}

#[test]
fn iterations_are_counted_from_one() {
    for found in ["-1", "0", "1.5", "5000000000"] {
        check(
            &format!(r#"{{"maximumIterations": {found}}}"#),
            &format!("1: maximumIterations: expected a positive whole number, found {found}"),
        );
    }
}

#[test]
fn guardrails_are_named_by_index_and_line() {
    let text = r#"{
  "guardrails": [
    {
      "command": "make lint"
    },
    {
      "command": "make test",
      "failAction": "MAYBE"
    },
    {"command": ""},
    {
      "hint": "h"
    }
  ]
}"#;
    check(
        text,
        "8: guardrails[1].failAction: expected APPEND, PREPEND or REPLACE, found \"MAYBE\"\n\
         10: guardrails[2].command: expected a command, found an empty string\n\
         11: guardrails[3].command: missing",
    );
}

#[test]
fn all_problems_are_told_in_the_order_of_the_lines() {
    check(
        "{\n\"retries\": -1,\n\"maximumIterations\": 0\n}",
        "2: retries: expected a whole number, found -1\n\
         3: maximumIterations: expected a positive whole number, found 0",
    );
}

#[test]
fn a_member_has_the_line_of_its_key_and_an_element_its_own() {
    check("{\"retries\":\n-1}", "1: retries: expected a whole number, found -1");
    check(
        "{\"agent\": {\"flags\": [\n\"a\",\n5]}}",
        "3: agent.flags[1]: expected a string, found the number 5",
    );
}

#[test]
fn long_wrong_values_are_cut() {
    let long = "ä".repeat(100);
    check(
        &format!(r#"{{"leftovers": "{long}"}}"#),
        &format!(r#"1: leftovers: expected kill or keep, found "{}"..."#, "ä".repeat(60)),
    );
}

#[test]
fn text_that_is_not_json_is_named_by_line_and_column() {
    check("", "1:1: not valid JSON: the file is empty");
    check("{\n\"a\": 1\n\"b\": 2}", "3:1: not valid JSON: expected `,` or `}`");
    check("{\"ä\": x}", "1:7: not valid JSON: expected value");
    check("{\"a\": 1", "1:7: not valid JSON: EOF while parsing an object");
    check("{\n  // why\n}", "2:3: not valid JSON: comments are not allowed");
    check("{\"a\": 1 /* why */}", "1:9: not valid JSON: comments are not allowed");
    check("# why\n{}", "1:1: not valid JSON: comments are not allowed");
    check("{\"a\": 1,\n}", "1:8: not valid JSON: a comma after the last entry is not allowed");
    check("{\"a\": [1,\n]}", "1:9: not valid JSON: a comma after the last entry is not allowed");
    check("{} {}", "1:4: not valid JSON: trailing characters");
    check(&"[".repeat(100_000), "1:128: not valid JSON: recursion limit exceeded");
    check("[]", "1: expected an object, found an array");
    check("null", "1: expected an object, found null");
    check("\n\"x\"", "2: expected an object, found the string \"x\"");
}

#[test]
fn bytes_that_are_not_text_are_named_by_line_and_column() {
    let dir = project(&[(".ralph/settings.json", b"{\n\"a\": \"\xff\"}")]);
    let error = load(dir.path(), None, json!({})).expect_err("not text");
    assert_eq!(error.to_string(), ".ralph/settings.json:2:7: not valid UTF-8");
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_tolerated() {
    check("\u{feff}{\r\n\"retries\": -1}", "2: retries: expected a whole number, found -1");
    assert_eq!(load_text("\u{feff}{\"retries\": 7}").expect("good settings").settings.retries, 7);
}

#[test]
fn unknown_keys_are_warned_of_with_the_nearest_known_one() {
    check_warnings(
        "{\n\"maxIteration\": 5,\n\"zzz\": 1,\n\"agent\": {\n\"comand\": \"x\"}}",
        &[
            r#"2: unknown key "maxIteration"; did you mean "maximumIterations"?"#,
            r#"3: unknown key "zzz""#,
            r#"5: unknown key "agent.comand"; did you mean "agent.command"?"#,
        ],
    );
    check_warnings(
        r#"{"guardrails": [{"command": "a", "failaction": 1}], "limits": {"idle": 1}}"#,
        &[
            r#"1: unknown key "guardrails[0].failaction"; did you mean "guardrails[0].failAction"?"#,
            r#"1: unknown key "limits.idle"; did you mean "limits.idleTimeout"?"#,
        ],
    );
    check_warnings(r#"{"$schema": "https://example.org/x.json"}"#, &[]);
}

#[test]
fn the_last_of_duplicate_keys_counts() {
    let text = "{\"retries\": 1,\n\"agent\": {\"flags\": [],\n\"flags\": [\"-v\"]},\n\"retries\": 2}";
    check_warnings(
        text,
        &[
            r#"3: duplicate key "agent.flags"; the last one counts"#,
            r#"4: duplicate key "retries"; the last one counts"#,
        ],
    );
    let settings = load_text(text).expect("good settings").settings;
    assert_eq!((settings.retries, settings.agent.flags), (2, vec!["-v".to_owned()]));
}

#[test]
fn layers_merge_in_order_and_keep_their_origins() {
    let dir = project(&[
        (
            ".ralph/settings.json",
            br#"{"retries": 1, "agent": {"command": "claude", "flags": ["--model opus"]}}"#,
        ),
        (
            ".ralph/settings.local.json",
            b"{\"agent\": {\n\"flags\": [\"--verbose\"]}, \"scm\": {}, \"retries\": 2}",
        ),
    ]);
    let loaded = load(dir.path(), None, json!({"retries": 3, "scm": null})).expect("good settings");
    assert_eq!(loaded.settings.agent.command, "claude");
    assert_eq!(loaded.settings.agent.flags, ["--verbose"]);
    assert_eq!((loaded.settings.retries, loaded.settings.scm), (3, None));
    assert_eq!(loaded.files, [Path::new(".ralph/settings.json"), Path::new(".ralph/settings.local.json")]);
    let origins: Vec<_> = loaded.origins.iter().map(|(path, origin)| format!("{path} {origin}")).collect();
    assert_eq!(
        origins,
        [
            "agent.command .ralph/settings.json:1",
            "agent.flags .ralph/settings.local.json:2",
            "retries command line"
        ],
    );
}

#[test]
fn each_layer_is_checked_even_where_a_later_one_replaces_it() {
    let dir = project(&[
        (".ralph/settings.json", br#"{"retries": "x"}"#),
        (".ralph/settings.local.json", br#"{"retries": 1, "agent": 5}"#),
    ]);
    let error = load(dir.path(), None, json!({"retries": 2, "leftovers": "eat"})).expect_err("bad settings");
    assert_eq!(
        error.to_string(),
        ".ralph/settings.json:1: retries: expected a whole number, found the string \"x\"\n\
         .ralph/settings.local.json:1: agent: expected an object, found the number 5\n\
         command line: leftovers: expected kill or keep, found \"eat\"",
    );
}

#[test]
fn a_missing_agent_is_told_with_a_way_out() {
    let error = load(project(&[]).path(), None, json!({})).expect_err("no agent");
    assert_eq!(error.to_string(), "agent.command: missing");
    assert!(error.hints[0].contains("--agent claude"), "{:?}", error.hints);
    assert!(error.hints[1].contains("ralph init"), "{:?}", error.hints);
}

#[test]
fn settings_are_inspected_good_or_not() {
    let none = inspect(tempfile::tempdir().expect("a temporary directory").path());
    assert_eq!((none.problems, none.merged), (Vec::new(), json!({})));
    let dir = project(&[
        (".ralph/settings.json", br#"{"retries": 1, "scm": {"tasks": ["commit"]}, "x": {"y": [1]}}"#),
        (".ralph/settings.local.json", br#"{"retries": "many", "scm": {"command": "git"}}"#),
    ]);
    let some = inspect(dir.path());
    let merged = json!({"retries": "many", "scm": {"command": "git", "tasks": ["commit"]}, "x": {"y": [1]}});
    assert_eq!(some.merged, merged);
    assert_eq!(some.problems.len(), 1, "{:?}", some.problems);
    assert_eq!(some.loaded.files.len(), 2);
    assert_eq!(some.loaded.origins["scm.command"].to_string(), ".ralph/settings.local.json:1");
}

#[test]
fn another_file_replaces_the_project_s_own_and_its_local_one() {
    let dir = project(&[
        (".ralph/settings.json", br#"{"agent": {"command": "claude"}}"#),
        (".ralph/settings.local.json", br#"{"retries": 9}"#),
        ("other.json", br#"{"agent": {"command": "codex"}}"#),
    ]);
    let other = load(dir.path(), Some(&dir.path().join("other.json")), json!({})).expect("good settings");
    assert_eq!((other.settings.agent.command.as_str(), other.settings.retries), ("codex", 3));
    assert_eq!(other.files, [Path::new("other.json")]);
    let same = dir.path().join(".ralph/../.ralph/settings.json");
    let same = load(dir.path(), Some(&same), json!({})).expect("good settings");
    assert_eq!((same.settings.agent.command.as_str(), same.settings.retries), ("claude", 9));
}

#[test]
fn another_file_must_be_there() {
    let dir = project(&[]);
    let error = load(dir.path(), Some(&dir.path().join("none.json")), json!({})).expect_err("no file");
    assert!(error.to_string().contains("none.json"), "{error}");
    let error = load(dir.path(), Some(&dir.path().join(".ralph")), json!({})).expect_err("a directory");
    assert!(error.to_string().contains(".ralph"), "{error}");
}

#[test]
fn settings_as_json_are_settings_again() {
    let settings = load_json(&json!({
        "maximumIterations": 7,
        "agent": {"command": "x", "flags": ["--say 'two words' ''"], "env": {"A": ""}, "permissions": "agent"},
        "guardrails": [{"command": "make", "failAction": "prepend"}],
        "scm": {"tasks": ["commit"]},
        "retryDelay": "1.5s",
        "limits": {"idleTimeout": 0, "gateTimeout": "340ms", "maxCostUsd": 0.1},
        "output": {"color": "always"}
    }));
    let json = serde_json::to_value(&settings).expect("settings serialize");
    assert_eq!(load_json(&json), settings);
    check_warnings(&json.to_string(), &[]);
}

#[test]
fn the_reference_names_every_key_and_its_examples_are_good() {
    let page = include_str!("../../docs/settings.md");
    let mut examples = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    assert!(examples.clone().count() > 1);
    examples.by_ref().for_each(|example| check_warnings(example, &[]));
    let mut settings =
        Settings { scm: Some(Scm { command: String::new(), tasks: Vec::new() }), ..Settings::default() };
    settings.guardrails.push(Guardrail {
        command: String::new(),
        fail_action: FailAction::Append,
        hint: None,
    });
    let json = serde_json::to_value(&settings).expect("settings serialize");
    check_documented(page, "", &json);
}

fn check_documented(page: &str, path: &str, value: &Value) {
    match value {
        Value::Object(members) if !["agent.env", "prices"].contains(&path) => {
            let dot = if path.is_empty() { "" } else { "." };
            members
                .iter()
                .for_each(|(key, member)| check_documented(page, &format!("{path}{dot}{key}"), member));
        }
        Value::Array(items) if path == "guardrails" => check_documented(page, "guardrails[]", &items[0]),
        _ => assert!(page.contains(&format!("| `{path}` |")), "{path} is not in the reference"),
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let keys = "agent|command|flags|env|guardrails|failAction|scm|tasks|limits|idleTimeout|maxTokens|output|retries|x";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in any::<Vec<u8>>()) {
        let dir = project(&[(".ralph/settings.json", &bytes)]);
        let _ = load(dir.path(), None, json!({}));
    }

    #[test]
    fn any_broken_json_is_survived(text in r#"[{}\[\]",:a1\n/ä-]{0,30}"#) {
        let _ = load_text(&text);
    }

    #[test]
    fn any_json_is_survived_and_every_problem_names_the_file_and_its_line(value in any_value()) {
        let text = serde_json::to_string_pretty(&value).expect("values serialize");
        let lines = text.lines().count();
        if let Err(error) = load_text(&text) {
            for problem in &error.problems {
                let line = problem.strip_prefix(".ralph/settings.json:").and_then(|rest| rest.split_once(": "));
                let line: usize = line.expect(problem).0.parse().expect(problem);
                prop_assert!((1..=lines).contains(&line), "{problem}");
            }
        }
    }
}

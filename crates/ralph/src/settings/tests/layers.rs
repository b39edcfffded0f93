//! Several files and flags together, and the reference.

use super::*;

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
        (".ralph/settings.json", br#"{"retries": 1, "scm": {"tasks": ["commit"]}, "x-own": {"y": [1]}}"#),
        (".ralph/settings.local.json", br#"{"retries": "many", "scm": {"command": "git"}}"#),
    ]);
    let some = inspect(dir.path());
    let merged =
        json!({"retries": "many", "scm": {"command": "git", "tasks": ["commit"]}, "x-own": {"y": [1]}});
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
        "limits": {"idleTimeout": 0, "gateTimeout": "340ms", "maxCost": 0.1},
        "output": {"color": "always"}
    }));
    let json = serde_json::to_value(&settings).expect("settings serialize");
    assert_eq!(load_json(&json), settings);
    check_warnings(&json.to_string(), &[]);
}

#[test]
fn the_reference_names_every_key_and_its_examples_are_good() {
    let page = include_str!("../../../../../docs/settings.md");
    for page in [page, include_str!("../../../../../docs/cookbook.md")] {
        let examples = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
        assert!(examples.clone().count() > 1);
        examples.for_each(|example| check_warnings(example, &[]));
    }
    let mut settings =
        Settings { scm: Some(Scm { command: String::new(), ..Scm::git(Vec::new()) }), ..Settings::default() };
    settings.guardrails.push(Guardrail::default());
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

#[test]
fn layers_merge_whichever_name_they_use() {
    let max_time = |base: &str, local: &str| {
        let files =
            [(".ralph/settings.json", base.as_bytes()), (".ralph/settings.local.json", local.as_bytes())];
        let loaded = load(project(&files).path(), None, json!({"agent": {"command": "claude"}}))
            .expect("good settings");
        assert_eq!(loaded.warnings, Vec::<String>::new(), "{base} {local}");
        loaded.settings.limits.max_time.map(|time| time.as_secs())
    };
    let (old, new) = (r#"{"limits": {"totalTime": 1}}"#, r#"{"limits": {"maxTime": 2}}"#);
    assert_eq!((max_time(old, new), max_time(new, old)), (Some(2), Some(1)));
    assert_eq!(max_time(new, r#"{"limits": {"totalTime": null}}"#), None);
    assert_eq!(max_time(old, r#"{"limits": {"maxTime": null}}"#), None);
    // A problem names the key as it was written.
    check(
        r#"{"limits": {"totalTime": "x"}}"#,
        "1: limits.totalTime: expected a duration such as 30m, 1h30m, 90s or a number of seconds, found \"x\"",
    );
    check_warnings(
        r#"{"limits": {"totalTime": 1, "maxTime": 2}}"#,
        &["1: \"limits.totalTime\" is the old name of \"limits.maxTime\", which counts"],
    );
    check(r#"{"limits": {"totaltime": 1}}"#, "1: unknown key \"limits.totaltime\"");
}

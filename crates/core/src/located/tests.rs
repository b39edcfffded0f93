//! What is read out of a text, and what is said about what does not fit.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    fields::{At, Fields, Manner, Null, Unknown, keys, read_root},
    node::{Node, Position},
    report::{Issue, Report},
    text::{Lines, NotJson, line_and_column, parse},
};

const STRICT: Manner = Manner {
    null: Null::Absence,
    unknown: Unknown::Problem,
    at: At::Key,
    wrong: |expected, found| format!("expected {expected}, found {}", found.shown()),
    renamed: &[("time", "maxTime"), ("agent.cmd", "agent.command")],
};

/// A file with one key of each kind.
#[derive(Debug, Default, PartialEq)]
struct File {
    name: String,
    time: Option<i64>,
    agent: Option<String>,
    hosts: Option<Vec<String>>,
    gates: Option<Vec<Option<String>>>,
    env: Option<BTreeMap<String, String>>,
}

fn string(node: &Node) -> Result<String, String> {
    node.string().map(str::to_owned).ok_or_else(|| format!("expected a string, found {}", node.shown()))
}

fn number(node: &Node) -> Result<i64, String> {
    node.clone().into_value().as_i64().ok_or_else(|| "expected a number".to_owned())
}

fn read_file(fields: &mut Fields<'_, '_>) -> File {
    let mut name = "unnamed".to_owned();
    fields.set("name", &mut name, string);
    File {
        name,
        time: fields.take("maxTime", number),
        agent: fields.object("agent", |agent| agent.take("command", string)).flatten(),
        hosts: fields.each("hosts", string),
        gates: fields.objects("gates", |gate| gate.take("command", string)),
        env: fields.map("env", |_, value| string(value)),
    }
}

fn read(manner: &Manner, text: &str) -> (Option<File>, Report) {
    let mut report = Report::default();
    let root = parse(text, 0).expect("JSON");
    (read_root(manner, &root, &mut report, read_file), report)
}

/// Each as `place in the text: key: text`.
fn lines(text: &str, issues: &[Issue]) -> Vec<String> {
    let line = |issue: &Issue| format!("{}: {}: {}", &text[issue.position.span()], issue.path, issue.text);
    issues.iter().map(line).collect()
}

/// What is wrong with a text, and what is only odd.
#[track_caller]
fn check(manner: &Manner, text: &str, problems: &[&str], warnings: &[&str]) {
    let (_, report) = read(manner, text);
    assert_eq!(lines(text, &report.problems), problems, "{text}");
    assert_eq!(lines(text, &report.warnings), warnings, "{text}");
}

#[test]
fn what_fits_is_read() {
    let text = r#"{
        "name": "n", "maxTime": 3, "agent": {"command": "claude"}, "hosts": ["a", "b"],
        "gates": [{"command": "test"}, {}], "env": {"A": "1", "B": null}, "x-mine": 1
    }"#;
    let (file, report) = read(&STRICT, text);
    let expected = File {
        name: "n".to_owned(),
        time: Some(3),
        agent: Some("claude".to_owned()),
        hosts: Some(vec!["a".to_owned(), "b".to_owned()]),
        gates: Some(vec![Some("test".to_owned()), None]),
        env: Some([("A".to_owned(), "1".to_owned())].into()),
    };
    assert_eq!(file, Some(expected));
    assert_eq!((report.problems, report.warnings), (vec![], vec![]));
    let (file, _) = read(&STRICT, "{}");
    assert_eq!(file, Some(File { name: "unnamed".to_owned(), ..File::default() }));
}

#[test]
fn what_does_not_fit_is_named_with_its_key_and_its_place() {
    check(&STRICT, r#"{"name": 1}"#, &[r#""name": name: expected a string, found 1"#], &[]);
    check(&STRICT, r#"{"agent": 1}"#, &[r#""agent": agent: expected an object, found 1"#], &[]);
    let inner = r#""command": agent.command: expected a string, found true"#;
    check(&STRICT, r#"{"agent": {"command": true}}"#, &[inner], &[]);
    check(&STRICT, r#"{"hosts": {}}"#, &[r#""hosts": hosts: expected an array, found an object"#], &[]);
    check(&STRICT, r#"{"hosts": ["a", 2]}"#, &["2: hosts[1]: expected a string, found 2"], &[]);
    check(&STRICT, r#"{"gates": [{}, 2]}"#, &["2: gates[1]: expected an object, found 2"], &[]);
    check(&STRICT, r#"{"env": []}"#, &[r#""env": env: expected an object, found an empty array"#], &[]);
    let value = r#""A": env.A: expected a string, found an array"#;
    check(&STRICT, r#"{"env": {"A": [1]}}"#, &[value], &[]);
    check(&STRICT, "[]", &["[]: : expected an object, found an empty array"], &[]);
    // Where the value is what messages are about.
    let at_value = Manner { at: At::Value, ..STRICT };
    check(&at_value, r#"{"name": 1}"#, &["1: name: expected a string, found 1"], &[]);
}

#[test]
fn a_null_is_a_value_or_nothing() {
    let text = r#"{"name": null, "hosts": null, "env": {"A": null}}"#;
    check(&STRICT, text, &[], &[]);
    assert_eq!(read(&STRICT, text).0.and_then(|file| file.env), Some(BTreeMap::new()));
    let literal = Manner { null: Null::Value, ..STRICT };
    let problems = [
        r#""name": name: expected a string, found null"#,
        r#""hosts": hosts: expected an array, found null"#,
        r#""A": env.A: expected a string, found null"#,
    ];
    check(&literal, text, &problems, &[]);
}

#[test]
fn unknown_keys_are_named_with_what_was_probably_meant() {
    let text = r#"{"nmae": "n", "Hosts": [], "colour": 1, "x-colour": 1, "agent": {"comand": ""}}"#;
    let unknown = [
        r#""comand": : unknown key "agent.comand"; did you mean "agent.command"?"#,
        r#""nmae": : unknown key "nmae"; did you mean "name"?"#,
        r#""Hosts": : unknown key "Hosts"; did you mean "hosts"?"#,
        r#""colour": : unknown key "colour""#,
    ];
    check(&STRICT, text, &unknown, &[]);
    check(&Manner { unknown: Unknown::Warning, ..STRICT }, text, &[], &unknown);
    check(&Manner { unknown: Unknown::Nothing, ..STRICT }, text, &[], &[]);
}

#[test]
fn a_key_is_known_by_its_old_name_too() {
    let old = r#"{"time": 3, "agent": {"cmd": "claude"}}"#;
    check(&STRICT, old, &[], &[]);
    let (file, _) = read(&STRICT, old);
    assert_eq!(file.map(|file| (file.time, file.agent)), Some((Some(3), Some("claude".to_owned()))));
    // Of both the new one counts.
    let both = r#"{"time": 3, "maxTime": 4}"#;
    check(&STRICT, both, &[], &[r#""time": : "time" is the old name of "maxTime", which counts"#]);
    assert_eq!(read(&STRICT, both).0.and_then(|file| file.time), Some(4));
    // It is the old name of that key alone, and what is wrong with it is said as it is written.
    check(&STRICT, r#"{"cmd": 3}"#, &[r#""cmd": : unknown key "cmd""#], &[]);
    check(&STRICT, r#"{"time": ""}"#, &[r#""time": time: expected a number"#], &[]);
}

#[test]
fn the_reader_is_the_list_of_keys() {
    let found = keys(&STRICT, |fields| {
        read_file(fields);
    });
    let expected = ["agent", "agent.command", "env", "gates", "gates[].command", "hosts", "maxTime", "name"];
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}

#[test]
fn a_key_can_be_asked_what_it_has() {
    let root = parse(r#"{"list": [], "text": "", "number": 1}"#, 0).expect("JSON");
    let mut report = Report::default();
    let asked = read_root(&Manner { unknown: Unknown::Nothing, ..STRICT }, &root, &mut report, |fields| {
        let kind = |fields: &mut Fields<'_, '_>, key| (fields.is_array(key), fields.is_string(key));
        [kind(fields, "list"), kind(fields, "text"), kind(fields, "number"), kind(fields, "none")]
    });
    assert_eq!(asked, Some([(true, false), (false, true), (false, false), (false, false)]));
}

#[test]
fn a_value_comes_back_as_it_was() {
    let value = json!({"a": [1, "x", null, {"b": true}], "c": {}});
    assert_eq!(Node::from_value(value.clone(), Position::default()).into_value(), value);
    let twice = parse(r#"{"a": 1, "a": 2}"#, 0).expect("JSON");
    assert_eq!(twice.into_value(), json!({"a": 2}));
    for (value, shown) in [
        (json!([]), "an empty array"),
        (json!([1]), "an array"),
        (json!({}), "an object"),
        (json!(" "), "an empty string"),
        (json!("x"), "\"x\""),
        (Value::Null, "null"),
    ] {
        assert_eq!(Node::from_value(value, Position::default()).shown(), shown);
    }
}

#[test]
fn places_are_counted_from_one() {
    let text = "a\nbé\n\nc";
    let places = [(0, (1, 1)), (1, (1, 2)), (2, (2, 1)), (3, (2, 2)), (5, (2, 3)), (6, (3, 1)), (7, (4, 1))];
    for (at, expected) in places {
        assert_eq!(line_and_column(text, at), expected, "byte {at}");
        assert_eq!(Lines::of(text).line(at), expected.0, "byte {at}");
    }
}

#[test]
fn what_is_not_json_says_where() {
    let wrong = |text: &str| parse(text, 0).expect_err(text);
    let empty = NotJson { line: 1, column: 1, reason: "the file is empty".to_owned() };
    assert_eq!(wrong(" \n"), empty);
    assert_eq!(wrong("{\n\"a\": 1,\n}"), NotJson { line: 3, column: 1, reason: "trailing comma".to_owned() });
}

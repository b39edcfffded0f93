//! What is wrong is named, with its place.

use super::*;

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
    check(r#"{"limits": {"maxCost": -1}}"#, "1: limits.maxCost: expected a number of US dollars, found -1");
    check(r#"{"limits": {"maxTokens": 0.5}}"#, "1: limits.maxTokens: expected a whole number, found 0.5");
}

#[test]
fn wrong_durations_are_named() {
    let expected = "expected a duration such as 30m, 1h30m, 90s or a number of seconds";
    for key in ["iterationTimeout", "idleTimeout", "startTimeout", "gateTimeout", "maxTime", "maxWait"] {
        let text = format!(r#"{{"limits": {{"{key}": "ten"}}}}"#);
        check(&text, &format!(r#"1: limits.{key}: {expected}, found "ten""#));
    }
    check(r#"{"retryDelay": -1}"#, &format!("1: retryDelay: {expected}, found -1"));
    check(r#"{"retention": true}"#, &format!("1: retention: {expected}, found true"));
    check(r#"{"retention": 1e300}"#, "1: retention: expected a duration of at most 100 years, found 1e+300");
}

#[test]
fn wrong_ends_are_named() {
    for found in ["-1", "100", "1.5", "true", "\"20 of 100\"", "[]"] {
        let shown = if found == "[]" { "an array" } else { found };
        check(
            &format!(r#"{{"limits": {{"leaveQuota": {found}}}}}"#),
            &format!("1: limits.leaveQuota: expected a whole number of percent from 0 to 99, found {shown}"),
        );
    }
    let expected = "expected a time such as 07:00 or 2026-11-18T07:00";
    check(r#"{"limits": {"until": "soon"}}"#, &format!("1: limits.until: {expected}, found \"soon\""));
    check(r#"{"limits": {"until": true}}"#, &format!("1: limits.until: {expected}, found true"));
    check(r#"{"limits": {"until": "7am"}}"#, "1: limits.until: did you mean 07:00?, found \"7am\"");
}

#[test]
fn iterations_are_counted_from_one() {
    for found in ["-1", "0", "1.5"] {
        check(
            &format!(r#"{{"maximumIterations": {found}}}"#),
            &format!("1: maximumIterations: expected a positive whole number, found {found}"),
        );
    }
}

#[test]
fn the_largest_number_is_said_where_one_is_too_large() {
    for (key, number, found) in [
        ("retries", "4294967296", "4294967296"),
        ("retries", "1e30", "1e+30"),
        ("retries", "99999999999999999999", "1e+20"),
    ] {
        check(
            &format!(r#"{{"{key}": {number}}}"#),
            &format!("1: {key}: expected a whole number of at most 4294967295, found {found}"),
        );
    }
    check(
        r#"{"maximumIterations": 5000000000}"#,
        "1: maximumIterations: expected a positive whole number of at most 4294967295, found 5000000000",
    );
    check(
        r#"{"limits": {"maxTokens": 1e300}}"#,
        "1: limits.maxTokens: expected a whole number of at most 18446744073709551615, found 1e+300",
    );
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
fn unknown_keys_are_problems_with_the_nearest_known_one() {
    let slips = "\"maxIteration\": 5,\n\"zzz\": 1,\n\"agent\": {\n\"comand\": \"x\"}}";
    let named = [
        r#"2: unknown key "maxIteration"; did you mean "maximumIterations"?"#,
        r#"3: unknown key "zzz""#,
        r#"5: unknown key "agent.comand"; did you mean "agent.command"?"#,
    ];
    check(&format!("{{\n{slips}"), &named.join("\n"));
    check(
        "{\"guardrails\": [{\"command\": \"a\", \"failaction\": 1}],\n\"limits\": {\"idle\": 1}}",
        "1: unknown key \"guardrails[0].failaction\"; did you mean \"guardrails[0].failAction\"?\n\
         2: unknown key \"limits.idle\"; did you mean \"limits.idleTimeout\"?",
    );
    // Unless the settings are for a ralph that may know them.
    let newer = |schema: &str| format!("{{\"$schema\": \"{schema}\",\n{slips}");
    check_warnings(&newer("https://example.org/ralph/v99.0/settings.schema.json"), &named);
    check_warnings(&newer("https://example.org/ralph-99.1.2.json"), &named);
    for older in ["./settings.schema.json", "https://example.org/v0.0.1/x.json", "http://99.1.2.3/x", "99"] {
        check(&newer(older), &named.join("\n"));
    }
}

#[test]
fn keys_of_the_users_own_are_left_alone() {
    check_warnings(r#"{"x-note": "mine", "agent": {"x-why": {"deep": 1}}, "limits": {"x-": null}}"#, &[]);
    check_warnings(r#"{"$schema": "https://example.org/x.json"}"#, &[]);
    check(r#"{"xnote": 1}"#, r#"1: unknown key "xnote""#);
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

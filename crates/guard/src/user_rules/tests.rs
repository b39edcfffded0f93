//! Lists of users: what they say, and what is wrong with them.

use super::*;
use crate::{Context, Decision, ToolCall, judge};

#[test]
fn unknown_ids_are_named_with_the_nearest() {
    let list = UserRules::parse(r#"{"allow": ["git-pushforce", "git-push-force", "xyzzyxyzzyxyzzy"]}"#)
        .expect("JSON");
    let warnings = list.warnings();
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("did you mean `git-push-force`?"), "{warnings:?}");
    assert!(warnings[1].contains("lists them"), "{warnings:?}");
    assert!(UserRules::parse(r#"{"alow": []}"#).is_err());
}

const RULES: &str = r#"{
  "$schema": "guard.json",
  "allow": ["no-deploy"],
  "rules": [
    {
      "id": "no-prod",
      "patterns": ["ssh *prod*", "make|just deploy*"],
      "unless": ["make deploy-preview"],
      "instead": "Say what should be done there.",
      "match": ["ssh app.prod.example uptime", "sh -c 'make deploy'", "sudo just deploy-all"],
      "not_match": ["make deploy-preview", "ssh dev.example", "echo make deploy"]
    },
    {
      "id": "frozen",
      "tier": "warn",
      "writes": ["infra", "db/schema.sql", "~/notes"],
      "match": ["echo x > infra/a.tf", "rm -rf db", "touch ~/notes/a"],
      "not_match": ["cat infra/a.tf", "echo x > infrastructure.md"]
    }
  ]
}"#;

#[test]
fn rules_of_users_are_judged_like_ours() {
    let UserRules { allow, rules: own_rules } = UserRules::parse(RULES).expect("rules");
    assert_eq!(allow, ["no-deploy"]);
    let ctx = Context { own_rules, ..Context::new("/home/dev/proj", "/home/dev") };
    let judged = |command_line: &str| {
        let verdict = judge(&ToolCall::Shell { command_line: command_line.to_owned() }, &ctx);
        let reason = verdict.reason().map(|finding| (finding.rule.to_string(), finding.instead.to_string()));
        (verdict.decision, reason)
    };
    let reason = ("no-prod".to_owned(), "Say what should be done there.".to_owned());
    assert_eq!(judged("X=deploy; make $X"), (Decision::Block, Some(reason)));
    assert_eq!(judged("make deploy-preview"), (Decision::Allow, None));
    assert_eq!(judged("sed -i s/a/b/ infra/main.tf").0, Decision::Warn);
    // A rule of ours still blocks what theirs only warn about.
    assert_eq!(judged("rm -rf ~/notes").0, Decision::Block);
    let write = ToolCall::Write { paths: vec!["/home/dev/proj/db/schema.sql".to_owned()] };
    assert_eq!(judge(&write, &ctx).decision, Decision::Warn);
}

#[track_caller]
fn check_error(rule: &str, line: usize, message: &str) {
    let text = format!("{{\n\"rules\": [\n{rule}\n]\n}}");
    let error = UserRules::parse(&text).expect_err("an error");
    assert!(error.message.contains(message), "{error:?}");
    assert_eq!(error.line, line, "{error:?}");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let rule = |rest: &str| format!("{{\"id\": \"x\",\n{rest}}}");
    check_error(
        &rule("\"patterns\": [\n\"a\",\n\"-f\"], \"match\": [\"a\"]"),
        6,
        "`-f` is not a pattern of commands",
    );
    check_error(&rule(r#""patterns": ["a"], "match": ["b"]"#), 4, "does not find `b`, which is in `match`");
    check_error(
        &rule("\"patterns\": [\"a\"],\n\"match\": [\"a\"], \"not_match\": [\n\"a b\"]"),
        6,
        "finds `a b`, which is in `not_match`",
    );
    check_error(&rule(r#""patterns": ["a"], "match": []"#), 3, "has no example");
    check_error(&rule(r#""match": ["a"]"#), 3, "finds nothing");
    check_error(&rule(r#""patterns": ["a"], "match": ["a"], "allows": []"#), 4, "unknown field `allows`");
    check_error(r#"{"id": "publish", "patterns": ["a"], "match": ["a"]}"#, 3, "a rule of ralph has this id");
    check_error(r#"{"id": "X Y", "patterns": ["a"], "match": ["a"]}"#, 3, "small letters");
    let twice = [r#"{"id": "x", "patterns": ["a"], "match": ["a"]}"#; 2].join(",\n");
    check_error(&twice, 4, "another rule has this id");
}

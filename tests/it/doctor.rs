//! `ralph doctor` with programs that only pretend to be agents.

use std::fs;

use serde_json::{Value, json};

use crate::env::{Env, done, meet};

/// Where Claude Code keeps its login.
const LOGIN: &str = "home/.claude/.credentials.json";

/// A world with nothing but git, a repository and one agent.
fn healthy() -> Env {
    let env = Env::new().variable("IS_SANDBOX", "1").variable("AMP_API_KEY", "a-secret");
    let env = env.with_git().bare().borrow("git");
    let login = json!({"claudeAiOauth": {"accessToken": "a-secret"}});
    fs::create_dir_all(env.root().join("home/.claude")).expect("a folder");
    fs::write(env.root().join(LOGIN), login.to_string()).expect("a file");
    env.program("claude", "echo '2.1.325 (Claude Code)'");
    env.write(".ralph/settings.json", "{\n  \"agent\": {\"command\": \"claude\"}\n}\n");
    env
}

/// What `--json` prints, with this exit code.
#[track_caller]
fn report(env: &Env, code: i32) -> Value {
    let output = env.ralph(&["doctor", "--json"]).exits(code);
    assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
    assert_eq!(output.stderr, "");
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(report["ok"], code == 0);
    report
}

/// The texts of the problems or warnings.
fn texts(report: &Value, kind: &str) -> Vec<String> {
    let facts = report[kind].as_array().expect("a list").iter();
    facts.map(|fact| fact["text"].as_str().expect("words").to_owned()).collect()
}

#[test]
fn a_healthy_project() {
    let env = healthy();
    let path = env.root().join("bin/claude").display().to_string();
    let output = env.ralph(&["doctor"]).exits(0).prints(&format!("✅ claude 2.1.325 at {path}"));
    let output = output.prints("agent.command = \"claude\"  (.ralph/settings.json:2)").prints("✅ git 2.");
    let output = output.prints("not installed: codex, amp").prints("Ready to run.");
    assert!(!output.stdout.contains('❌') && !output.stdout.contains('\u{1b}'), "{}", output.stdout);
    let report = report(&env, 0);
    assert_eq!(report["found"]["agents"][0]["version"], "2.1.325");
    assert_eq!(report["found"]["agents"][0]["path"], path);
    assert_eq!(report["found"]["git"]["repository"], json!(env.project()));
    assert_eq!(report["found"]["git"]["hasIdentity"], true);
    assert!(report["found"]["project"]["freeBytes"].as_u64().is_some_and(|free| 0 < free));
    assert_eq!((&report["problems"], &report["warnings"]), (&json!([]), &json!([])));
}

#[test]
fn nothing_is_changed_by_looking() {
    let env = Env::new().bare();
    env.ralph(&["doctor"]).exits(2).prints("ralph init").prints("Not ready to run: 1 problem");
    assert_eq!(fs::read_dir(env.project()).expect("a folder").count(), 0);
    assert!(!env.root().join("state").exists());
}

#[test]
fn agents_that_are_not_as_they_should_be() {
    let env = healthy();
    env.program("codex", "echo codex-cli 0.40.0");
    env.program("gemini", "echo no such option >&2; exit 3");
    env.program("pi", "echo hello");
    let report = report(&env, 0);
    let warnings = texts(&report, "warnings");
    let bin = env.root().join("bin");
    let expected = [
        format!(
            "codex 0.40.0 at {}/codex is older than 0.166.0, the oldest that ralph was tried with",
            bin.display()
        ),
        format!("gemini at {}/gemini: it fails to say its version: no such option", bin.display()),
        format!("pi at {}/pi: it says no version", bin.display()),
    ];
    assert_eq!(warnings, expected);
    assert_eq!(report["warnings"][0]["mend"], json!(["npm install -g @openai/codex@latest"]));
}

#[test]
fn an_agent_that_hangs_is_not_waited_for() {
    let env = healthy();
    env.program("claude", "exec /bin/sleep 1000");
    let report = report(&env, 0);
    assert!(texts(&report, "warnings")[0].contains("within 5 s"), "{report}");
    env.nothing_left();
}

#[test]
fn only_known_agents_are_called() {
    let env = healthy();
    env.program("stranger", "touch called");
    env.write(".ralph/settings.json", "{\"agent\": {\"command\": \"stranger\"}}");
    let report = report(&env, 0);
    assert_eq!(report["found"]["agent"]["command"], "stranger");
    assert!(!env.path("called").exists());
    // By its path it is the same agent.
    fs::create_dir(env.path("tools")).expect("a folder");
    env.program("old-claude", "echo 2.1.200");
    fs::rename(env.root().join("bin/old-claude"), env.path("tools/claude")).expect("a program");
    env.write(".ralph/settings.json", "{\"agent\": {\"command\": \"./tools/claude\"}}");
    let output = env.ralph(&["doctor"]).exits(0);
    output.prints(&format!("claude 2.1.200 at {}", env.path("tools/claude").display()));
}

#[test]
fn settings_are_shown_with_their_origins() {
    let env = healthy();
    env.write(
        ".ralph/settings.json",
        "{\n  \"agent\": {\"command\": \"claude\", \"env\": {\"KEY\": \"secret\"}},\n  \"retries\": 1,\n  \"retrys\": 2\n}",
    );
    env.write(".ralph/settings.local.json", "{\n\n  \"retries\": 9}");
    let text = env.ralph(&["doctor"]).exits(2).stdout;
    assert!(!text.contains("secret"), "{text}");
    let report = report(&env, 2);
    let value = |key: &str| &report["found"]["settings"]["values"][key];
    assert_eq!(*value("retries"), json!({"value": 9, "origin": ".ralph/settings.local.json:3"}));
    assert_eq!(*value("agent.env.KEY"), json!({"value": "(hidden)", "origin": ".ralph/settings.json:2"}));
    assert_eq!(*value("completionResponse"), json!({"value": "DONE", "origin": null}));
    assert!(texts(&report, "problems")[0].contains("did you mean \"retries\""), "{report}");
}

#[test]
fn what_stops_a_run_is_told_with_what_to_type() {
    #[track_caller]
    fn check(env: &Env, settings: &str, words: &str, mend: &str) {
        env.write(".ralph/settings.json", settings);
        let report = report(env, 2);
        assert_eq!(report["problems"].as_array().map(Vec::len), Some(1), "{report}");
        let problem = &report["problems"][0];
        assert!(problem["text"].as_str().expect("words").contains(words), "{problem}");
        assert!(problem["mend"][0].as_str().expect("a command").contains(mend), "{problem}");
        env.ralph(&["run", "-p", "x"]).exits(2);
    }
    let env = healthy();
    let commits = r#"{"agent": {"command": "claude"}, "scm": {"tasks": ["commit"]}}"#;
    check(&env, "{}", "no agent is named", "ralph init");
    check(&env, r#"{"agent": {"command": "gone"}}"#, "`gone` cannot be found", "ralph init");
    check(&env, "{\n\"retries\": \"x\"}", ".ralph/settings.json:2: retries", "$EDITOR .ralph/settings.json");
    check(&env, "{\n,}", ".ralph/settings.json:2:1", "$EDITOR");
    env.git(&["config", "--unset", "user.name"]);
    env.git(&["config", "--unset", "user.email"]);
    env.git(&["config", "user.useConfigOnly", "true"]);
    check(&env, commits, "who you are", "git config user.name");
    fs::remove_dir_all(env.path(".git")).expect("a repository");
    check(&env, commits, "not in a repository", "git init");
    fs::remove_file(env.root().join("bin/git")).expect("git");
    check(&env, commits, "`git`, which cannot be found", "$EDITOR");
    env.write("file", "");
    let state = env.path("file").join("state").display().to_string();
    let env = env.variable("RALPH_STATE_DIR", &state);
    check(&env, r#"{"agent": {"command": "claude"}}"#, "cannot be written to", "RALPH_STATE_DIR");
}

#[test]
fn a_run_that_goes_on_is_named() {
    let mut turn = meet("here").to_vec();
    turn.push(done());
    let env = Env::new().turns(json!([turn]));
    let run = env.start(&["run", "-p", "Do it."]);
    env.await_file("here");
    assert_eq!(report(&env, 0)["found"]["running"], env.run_id());
    env.write("here.go", "");
    run.wait().exits(0);
    let report = report(&env, 0);
    assert_eq!(report["found"]["running"], Value::Null);
    assert_eq!(report["found"]["runs"], 1);
    assert!(report["found"]["stateBytes"].as_u64().is_some_and(|bytes| 0 < bytes));
}

#[test]
fn means_of_containment_are_named_with_what_is_in_the_way() {
    let env = healthy();
    env.program("bwrap", "echo 'bwrap: not today' >&2; exit 1");
    let report = report(&env, 0);
    let found = report["found"]["containment"].as_array().expect("a list").clone();
    let obstacle =
        |name: &str| found.iter().find(|means| means["name"] == name).map(|means| means["obstacle"].clone());
    assert!(obstacle("bwrap").is_some_and(|why| why.as_str().is_some_and(|why| why.contains("not today"))));
    assert_eq!(obstacle("sbx"), Some(Value::from("it is not installed")));
    assert!(obstacle("landlock").is_some() && obstacle("embedded").is_some());
    env.ralph(&["doctor"]).exits(0).prints("sbx: does not work: it is not installed");
}

#[test]
fn an_agent_that_is_not_logged_in_is_pointed_out() {
    let env = healthy();
    env.program("codex", "echo codex-cli 0.169.0");
    env.program("amp", "echo 0.0.1790142911");
    let output = env.ralph(&["doctor"]).exits(0).prints("✅ claude is logged in with ").prints(LOGIN);
    let output = output.prints("amp is logged in with AMP_API_KEY").prints("codex is not logged in: no key");
    let output = output.prints("codex login");
    assert!(!output.stdout.contains("a-secret"), "{}", output.stdout);
    // Only the one that is used is worth a warning.
    assert_eq!(texts(&report(&env, 0), "warnings"), Vec::<String>::new());
    fs::remove_file(env.root().join(LOGIN)).expect("a file");
    let report = report(&env, 0);
    let missing = "claude is not logged in: no key in the environment, no login on disk";
    assert_eq!(texts(&report, "warnings"), [missing]);
    assert_eq!(report["warnings"][0]["mend"], json!(["claude auth login"]));
    assert_eq!(report["found"]["agents"][0]["login"], json!({"state": "missing"}));
}

#[test]
fn certain_agents_are_not_logged_in_without_key_and_file() {
    for agent in ["claude", "codex", "gemini", "qwen", "pi", "amp"] {
        let env = Env::new().bare();
        env.program(agent, "echo 1.2.3");
        let report = report(&env, 2);
        let expected = if cfg!(target_os = "macos") && agent != "pi" { "unknown" } else { "missing" };
        assert_eq!(report["found"]["agents"][0]["login"]["state"], expected, "{agent}");
    }
}

#[test]
fn a_missing_login_is_said_before_a_turn_is_spent() {
    let env = healthy();
    let reply = json!({"type": "result", "subtype": "success", "is_error": false, "result": "<response>DONE</response>"});
    env.program("claude", &format!("echo '{reply}'"));
    env.ralph(&["run", "-p", "Do it."]).exits(0).says_not("not logged in");
    fs::remove_file(env.root().join(LOGIN)).expect("a file");
    let missing =
        "claude is not logged in: no key in the environment, no login on disk; log in: claude auth login";
    env.ralph(&["run", "-p", "Do it.", "--dry-run"]).exits(0).prints(missing);
    env.ralph(&["run", "-p", "Do it."]).exits(0).says(missing);
    let journal = env.journal();
    let position = |kind: &str| journal.iter().position(|event| event["event"] == kind);
    let warned = position("warned");
    assert!(warned.is_some() && warned < position("turn_started"), "{journal:?}");
    env.variable("ANTHROPIC_API_KEY", "a-secret")
        .ralph(&["run", "-p", "Do it."])
        .exits(0)
        .says_not("not logged in");
}

#[test]
fn what_ralph_promises_holds_on_this_machine() {
    let env = Env::new();
    let output = env.ralph(&["doctor", "--selftest", "--json"]).exits(0);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let checks = report["checks"].as_array().expect("a list");
    let holding = checks.iter().filter(|check| check["held"] == "holds").count();
    assert!(report["ok"] == true && 6 <= holding, "{report:#}");
    env.nothing_left();
}

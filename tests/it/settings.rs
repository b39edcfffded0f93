//! Settings through the whole program. The exact words of every problem are tested beside the code.

use serde_json::{Value, json};

use crate::env::{Env, RALPH, done, say};

/// These settings files are refused, with these words, before anything is run.
#[track_caller]
fn check_refused(base: &str, local: Option<&str>, words: &[&str]) {
    let env = Env::new().agent("agent", "touch called");
    env.write(".ralph/settings.json", base);
    if let Some(local) = local {
        env.write(".ralph/settings.local.json", local);
    }
    let output = env.run(&[]).exits(2);
    for word in words {
        assert!(output.stderr.contains(word), "expected {word:?} in:\n{}", output.stderr);
    }
    assert!(output.stdout.is_empty(), "{}", output.stdout);
    assert!(!env.path("called").exists(), "the agent was called");
    assert!(env.runs().is_empty(), "a record was left");
}

#[test]
fn wrong_settings_are_refused() {
    check_refused("{}", None, &["agent.command: missing", "--agent claude"]);
    check_refused(
        "{\n  \"agent\": {\"command\": \"agent\"},\n  \"maximumIterations\": -1\n}",
        None,
        &[".ralph/settings.json:3: maximumIterations: expected a positive whole number", "-1"],
    );
    check_refused(
        "{\"maximumIterations\": \"ten\"}",
        None,
        &["settings.json:1: maximumIterations:", "\"ten\""],
    );
    check_refused("{\n  \"agent\": {\n    \"flags\": 5\n  }\n}", None, &["settings.json:3: agent.flags:"]);
    check_refused("{\n  \"agent\": ,\n}", None, &[".ralph/settings.json:2:12: "]);
    check_refused(
        "{\"guardrails\": [{\"command\": \"true\"},\n{\"command\": \" \"}]}",
        None,
        &["settings.json:2: guardrails[1].command: expected a command"],
    );
    check_refused(
        "{\"guardrails\": [{\"command\": \"true\", \"failAction\": \"DROP\"}]}",
        None,
        &["guardrails[0].failAction: expected APPEND, PREPEND or REPLACE", "\"DROP\""],
    );
    check_refused("{\"guardrails\": [{}]}", None, &["guardrails[0].command: missing"]);
    check_refused("", None, &[".ralph/settings.json:1:"]);
    check_refused(
        "{\"agent\": {\"command\": \"agent\"}}",
        Some("{\"retries\": \"many\"}"),
        &[".ralph/settings.local.json:1: retries:"],
    );
}

#[test]
fn all_problems_are_told_at_once() {
    check_refused(
        "{\"retries\": -2,\n\"leftovers\": \"eat\"}",
        Some("{\"scm\": \"git\"}"),
        &["settings.json:1: retries:", "settings.json:2: leftovers:", "settings.local.json:1: scm:"],
    );
}

#[test]
fn wrong_flags_are_refused() {
    let env = Env::new().turns(json!([[done()]]));
    env.run(&["-m", "-1"]).exits(2);
    env.run(&["-m", "many"]).exits(2).says("many");
    env.run(&["--idle-timeout", "soon"]).exits(2).says("30m");
    env.run(&["--guardrail", ""]).exits(2).says("command line: guardrails[0].command");
    env.run(&["--config", "gone.json"]).exits(2).says("gone.json");
    assert!(env.prompts().is_empty() && env.runs().is_empty());
}

#[test]
fn local_settings_are_merged_deeply() {
    let env = Env::new()
        .agent("agent", "cat >/dev/null; printf '%s|' \"$@\" $A $B >arguments; echo Hm.")
        .settings(json!({
            "maximumIterations": 5,
            "agent": {"flags": ["--base", "--twice"], "env": {"A": "base", "B": "base"}},
            "guardrails": [{"command": "touch base-gate"}],
        }));
    let local = json!({"agent": {"flags": ["--local"], "env": {"B": "local"}}, "guardrails": [{"command": "touch local-gate"}]});
    env.write(".ralph/settings.local.json", &local.to_string());
    // Flags come last.
    env.run(&["-m", "1"]).exits(1);
    assert_eq!(env.read("arguments"), "--local|base|local|");
    assert!(env.path("local-gate").exists() && !env.path("base-gate").exists());
    let plan = &env.events("run_started")[0]["plan"];
    assert_eq!(plan["limits"]["max_iterations"], 1);
}

#[test]
fn unknown_keys_are_refused() {
    let env =
        Env::new().turns(json!([[done()]])).settings(json!({"maxIterations": 3, "agent": {"comand": "x"}}));
    let output = env.run(&[]).exits(2);
    let refused = output.says("unknown key \"maxIterations\"; did you mean \"maximumIterations\"?");
    refused.says("error: .ralph/settings.json:").says("did you mean \"agent.command\"?");
    assert!(env.prompts().is_empty(), "an agent was started");
    // A user who only looks is not kept from it.
    env.ralph(&["status"]).exits(0);
    let newer = json!({"$schema": "https://example.org/v99.0/settings.schema.json", "maxIterations": 3});
    let env = Env::new().turns(json!([[done()]])).settings(newer);
    env.run(&[]).exits(0).says("warning: .ralph/settings.json:").says("unknown key \"maxIterations\"");
    let own = json!({"x-team": "mine", "agent": {"x-why": "fast"}});
    Env::new().turns(json!([[done()]])).settings(own).run(&[]).exits(0).says_not("unknown key");
}

#[test]
fn another_file_may_be_named() {
    let env = Env::new().turns(json!([[say("Hm.")]])).settings(json!({"maximumIterations": 7}));
    env.write(".ralph/settings.local.json", "{\"maximumIterations\": 6}");
    let other = json!({"agent": {"command": RALPH, "flags": [env.script_path()]}, "maximumIterations": 2});
    env.write("other.json", &other.to_string());
    env.run(&["--config", "other.json"]).exits(1);
    assert_eq!(env.prompts().len(), 2);
}

#[test]
fn without_any_settings_flags_are_enough() {
    let env = Env::new();
    std::fs::remove_dir_all(env.path(".ralph")).expect("the settings");
    env.program("agent", "cat >/dev/null; echo '<response>DONE</response>'");
    env.run(&["--agent", "agent", "-g", "true"]).exits(0);
    assert!(env.path(".ralph/prompt_001.txt").exists());
}

#[test]
fn the_whole_of_the_settings_is_recorded() {
    let env = Env::new().turns(json!([[done()]])).guardrails(&["true"]);
    env.run(&[]).exits(0);
    let started = &env.events("run_started")[0];
    assert_eq!(started["setup"]["project"], json!(env.project()));
    assert_eq!(started["plan"]["gates"].as_array().map(Vec::len), Some(1));
    assert_eq!(started["run"], Value::from(env.run_id()));
}

#[test]
fn a_user_in_a_subfolder_is_told_where_the_settings_are() {
    let env = Env::new().turns(json!([[done()]]));
    let sub = env.path("sub");
    std::fs::create_dir(&sub).expect("a folder");
    let refused = env.ralph(&["-C", &sub.display().to_string(), "run", "-p", "x"]).exits(2);
    refused.says(&format!("there are settings in {}", env.project().display()));
}

#[test]
fn every_loop_takes_a_model() {
    let env = Env::new().agent("robot", "cat >/dev/null; echo $@ >>args; echo '<response>DONE</response>'");
    env.run(&["--agent", "robot", "--model", "opus"]).exits(0);
    env.write(
        ".ralph/settings.json",
        &json!({"agent": {"command": "robot", "flags": "-x", "model": "sonnet"}}).to_string(),
    );
    env.run(&[]).exits(0);
    env.run(&["--model", "haiku"]).exits(0);
    assert_eq!(env.read("args"), "--model opus\n-x --model sonnet\n-x --model haiku\n");
    for command in ["run", "plan", "build", "prompt", "stories", "job"] {
        env.ralph(&[command, "--help"]).exits(0).prints("--model <MODEL>");
    }
    for command in [["task", "run"], ["task", "resume"], ["session", "run"], ["stories", "run"]] {
        env.ralph(&[command[0], command[1], "--help"]).exits(0).prints("--model <MODEL>");
    }
    // Amp has no models to choose from; that is said before it is looked for.
    env.run(&["--agent", "amp", "--model", "opus"]).exits(2).says("amp chooses its model by itself");
}

#[test]
fn a_duration_that_is_typed_needs_a_unit() {
    let env = Env::new().turns(json!([[done()]])).settings(json!({"limits": {"maxTime": 90}}));
    for flag in ["--max-time", "--idle-timeout", "--iteration-timeout", "--gate-timeout"] {
        env.run(&[flag, "8"]).exits(2).says("8 of what? add a unit: 8s, 8m or 8h");
    }
    env.ralph(&["clean", "--older-than", "7"]).exits(2).says("add a unit");
    env.ralph(&["task", "run", "-p", "x", "--restart-delay", "7"]).exits(2).says("add a unit");
    assert!(env.prompts().is_empty());
    env.run(&["--max-time", "0", "--idle-timeout", "90s"]).exits(0);
}

//! Several agents: who works, who stands in when one cannot, and who is asked when others fail.

use serde_json::{Value, json};

use crate::env::Env;

fn two(env: Env) -> Env {
    env.settings(json!({
        "agents": {"main": {"command": "first"}, "other": {"command": "helper"}},
        "roles": {"work": ["main", "other"]},
        "retryDelay": "10ms",
    }))
}

/// Who had each turn.
fn workers(env: &Env) -> Vec<String> {
    let name = |turn: &Value| turn["agent"].as_str().expect("a name").to_owned();
    env.events("turn_started").iter().map(name).collect()
}

const DONE: &str = "cat >>../prompts; echo; echo '<response>DONE</response>'";

#[test]
fn the_next_agent_stands_in_for_one_that_is_not_there() {
    let env = two(Env::new());
    env.program("helper", DONE);
    env.run(&[]).exits(0).prints("Complete").says("other has this turn").says("main cannot work");
    assert_eq!(workers(&env), ["main", "other"]);
    let turns = env.events("turn_started");
    assert_eq!(turns[1]["because"]["why"], "stands_in");
    assert_eq!(turns[1]["because"]["absence"]["absent"], "refused");
    let status = env.status();
    let agents = status["agents"].as_array().expect("a list");
    assert_eq!(agents[1]["name"], "other");
    assert_eq!(agents[1]["turns"], 1);
    env.nothing_left();
}

#[test]
fn a_run_without_any_of_its_agents_does_not_begin() {
    let env = two(Env::new());
    env.run(&[]).exits(2).says("cannot find the agent `first`");
}

#[test]
fn a_name_that_is_no_agent_is_refused_with_its_line() {
    let env = Env::new();
    env.write(
        ".ralph/settings.json",
        "{\"agents\": {\"main\": {\"command\": \"first\"}, \"second\": {}},\n \"roles\": {\"work\": [\"main\"],\n  \"review\": [\"secnd\"]}}",
    );
    let said = env.run(&[]).exits(2);
    let said = said.says(".ralph/settings.json:1: agents.second.command: missing");
    said.says(".ralph/settings.json:3: roles.review: there is no agent \"secnd\" in \"agents\"; did you mean \"second\"?");
}

#[test]
fn a_typed_name_is_that_agent_alone_and_anything_else_is_a_command() {
    let env = two(Env::new());
    env.program("first", "cat >/dev/null; echo '<response>DONE</response>'");
    env.program("helper", DONE);
    env.program("third", DONE);
    env.run(&["--agent", "other"]).exits(0);
    assert_eq!(workers(&env), ["other"]);
    env.run(&["--agent", "third"]).exits(0);
    let started = &env.events("run_started")[0];
    assert_eq!(started["setup"]["agent"]["command"], "third");
    assert_eq!(workers(&env), ["main"]);
}

#[test]
fn one_agent_is_called_main_as_ever() {
    let env = Env::new().turns(json!([[crate::env::done()]]));
    env.run(&[]).exits(0);
    assert_eq!(workers(&env), ["main"]);
    assert_eq!(env.events("run_started")[0]["plan"]["roles"]["work"], json!(["main"]));
}

#[test]
fn the_stronger_works_while_the_guardrail_is_red_and_the_cheap_one_again_afterwards() {
    let env = Env::new().guardrails(&["test -e mended"]).settings(json!({
        "agents": {"cheap": {"command": "first"}, "strong": {"command": "helper"}},
        "roles": {"work": ["cheap"], "escalate": ["strong"], "escalateAfter": 2},
    }));
    env.program("first", "cat >/dev/null; test ! -e mended || echo '<response>DONE</response>'; echo tried");
    env.program("helper", "cat >/dev/null; touch mended; echo mended");
    env.run(&[]).exits(0).says("strong has this turn: step 1 of the ladder");
    assert_eq!(workers(&env), ["cheap", "cheap", "strong", "cheap"]);
    let page = env.root().join("report.html");
    env.ralph(&["report", "--file", page.to_str().expect("a path")]).exits(0);
    let page = std::fs::read_to_string(page).expect("the report");
    assert!(page.contains("class=\"stronger\"") && page.contains("strong (helper)"), "{page}");
}

/// Claude Code, refused until this second, as its stream says it.
fn claude(reset: &str) -> String {
    format!(
        "cat >/dev/null; echo c >>../calls\n\
         echo '{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}}'\n\
         echo \"{{\\\"type\\\":\\\"rate_limit_event\\\",\\\"rate_limit_info\\\":{{\\\"status\\\":\\\"rejected\\\",\\\"resetsAt\\\":{reset}}}}}\"\n\
         echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"api_error_status\":429,\"result\":\"Usage limit reached\"}}'; exit 1"
    )
}

#[test]
fn at_a_usage_limit_the_next_works_and_a_resume_does_not_forget_it() {
    let env = Env::new().guardrails(&["test -e mended"]).settings(json!({
        "agents": {"main": {"command": "claude"}, "other": {"command": "helper"}},
        "roles": {"work": ["main", "other"]},
        "guard": "off",
    }));
    env.program("claude", &claude("4000000000"));
    env.program("helper", "cat >>../prompts; echo tried; test ! -e ready || { touch mended; echo '<response>DONE</response>'; }");
    env.run(&["-m", "2"]).exits(1).says("other has this turn: main has reached its usage limit until");
    assert_eq!(workers(&env), ["main", "other", "other"]);
    assert_eq!(env.events("turn_started")[1]["attempt"], 1, "no attempt is used");
    assert!(env.events("wait_started").is_empty());
    assert!(env.read("../prompts").contains("test -e mended"), "feedback does not depend on who works");
    env.write("ready", "");
    env.ralph(&["resume", "-m", "4"]).exits(0);
    assert_eq!(workers(&env)[3..], ["other"]);
    assert_eq!(env.read("../calls"), "c\n", "it was asked once");
}

#[test]
fn when_all_have_reached_their_limits_ralph_waits_for_the_earliest_and_it_works_again() {
    let env = Env::new().settings(json!({
        "agents": {"main": {"command": "claude"}, "other": {"command": "codex"}},
        "roles": {"work": ["main", "other"]},
        "guard": "off",
    }));
    let again = "test ! -e ../calls || { cat >/dev/null; echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"<response>DONE</response>\"}'; exit; }\n";
    env.program("claude", &format!("{again}{}", claude("$(($(date +%s) + 2))")));
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures");
    env.program("codex", &format!("cat >/dev/null; cat {fixtures}/codex/quota.ndjson; exit 1"));
    env.run(&[]).exits(0).says("The usage limit is reached");
    let workers = workers(&env);
    assert_eq!(
        (workers.first().map(String::as_str), workers.last().map(String::as_str)),
        (Some("main"), Some("main"))
    );
    assert!(workers.contains(&"other".to_owned()), "{workers:?}");
    assert_eq!(env.events("wait_started")[0]["why"], "usage_limit");
}

/// Refusals as the eight agents printed them: limit, overload, lost login. Where only a lost login was recorded, the same
/// stream with the status of a limit.
const REFUSALS: [(&str, &str, &str); 21] = [
    ("claude", "err401", ""),
    ("claude", "err429", ""),
    ("claude", "err529_forever", ""),
    ("codex", "quota", ""),
    ("codex", "quota_reset", ""),
    ("codex", "sse_quota", ""),
    ("codex", "err401", ""),
    ("codex", "err429", ""),
    ("copilot", "err401", ""),
    ("copilot", "err429", ""),
    ("gemini", "err401", ""),
    ("gemini", "err401", "401/429"),
    ("qwen", "err401", ""),
    ("qwen", "err401", "401/429"),
    ("opencode", "err401", ""),
    ("opencode", "err401", "401/429"),
    ("amp", "err500", ""),
    ("amp", "err500", "500/429"),
    ("amp", "err500", "500/402"),
    ("pi", "err500", ""),
    ("pi", "err500", "500/429"),
];

#[test]
fn another_stands_in_for_every_agent_that_is_refused() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures");
    for (agent, stream, other) in REFUSALS {
        let env = Env::new().settings(json!({
            "agents": {"main": {"command": agent}, "other": {"command": "helper"}},
            "roles": {"work": ["main", "other"]},
            "guard": "off",
        }));
        let other = if other.is_empty() { String::new() } else { format!(" | sed s/{other}/g") };
        env.program(agent, &format!("cat >/dev/null; cat {fixtures}/{agent}/{stream}.ndjson{other}; exit 1"));
        env.program("helper", "cat >/dev/null; echo '<response>DONE</response>'");
        env.run(&[]).exits(0);
        assert_eq!(workers(&env), ["main", "other"], "{agent} {stream}{other}");
        let absent = env.events("turn_started")[1]["because"]["absence"]["absent"].clone();
        let is_for_a_person = stream.starts_with("err401") && other.is_empty() || other.contains("402");
        if is_for_a_person {
            assert_eq!(absent, "refused", "{agent} {stream}{other}");
        } else if stream.starts_with("err") {
            assert_eq!(absent, "overloaded", "{agent} {stream}{other}");
        }
    }
}

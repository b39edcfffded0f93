//! Loops whose agent is guarded: what is judged, written down, shown, and what happens when the guard is in danger.

use std::{fmt::Write, fs};

use serde_json::{Value, json};

use crate::{
    env::{Env, Output, RALPH},
    hook::{ask, recorded},
};

/// A stream of the real program's in which a hook was called before two tools.
const STREAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../agents/fixtures/claude/hooks_judge.ndjson");

/// An agent that has its calls judged as Claude Code does, and then does what `more` says.
fn claude(calls: &[(&str, Value)], more: &str) -> Env {
    claude_of("2.1.325", calls, more)
}

fn claude_of(version: &str, calls: &[(&str, Value)], more: &str) -> Env {
    let mut script = "cat >/dev/null; printf '%s\\n' \"$@\" >arguments\n".to_owned();
    for (tool, input) in calls {
        let call = json!({"session_id": "s", "tool_name": tool, "tool_input": input}).to_string();
        let call = call.replace('\'', "'\\''");
        let place = "s|^{|{\"cwd\":\"$PWD\",|";
        let place = place.replace('"', "\\\"");
        let ask = format!("printf '%s' '{call}' | sed \"{place}\" | {RALPH} hook pre-tool-use >>answers\n");
        script.push_str(&ask);
    }
    let done = "s|\"text\":\"done\"|\"text\":\"<response>DONE</response>\"|";
    let stream = format!("sed -e '{done}' -e 's|2[.]1[.]325|{version}|' '{STREAM}'");
    Env::new().agent("claude", &[&*script, more, &*stream].join("\n"))
}

fn bash(command: &str) -> (&'static str, Value) {
    ("Bash", json!({"command": command}))
}

/// Every call that was judged, as it stands in the journal.
fn judged(env: &Env) -> Vec<Value> {
    let events = env.events("tool_calls_judged");
    events.iter().filter_map(|event| event["calls"].as_array()).flatten().cloned().collect()
}

fn decisions(env: &Env) -> Vec<String> {
    judged(env).iter().map(|call| call["decision"].as_str().expect("a decision").to_owned()).collect()
}

/// Puts a list of rules into the user's home.
fn allow(env: &Env, text: &str) {
    let folder = env.root().join("home/.config/ralph");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("guard.json"), text).expect("a list");
}

#[test]
fn every_judgement_is_recorded_and_refusals_are_shown() {
    let calls = [
        bash("cargo test"),
        bash("git push --force"),
        ("Write", json!({"file_path": ".ralph/settings.json", "content": "{}"})),
        ("Edit", json!({"file_path": "src/main.rs"})),
        ("mcp__tracker__list", json!({})),
    ];
    let env = claude(&calls, "");
    let output: Output = env.run(&[]).exits(0);
    let calls = judged(&env);
    assert_eq!(decisions(&env), ["allow", "block", "block", "allow", "allow"]);
    let refused = json!({"tool": "Bash", "asked": "git push --force", "decision": "block", "rule": "git-push-force",
                         "found": "`git push --force`"});
    assert_eq!(calls[1], refused);
    assert_eq!(
        (&calls[2]["rule"], &calls[2]["asked"]),
        (&json!("harness-files"), &json!(".ralph/settings.json"))
    );
    assert_eq!(calls[4], json!({"tool": "mcp__tracker__list", "decision": "allow"}));
    let hooks = &env.events("turn_ended")[0]["hooks"];
    assert_eq!((&hooks["judged"], &hooks["refused"]), (&json!(5), &json!(2)));
    output.says("The guard refused: Bash git push --force (git-push-force)");
    env.ralph(&["status"])
        .exits(0)
        .prints("guard: refused 2 of 5 tool calls, last: Write .ralph/settings.json");
    let status: Value =
        serde_json::from_str(&env.ralph(&["status", "--json"]).exits(0).stdout).expect("JSON");
    assert_eq!((&status["guard"]["judged"], &status["guard"]["refused"][0]), (&json!(5), &refused));
    env.ralph(&["report", "--file", "report.html"]).exits(0);
    assert!(env.read("report.html").contains(
        "<td class=\"who\">the guard</td><td><code>Bash git push --force</code></td><td>git-push-force</td>"
    ));
    assert!(env.read("answers").contains("blocked by ralph's guard (git-push-force)"));
}

#[test]
fn the_user_switches_rules_off_and_a_project_does_not() {
    let env = claude(&[bash("git push --force")], "");
    env.write(".config/ralph/guard.json", "{\"allow\": [\"git-push-force\"]}");
    env.write(".ralph/guard.json", "{\"allow\": [\"git-push-force\"]}");
    env.run(&[]).exits(0).says(".ralph/guard.json is ignored: rules are yours");
    assert_eq!(decisions(&env), ["block"]);
    allow(&env, "{\"allow\": [\"git-push-force\", \"git-pushforce\"]}");
    env.run(&[]).exits(0).says("did you mean `git-push-force`?");
    assert_eq!(decisions(&env), ["allow"]);
    // A list that cannot be read would have every call refused.
    allow(&env, "{\"allow\": ");
    env.run(&[]).exits(2).says("guard.json:1: not a list of rules");
    env.run(&["--no-guard"]).exits(0).says_not("guard.json");
}

#[test]
fn what_agents_are_told_to_write_they_may_write() {
    let calls = [
        ("Edit", json!({"file_path": ".ralph/implementation_plan.md"})),
        ("Write", json!({"file_path": ".ralph/tasks/a/notes.md"})),
        ("Write", json!({"file_path": ".ralph/tasks/a/TASK.md"})),
        bash("ralph stories submit US-1 --note built && ralph bus post --type INFO --body hi"),
        bash("ralph job -p 'do a part'"),
        bash("ralph stop"),
        bash("ralph job --no-guard -p 'do a part'"),
    ];
    let env = claude(&calls, "");
    env.run(&[]).exits(0);
    assert_eq!(decisions(&env), ["allow", "allow", "block", "allow", "allow", "block", "block"]);
}

#[test]
fn links_of_file_tools_are_followed() {
    let calls = [
        ("Write", json!({"file_path": "notes.md"})),
        ("Write", json!({"file_path": "later.md"})),
        ("Write", json!({"file_path": "folder/settings.json"})),
        ("Write", json!({"file_path": "plain.md"})),
    ];
    let links = "ln -s .claude/settings.json notes.md; ln -s .ralph-active later.md; ln -s .claude folder";
    let env = claude(&calls, "");
    env.write(".claude/settings.json", "{}");
    env.sh(links).exits(0);
    env.run(&[]).exits(0);
    assert_eq!(decisions(&env), ["block", "block", "block", "allow"]);
}

#[test]
fn files_that_take_the_hook_away_stop_the_run() {
    let env = claude(&[bash("sh tidy.sh")], "mkdir -p .claude; echo '{}' >.claude/settings.local.json");
    env.run(&[])
        .exits(6)
        .says("The turn changed files that can remove ralph's guard: .claude/settings.local.json.");
    let ended = &env.events("turn_ended")[0];
    assert_eq!((&ended["end"]["how"], &ended["claimed"]), (&json!("unguarded"), &json!(false)));
    let end = &env.events("run_ended")[0];
    assert_eq!((&end["outcome"], &end["why"]), (&json!("stopped"), &json!("unguarded")));
    // They are there now, so the next turn changes nothing.
    env.ralph(&["resume"]).exits(0);
}

/// The program that the hooks of the agent's settings call, in a script of the agent's.
const CALLED: &str =
    r#"called=$(printf '%s\n' "$@" | sed -n 's|.*"command":"\([^" ]*\) hook pre-tool-use".*|\1|p')"#;

#[test]
fn hooks_call_a_copy_that_is_the_runs_own() {
    let look = format!(
        "{CALLED}; echo \"$called\" >called; \"$called\" --version >version; stat -c %a \"$called\" \"${{called%/*}}\" >modes"
    );
    let env = claude(&[bash("cargo test")], &look);
    env.run(&[]).exits(0);
    let called = env.read("called").trim().to_owned();
    assert!(called.starts_with(&*env.newest_run().to_string_lossy()), "{called}");
    assert!(env.read("version").starts_with("ralph "), "{}", env.read("version"));
    assert_eq!(env.read("modes"), "500\n700\n");
    assert!(!std::path::Path::new(&called).exists(), "nothing is left of it");
}

#[test]
fn who_replaces_what_the_hooks_call_stops_the_run() {
    let replace = format!("{CALLED}; ln -sf /bin/true \"$called\"");
    let env = claude(&[bash("sh tidy.sh")], &replace);
    env.run(&[]).exits(6).says("The turn changed files that can remove ralph's guard: ").says("/bin/ralph.");
    // The next process makes a copy anew.
    let env = env.agent("claude", "cat >/dev/null; echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"result\":\"<response>DONE</response>\"}'");
    env.ralph(&["resume"]).exits(0);
}

/// A turn in which these calls ran, by the stream, and these were judged, each by its id.
fn ran_and_judged(ran: &[&str], judged: &[Option<&str>]) -> Env {
    let mut script = "cat >/dev/null\n".to_owned();
    for id in judged {
        let mut call =
            json!({"session_id": "s", "cwd": "/", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        if let Some(id) = id {
            call["tool_use_id"] = json!(id);
        }
        writeln!(script, "printf '%s' '{call}' | {RALPH} hook pre-tool-use >/dev/null").expect("a string");
    }
    let hook = json!({"type": "system", "subtype": "hook_response", "hook_event": "PreToolUse", "exit_code": 0, "outcome": "success", "stdout": "", "stderr": ""});
    writeln!(script, "echo '{hook}'").expect("a string");
    for id in ran {
        let start = json!({"type": "assistant", "parent_tool_use_id": null, "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}]}});
        let end = json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": "x", "is_error": false}]}});
        writeln!(script, "echo '{start}'; echo '{end}'").expect("a string");
    }
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1, "result": "<response>DONE</response>"});
    writeln!(script, "echo '{result}'").expect("a string");
    Env::new().agent("claude", &script)
}

#[test]
fn every_call_that_ran_has_its_judgement() {
    ran_and_judged(&["t1", "t2"], &[Some("t2"), Some("t1")]).run(&[]).exits(0);
    // A judgement of another call is none of this one.
    let env = ran_and_judged(&["t1", "t2"], &[Some("t1"), Some("t3")]);
    env.run(&[]).exits(6).says("Tools ran that ralph's guard has not checked: Bash (t2).");
    assert_eq!(env.events("turn_ended")[0]["end"], json!({"how": "unguarded", "unjudged": ["Bash (t2)"]}));
    assert_eq!(judged(&env)[0]["id"], "t1");
    env.ralph(&["status"]).prints("Stopped: tools ran that ralph's guard has not checked: Bash (t2)");
    // Where hooks are not told which call it is, the number counts.
    ran_and_judged(&["t1", "t2"], &[None, None]).run(&[]).exits(0);
    ran_and_judged(&["t1", "t2"], &[None]).run(&[]).exits(6);
}

#[test]
fn a_guarded_agent_needs_no_rules_of_its_own() {
    const SKIP: &str = "--dangerously-skip-permissions";
    const WARNING: &str = "the agent is not sandboxed; the guard blocks dangerous commands";
    let env = claude(&[bash("ls")], "").variable("IS_SANDBOX", "1");
    env.run(&[]).exits(0).says(WARNING);
    assert!(env.read("arguments").contains(SKIP));
    let env = claude(&[bash("ls")], "").variable("IS_SANDBOX", "1");
    env.run(&["--no-guard"]).exits(0).says_not("the agent is not sandboxed");
    assert!(!env.read("arguments").contains(SKIP));
    let env = env.settings(json!({"agent": {"permissions": "skip"}}));
    env.run(&["--no-guard"]).exits(0).says("its own permission rules are switched off");
    assert!(env.read("arguments").contains(SKIP));
    let env = env.settings(json!({"agent": {"permissions": "agent"}}));
    env.run(&[]).exits(0).says_not("the agent is not sandboxed");
    assert!(!env.read("arguments").contains(SKIP));
}

#[test]
fn root_is_told_before_a_turn_what_claude_needs() {
    const HINT: &str = "IS_SANDBOX=1 (no other value counts)";
    if !rustix::process::geteuid().is_root() {
        return crate::env::skip("only root is refused");
    }
    for value in ["0", "true", "yes"] {
        let env = claude(&[bash("ls")], "").variable("IS_SANDBOX", value);
        env.run(&[]).exits(0).says("claude runs as root and keeps its own permission rules").says(HINT);
        let env = env.settings(json!({"agent": {"permissions": "skip"}}));
        env.run(&[])
            .exits(2)
            .says("claude refuses to skip its permission rules as root")
            .says("--sandbox")
            .says(HINT);
        assert_eq!(env.runs().len(), 1, "a run was begun");
        env.ralph(&["doctor"]).exits(0).prints("runs as root: without a sandbox and without IS_SANDBOX=1");
    }
    let env = claude(&[bash("ls")], "")
        .settings(json!({"agent": {"env": {"IS_SANDBOX": "1"}, "permissions": "skip"}}));
    env.run(&[]).exits(0).says_not("as root");
    let told = env.ralph(&["doctor"]).exits(0).stdout;
    assert!(!told.contains("runs as root"), "{told}");
}

#[test]
fn old_versions_are_named() {
    let env = claude_of("2.1.197", &[bash("ls")], "");
    env.run(&[]).exits(0).says("version 2.1.197 of the agent runs a tool call even if ralph's hook fails");
    claude(&[bash("ls")], "").run(&[]).exits(0).says_not("of the agent runs a tool call");
}

#[test]
fn a_loop_inside_a_conversation_is_guarded_and_recorded() {
    let env = Env::new();
    let start = ["session", "start", "--session-id", "s", "--max-iterations", "3", "Work."];
    env.ralph(&start).exits(0);
    let scope = ["pre-tool-use", "--in-loop-only"];
    let mut call = recorded("claude-pre-tool-use-bash", "s");
    call["cwd"] = json!(env.project());
    for command in ["ls", "git reset --hard HEAD~3"] {
        call["tool_input"]["command"] = json!(command);
        ask(&env, &scope, &call);
    }
    ask(&env, &["stop", "--in-loop-only"], &recorded("claude-stop", "s"));
    assert_eq!(decisions(&env), ["allow", "block"]);
    // Another conversation in the same folder is no one's loop.
    call["session_id"] = json!("other");
    assert_eq!(ask(&env, &scope, &call), Value::Null);
}

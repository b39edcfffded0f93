//! `ralph init` on a real terminal, and without one.

use std::fs;

use serde_json::{Value, json};

use crate::{
    env::{Env, RALPH, done, write},
    pty::Pty,
};

const AGENT: &str = "Agent command (e.g., claude, codex, amp, or other LLM CLI): ";
/// Asked where a second agent is installed.
const SECOND: &str = "Use gemini when codex cannot work, and for reviews? (y/N): ";
const FLAGS: &str = "Agent flags (comma-separated, optional): ";
const ITERATIONS: &str = "Maximum iterations [10]: ";
const RESPONSE: &str = "Completion response [DONE]: ";
const GUARDRAIL: &str = "Add guardrail command (leave blank to finish): ";
const ACTION: &str = "  Fail action (APPEND|PREPEND|REPLACE): ";
const HINT: &str = "  Hint (optional, guidance for agent on failure): ";
const SCM: &str = "Configure SCM? (y/N): ";
const SANDBOX: &str = "Contain the agent in a sandbox? (y/N): ";
const NOTIFY: &str = "Notify when a run ends or needs you (optional: desktop, ntfy:TOPIC, slack:$VARIABLE, webhook:URL, or a command): ";
const SCM_COMMAND: &str = "  SCM command (e.g., git): ";
const SCM_TASKS: &str = "  SCM tasks (comma-separated, e.g., commit,push): ";
const OVERWRITE: &str = "Overwrite? (y/N): ";
const WRITTEN: &str = "Settings written to .ralph/settings.json";
const SETTINGS: &str = ".ralph/settings.json";

fn init(env: &Env) -> Pty {
    Pty::start(env.command(RALPH).arg("init"))
}

#[track_caller]
fn written(env: &Env) -> Value {
    let text = env.read(SETTINGS);
    assert!(text.starts_with("{\n  \"") && text.ends_with("}\n"), "{text}");
    serde_json::from_str(&text).expect("JSON")
}

/// Nothing is there that was not there before.
#[track_caller]
fn nothing_written(env: &Env) {
    assert!(!env.path(".ralph").exists(), "{:?}", fs::read_dir(env.path(".ralph")).map(Iterator::count));
}

#[test]
fn the_dialogue_of_the_documentation() {
    let env = Env::new().bare();
    let mut pty = init(&env);
    pty.answer(AGENT, "claude").answer(FLAGS, "--model,opus").answer(ITERATIONS, "").answer(RESPONSE, "");
    pty.answer(GUARDRAIL, "make lint").answer(ACTION, "APPEND").answer(HINT, "Fix lint errors only.");
    pty.answer(GUARDRAIL, "make test").answer(ACTION, "replace").answer(HINT, "");
    pty.answer(GUARDRAIL, "")
        .answer(SCM, "y")
        .answer(SCM_COMMAND, "git")
        .answer(SCM_TASKS, "commit, push")
        .answer(SANDBOX, "")
        .answer(NOTIFY, "");
    pty.expect(WRITTEN).expect("Next: ralph run").exits(0);
    let expected = json!({
        "$schema": "./settings.schema.json",
        "maximumIterations": 10,
        "completionResponse": "DONE",
        "outputTruncateChars": 5000,
        "streamAgentOutput": true,
        "agent": {"command": "claude", "flags": ["--model", "opus"]},
        "guardrails": [
            {"command": "make lint", "failAction": "APPEND", "hint": "Fix lint errors only."},
            {"command": "make test", "failAction": "REPLACE"},
        ],
        "scm": {"command": "git", "tasks": ["commit", "push"]},
    });
    assert_eq!(written(&env), expected);
    let mut files: Vec<_> = fs::read_dir(env.path(".ralph")).expect("a folder").flatten().collect();
    files.sort_by_key(fs::DirEntry::file_name);
    let names: Vec<_> = files.iter().map(fs::DirEntry::file_name).collect();
    assert_eq!(names, [".gitignore", "settings.json", "settings.schema.json"]);
    assert_eq!(env.read(".ralph/settings.schema.json"), env.ralph(&["schema", "settings"]).exits(0).stdout);
}

#[test]
fn defaults_make_settings_that_run() {
    let env = Env::new().bare();
    env.program("agent", "while read -r line; do :; done; echo '<response>DONE</response>'");
    let mut pty = init(&env);
    pty.answer(AGENT, "agent").answer(FLAGS, "").answer(ITERATIONS, "").answer(RESPONSE, "");
    pty.answer(GUARDRAIL, "").answer(SCM, "").answer(SANDBOX, "").answer(NOTIFY, "").expect(WRITTEN).exits(0);
    let settings = written(&env);
    assert_eq!(settings["agent"], json!({"command": "agent", "flags": []}));
    assert_eq!(settings["guardrails"], json!([]));
    assert_eq!(settings.get("scm"), None);
    env.ralph(&["run", "-p", "Say <response>DONE</response>."]).exits(0).says_not("warning");
}

#[test]
fn bad_answers_are_asked_again() {
    let env = Env::new().bare();
    let mut pty = init(&env);
    pty.answer(AGENT, "").answer(AGENT, "   ").answer(AGENT, "cl\u{1b}[Daude").answer(AGENT, "codex");
    pty.answer(FLAGS, "--say 'x").answer(FLAGS, "");
    for number in ["0", "-3", "ten", "1.5", "99999999999"] {
        pty.answer(ITERATIONS, number).expect("whole number above zero");
    }
    pty.answer(ITERATIONS, "25").answer(RESPONSE, " FINISHED ");
    pty.answer(GUARDRAIL, "make test").answer(ACTION, "").answer(ACTION, "MAYBE").answer(ACTION, " Prepend ");
    pty.answer(HINT, "").answer(GUARDRAIL, "").answer(SCM, "perhaps").answer(SCM, "Y");
    pty.answer(SCM_COMMAND, "")
        .answer(SCM_TASKS, " , ")
        .answer(SCM_TASKS, "commit")
        .answer(SANDBOX, "")
        .answer(NOTIFY, "");
    pty.expect(WRITTEN).exits(0);
    let settings = written(&env);
    assert_eq!(settings["agent"]["command"], "codex");
    assert_eq!(settings["maximumIterations"], 25);
    assert_eq!(settings["completionResponse"], "FINISHED");
    assert_eq!(settings["guardrails"][0]["failAction"], "PREPEND");
    assert_eq!(settings["scm"], json!({"command": "git", "tasks": ["commit"]}));
}

#[test]
fn what_is_found_is_offered() {
    let env = Env::new().bare();
    env.program("codex", "");
    env.program("gemini", "");
    env.write("Cargo.toml", "[package]\n");
    let mut pty = init(&env);
    pty.expect("Installed agents: codex, gemini");
    pty.answer("or other LLM CLI) [codex]: ", "")
        .answer(FLAGS, "")
        .answer(SECOND, "y")
        .answer(ITERATIONS, "")
        .answer(RESPONSE, "");
    pty.answer("Add guardrail \"cargo test\"? (Y/n): ", "");
    pty.answer("Add guardrail \"cargo clippy -- -D warnings\"? (Y/n): ", "n");
    pty.answer("Add guardrail \"cargo fmt --check\"? (Y/n): ", "yes");
    pty.answer(GUARDRAIL, "")
        .answer(SCM, "n")
        .answer(SANDBOX, "")
        .answer(NOTIFY, "")
        .expect(WRITTEN)
        .exits(0);
    let settings = written(&env);
    assert_eq!(settings["agents"]["main"]["command"], "codex");
    assert_eq!(settings["agents"]["second"]["command"], "gemini");
    assert_eq!(settings["roles"], json!({"work": ["main", "second"], "review": ["second"]}));
    let expected = json!([
        {"command": "cargo test", "failAction": "APPEND"},
        {"command": "cargo fmt --check", "failAction": "APPEND"},
    ]);
    assert_eq!(settings["guardrails"], expected);
}

#[test]
fn settings_that_exist_are_shown_and_kept() {
    let env = Env::new().bare();
    let text = "{ \"agent\": {\"command\": \"amp\", \"flags\": [\"-x\"]},\n\n \"retries\": 2 }";
    env.write(SETTINGS, text);
    for answer in ["", "n"] {
        let mut pty = init(&env);
        pty.expect("  \"retries\": 2")
            .expect("Loaded from .ralph/settings.json\r\n")
            .answer(OVERWRITE, answer)
            .exits(0);
        assert_eq!(env.read(SETTINGS), text);
    }
    env.write(".ralph/settings.local.json", "{\"agent\": {\"command\": \"pi\"}}");
    let mut pty = init(&env);
    pty.expect("\"command\": \"pi\"").expect("\"-x\"");
    pty.expect("Loaded from .ralph/settings.json (with local overlay from settings.local.json)\r\n");
    pty.answer(OVERWRITE, "y").answer(AGENT, "claude").answer(FLAGS, "").answer(ITERATIONS, "");
    pty.answer(RESPONSE, "")
        .answer(GUARDRAIL, "")
        .answer(SCM, "")
        .answer(SANDBOX, "")
        .answer(NOTIFY, "")
        .expect(WRITTEN)
        .exits(0);
    assert_eq!(written(&env)["agent"]["command"], "claude");
    assert_eq!(env.read(".ralph/settings.local.json"), "{\"agent\": {\"command\": \"pi\"}}");
}

#[test]
fn broken_settings_can_be_replaced() {
    let env = Env::new().bare();
    env.write(SETTINGS, "{\n  \"agent\": ,\n}");
    let mut pty = init(&env);
    pty.expect(".ralph/settings.json:2:12: ").answer(OVERWRITE, "y").answer(AGENT, "claude");
    pty.answer(FLAGS, "")
        .answer(ITERATIONS, "")
        .answer(RESPONSE, "")
        .answer(GUARDRAIL, "")
        .answer(SCM, "")
        .answer(SANDBOX, "")
        .answer(NOTIFY, "");
    pty.expect(WRITTEN).exits(0);
    written(&env);
}

#[test]
fn ctrl_c_and_ctrl_d_leave_nothing() {
    for key in ["\u{3}", "\u{4}", "cla\u{4}\u{4}"] {
        let env = Env::new().bare();
        let mut pty = init(&env);
        pty.expect(AGENT).types(key).expect("nothing was written").exits(130);
        nothing_written(&env);
        let mut pty = init(&env);
        pty.answer(AGENT, "claude").answer(FLAGS, "").answer(ITERATIONS, "").answer(RESPONSE, "");
        pty.answer(GUARDRAIL, "make").expect(ACTION).types(key).exits(130);
        nothing_written(&env);
    }
}

#[test]
fn ctrl_c_leaves_the_settings_that_exist() {
    let env = Env::new().bare();
    env.write(SETTINGS, "{}");
    init(&env).expect(OVERWRITE).types("\u{3}").exits(130);
    init(&env).expect(OVERWRITE).types("\u{4}").exits(130);
    init(&env).answer(OVERWRITE, "y").expect(AGENT).types("\u{3}").exits(130);
    assert_eq!(env.read(SETTINGS), "{}");
    assert_eq!(fs::read_dir(env.path(".ralph")).expect("a folder").count(), 1);
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let env = Env::new().bare();
    env.ralph(&["init"]).exits(2).says("no terminal").says("ralph init --yes");
    nothing_written(&env);
    env.ralph(&["init", "--yes"]).exits(2).says("no agent").says("--agent");
    nothing_written(&env);
}

#[test]
fn yes_takes_what_is_found() {
    let env = Env::new().with_git().bare().borrow("git");
    env.program("amp", "");
    env.write("package.json", r#"{"scripts": {"test": "t", "lint": "l"}}"#);
    env.write("yarn.lock", "");
    env.ralph(&["init", "--yes"]).exits(0).prints(WRITTEN).says_not("warning");
    let settings = written(&env);
    assert_eq!(settings["agent"]["command"], "amp");
    let commands = ["yarn test", "yarn run lint"].map(|it| json!({"command": it, "failAction": "APPEND"}));
    assert_eq!(settings["guardrails"], json!(commands));

    let before = env.read(SETTINGS);
    env.ralph(&["init", "--yes", "--agent", "pi"]).exits(2).says("exists").says("--force");
    assert_eq!(env.read(SETTINGS), before);
    env.ralph(&["init", "--yes", "--agent", "./my agent", "--force"]).exits(0);
    assert_eq!(written(&env)["agent"]["command"], "./my agent");
    let ignored = env.git(&["status", "--porcelain", "--untracked-files=all", "--", ".ralph"]);
    assert_eq!(ignored, "?? .ralph/settings.json\n?? .ralph/settings.schema.json\n");
}

#[test]
fn settings_behind_a_link_stay_there() {
    let env = Env::new().bare();
    env.write("shared/settings.json", "{}");
    env.write(".ralph/x", "");
    std::os::unix::fs::symlink("../shared/settings.json", env.path(SETTINGS)).expect("a link");
    env.ralph(&["init", "--yes", "--force", "--agent", "claude"]).exits(0);
    assert!(env.path(SETTINGS).is_symlink());
    assert!(env.read("shared/settings.json").contains("claude"));
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let env = Env::new().bare();
    env.write(".ralph", "a file");
    env.ralph(&["init", "--yes", "--agent", "claude"]).exits(2).says("cannot write `.ralph/settings.json`");
}

#[test]
fn enter_all_the_way_inside_a_repository_gives_a_loop_that_commits() {
    let env = Env::new().with_git().turns(json!([[write("work", "done"), done()]]));
    fs::remove_file(env.path(".ralph/settings.json")).expect("the settings");
    env.program("claude", "exit 0");
    let mut pty = init(&env);
    pty.answer("[claude]: ", "")
        .answer(FLAGS, "")
        .answer(ITERATIONS, "")
        .answer(RESPONSE, "")
        .answer(GUARDRAIL, "");
    pty.answer("Configure SCM? (Y/n): ", "").answer("  SCM command (e.g., git) [git]: ", "");
    pty.answer("  SCM tasks (comma-separated, e.g., commit,push) [commit]: ", "");
    pty.answer(SANDBOX, "y").answer(NOTIFY, "cat >told");
    pty.expect(WRITTEN).expect("Next: ralph run \"").exits(0);
    let settings = written(&env);
    assert_eq!(settings["scm"], json!({"command": "git", "tasks": ["commit"]}));
    assert_eq!((&settings["sandbox"], &settings["notify"]), (&json!("auto"), &json!("cat >told")));
    // The same without a question, and the loop does commit.
    env.ralph(&["init", "--yes", "--force"]).exits(0).prints("Next: ralph run \"");
    let settings = written(&env);
    assert_eq!(settings["scm"], json!({"command": "git", "tasks": ["commit"]}));
    assert!(settings.get("sandbox").is_none() && settings.get("notify").is_none(), "{settings}");
    let script = env.script_path();
    let flags = json!([script]).to_string();
    let text = env.read(".ralph/settings.json").replace("\"flags\": []", &format!("\"flags\": {flags}"));
    env.write(".ralph/settings.json", &text.replace("\"claude\"", &format!("{RALPH:?}")));
    env.run(&[]).exits(0).says("Committed");
    assert_eq!(env.committed(), ["work"]);
}

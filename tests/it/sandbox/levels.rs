//! Which sandboxes there are, and what each of them is told.

use std::{fs, process::Command};

use serde_json::{Value, json};

use super::works;
use crate::env::{Env, done};

#[test]
fn the_levels_of_the_machine_are_shown() {
    let env = Env::new();
    let output = env.ralph(&["sandbox", "check", "--json"]);
    let found: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let names: Vec<&str> = found["levels"]
        .as_array()
        .expect("levels")
        .iter()
        .filter_map(|level| level["level"].as_str())
        .collect();
    assert_eq!(names, ["embedded", "bwrap", "landlock", "seatbelt", "sbx", "docker"]);
    assert_eq!(output.code, Some(if found["auto"].is_null() { 2 } else { 0 }));
    let text = env.ralph(&["sandbox", "check"]).stdout;
    assert!(names.iter().all(|name| text.contains(name)), "{text}");
}

/// Every level that the tests try.
#[test]
fn the_levels_that_are_tested_work() {
    for level in ["embedded", "bwrap", "landlock"] {
        works(level);
    }
}

#[test]
fn what_cannot_be_tested_fails_where_ci_promises_it() {
    let this = std::env::current_exe().expect("this program");
    let try_without_bwrap = |ci: &str| {
        let mut tests = Command::new(&this);
        tests.args(["--exact", "sandbox::levels::the_levels_that_are_tested_work"]);
        let output = tests.env("PATH", "/nowhere").env("CI", ci).output().expect("the tests");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    };
    let why = "the sandbox `bwrap` does not work here: \"it is not installed\"";
    let (passed, said) = try_without_bwrap("true");
    assert!(!passed && said.contains(why), "{said}");
    let (passed, said) = try_without_bwrap("");
    let skipped = format!("skipped: sandbox::levels::the_levels_that_are_tested_work: {why}");
    assert!(passed && said.contains(&skipped), "{said}");
}

#[test]
fn a_level_that_is_not_there_is_an_error_and_never_another() {
    let env = Env::new().turns(json!([[done()]]));
    let env = env.variable("PATH", "/nowhere");
    for level in ["bwrap", "sbx", "docker"] {
        env.run(&["--sandbox", level])
            .exits(2)
            .says("does not work here: it is not installed")
            .says("--no-sandbox");
    }
    env.run(&["--sandbox", "seatbelt"]).exits(2).says("it is for macOS");
    env.run(&["--sandbox", "nonsense"]).exits(2).says("embedded");
    assert!(env.runs().is_empty());
}

#[test]
fn codes_pass_through() {
    for level in ["embedded", "bwrap", "landlock", "none"] {
        if level != "none" && !works(level) {
            continue;
        }
        let env = Env::new();
        let exec =
            |command: &[&str]| env.ralph(&[&["sandbox", "exec", "--level", level, "--"], command].concat());
        exec(&["sh", "-c", "exit 7"]).exits(7);
        exec(&["sh", "-c", "echo said; echo complained >&2"]).exits(0).prints("said").says("complained");
        if level != "none" {
            exec(&["/no/such/program"]).exits(2).says("/no/such/program");
        }
    }
}

/// A program that writes down what it is told and then does the rest of it, after a word.
fn recorder(env: &Env, name: &str, after: &str) {
    let script = format!(
        "printf '%s\\n' \"$*\" >> '{}'\nwhile [ $# -gt 0 ] && [ \"$1\" != '{after}' ]; do shift; done\n[ $# -gt 0 ] && shift\n\
         [ $# -eq 0 ] || exec \"$@\"",
        env.root().join(format!("{name}.log")).display()
    );
    env.program(name, &script);
}

fn told(env: &Env, name: &str) -> String {
    fs::read_to_string(env.root().join(format!("{name}.log"))).expect("a record")
}

#[test]
fn docker_is_told_what_to_mount() {
    let env = Env::new().with_git().agent("somebody", "cat >/dev/null; echo '<response>DONE</response>'");
    recorder(&env, "docker", "my/image");
    let env = env.settings(
        json!({"sandbox": {"level": "docker", "image": "my/image"}, "guardrails": [{"command": "true"}]}),
    );
    env.run(&[]).exits(0).says("Sandbox: docker").says("the network that Docker gives it");
    let (lines, project) = (told(&env, "docker"), env.project().display().to_string());
    let run = lines.lines().find(|line| line.contains("somebody")).expect("the agent").to_owned();
    for words in [
        format!("run --rm --interactive --init --name ralph-{} --user ", env.run_id()),
        "--cap-drop ALL --security-opt no-new-privileges --pids-limit 4096".to_owned(),
        format!("--volume {project}:{project} "),
        format!("--volume {project}/.ralph:{project}/.ralph:ro "),
        format!("--volume {project}/.git/config:{project}/.git/config:ro "),
        format!("--workdir {project} my/image somebody"),
    ] {
        assert!(run.contains(&words), "no {words:?} in {run}");
    }
    assert!(lines.contains(&format!("rm --force ralph-{}", env.run_id())), "{lines}");
    assert!(lines.contains("my/image sh -c true"), "{lines}");
    let env = Env::new().turns(json!([[done()]]));
    recorder(&env, "docker", "my/image");
    env.run(&["--sandbox", "docker"]).exits(2).says("it needs an image");
}

#[test]
fn sbx_is_told_to_make_and_to_end_a_machine() {
    let env = Env::new().with_git().agent("somebody", "cat >/dev/null; echo '<response>DONE</response>'");
    let script = format!(
        "printf '%s\\n' \"$*\" >> '{}'\ncase $1 in run) exec somebody ;; exec) shift 2; exec \"$@\" ;; esac",
        env.root().join("sbx.log").display()
    );
    env.program("sbx", &script);
    let env = env.settings(json!({
        "sandbox": {"level": "sbx", "hosts": ["example.com"], "sbx": {"stop": "sbx rm {name}"}},
        "guardrails": [{"command": "true"}],
    }));
    env.run(&[]).exits(0).says("Sandbox: sbx");
    let (name, project) = (format!("ralph-{}", env.run_id()), env.project().display().to_string());
    let lines = told(&env, "sbx");
    let lines: Vec<&str> = lines.lines().collect();
    let expected = [
        "ls --json".to_owned(),
        "policy init deny-all".to_owned(),
        format!("create -q --name {name} text {project}"),
        format!("policy allow network --sandbox {name} example.com"),
        // The guardrail runs before the first iteration, too.
        format!("exec {name} sh -c cd \"$0\" && exec \"$@\" {project} sh -c true"),
        format!("run --name {name} --"),
        format!("exec {name} sh -c cd \"$0\" && exec \"$@\" {project} sh -c true"),
        format!("rm {name}"),
    ];
    assert_eq!(lines, expected);
    // Rules that are there already are the user's; any other refusal is the end of it.
    for (said, code) in [("policy already initialized", 0), ("no daemon", 2)] {
        let script = format!(
            "case $1 in policy) [ $2 = allow ] || {{ echo '{said}' >&2; exit 1; }} ;; run) exec somebody ;; exec) shift 2; exec \"$@\" ;; esac"
        );
        env.program("sbx", &script);
        let output = env.run(&[]).exits(code);
        assert!(code == 0 || output.stderr.contains(said), "{output:?}");
    }
}

//! `ralph demo`: the whole loop on a scripted agent in a throw-away repository.

mod fleet;

use std::{
    env,
    ffi::OsStr,
    path::Path,
    process::{Command, Stdio},
};

use clap::Args;
use ralph_sys::{
    error::{Context, Error, Result},
    process,
};
use serde_json::{Value, json};

use super::print_lines;
use crate::scripted;

/// Watch the whole loop on a scripted agent: no key, no network, a throw-away repository
///
/// The agent says that it is done when it is not. A guardrail fails, ralph tells the agent, and the agent fixes the
/// problem. Only then does ralph commit the work and complete the run.
///
/// Example: ralph demo --keep
#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// Keep the repository, so that you can look at it
    #[arg(long)]
    keep: bool,

    /// Show four lanes instead, with a conflict, and with work that passes alone and fails together
    #[arg(long)]
    fleet: bool,
}

const TASK: &str = "Make greet.sh greet the name it is given, and the world if it gets none.
Say <response>DONE</response> when it works.
";

const TEST: &str = r#"#!/bin/sh
# The guardrail of the demo.
check() { [ "$2" = "$3" ] && echo "ok: $1" || { echo "not ok: $1: expected '$3', got '$2'"; failed=1; }; }
check "with a name" "$(sh greet.sh Ada)" "Hello, Ada!"
check "without a name" "$(sh greet.sh)" "Hello, world!"
exit ${failed:-0}
"#;

const FIRST_TRY: &str = "#!/bin/sh\necho \"Hello, $1!\"\n";
const SECOND_TRY: &str = "#!/bin/sh\necho \"Hello, ${1:-world}!\"\n";

/// Prepares the repository and runs the loop in it.
pub(super) fn main(args: &DemoArgs) -> Result<u8> {
    let folder = tempfile::Builder::new().prefix("ralph-demo-").tempdir()?;
    let repository = folder.path().join("greeter");
    if args.fleet {
        return show_fleet(args, folder, &repository);
    }
    prepare(folder.path(), &repository)?;
    print_lines(&format!("One task, one guardrail and a scripted agent in {}\n", repository.display()))?;

    let me = env::current_exe()?;
    let mut ralph = Command::new(&me);
    ralph.args([OsStr::new("-C"), repository.as_os_str(), OsStr::new("run"), OsStr::new("-f")]);
    ralph.arg(repository.join("TASK.md"));
    let code = process::foreground(with_state(&mut ralph, folder.path()))?;

    let mut log = Command::new("git");
    log.arg("-C").arg(&repository).args(["log", "--oneline", "--stat", "--no-decorate"]);
    print_lines("\nWhat is in the repository now (git log --stat):\n")?;
    process::foreground(&mut log)?;
    if args.keep {
        let kept = folder.keep();
        print_lines(&format!("\nKept in {}\n", kept.display()))?;
    }
    print_lines(
        "\nNow with your own agent, in your own repository:\n  ralph run --agent claude --guardrail \"make test\" \"Make the date parser accept ISO weeks\"\n",
    )?;
    Ok(code)
}

/// The record of the demo goes with the demo.
fn with_state<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command.env("RALPH_STATE_DIR", folder.join("state"))
}

fn prepare(folder: &Path, repository: &Path) -> Result<()> {
    fs_err::create_dir_all(repository.join(".ralph"))?;
    let script = folder.join("script.json");
    fs_err::write(&script, script_of(repository).to_string())?;
    let settings = json!({
        "maximumIterations": 5,
        "agent": {"command": scripted::program(&folder.join("ralph"))?, "flags": [shell_words::quote(&script.to_string_lossy())]},
        "guardrails": [{
            "command": "sh test.sh",
            "failAction": "APPEND",
            "hint": "Fix greet.sh; leave test.sh as it is.",
        }],
        "scm": {"command": "git", "tasks": ["commit"]},
    });
    fs_err::write(repository.join(".ralph/settings.json"), format!("{settings:#}\n"))?;
    fs_err::write(repository.join("TASK.md"), TASK)?;
    fs_err::write(repository.join("test.sh"), TEST)?;
    commit(repository)
}

/// Four tasks in four lanes.
fn show_fleet(args: &DemoArgs, folder: tempfile::TempDir, repository: &Path) -> Result<u8> {
    fs_err::create_dir_all(repository.join(".ralph"))?;
    for (name, text) in fleet::FILES {
        fs_err::write(repository.join(name), text)?;
    }
    let settings = json!({
        "agent": {"command": "./agent.sh"},
        "sandbox": "none",
        "guardrails": [{"command": "sh test.sh"}],
    });
    fs_err::write(repository.join(".ralph/settings.json"), format!("{settings:#}\n"))?;
    let mut chmod = Command::new("chmod");
    process::foreground(chmod.arg("+x").arg(repository.join("agent.sh")))?;
    commit(repository)?;
    print_lines(&format!("Four tasks, four lanes and one guardrail in {}\n", repository.display()))?;
    let mut ralph = Command::new(env::current_exe()?);
    ralph.args([OsStr::new("-C"), repository.as_os_str(), OsStr::new("fleet"), OsStr::new("run")]);
    for (name, text) in fleet::TASKS {
        let file = folder.path().join(name);
        fs_err::write(&file, text)?;
        ralph.arg(file);
    }
    ralph.args(["--lanes", "4"]);
    let code = process::foreground(with_state(&mut ralph, folder.path()))?;
    let mut log = Command::new("git");
    log.arg("-C").arg(repository).args(["log", "--oneline", "--stat", "--no-decorate"]);
    print_lines("\nWhat is in the repository now (git log --stat); the guardrail passes on every commit:\n")?;
    process::foreground(&mut log)?;
    if args.keep {
        print_lines(&format!("\nKept in {}\n", folder.keep().display()))?;
    }
    Ok(code)
}

/// Makes a repository of what is there.
fn commit(repository: &Path) -> Result<()> {
    for args in [
        &["init", "--quiet"][..],
        &["config", "user.name", "Ralph Demo"],
        &["config", "user.email", "demo@localhost"],
        &["config", "commit.gpgsign", "false"],
        &["add", "--all"],
        &["commit", "--quiet", "--message=Describe what greet.sh must do"],
    ] {
        let mut git = Command::new("git");
        git.arg("-C").arg(repository).args(args).stdin(Stdio::null());
        let code = process::foreground(&mut git).context("the demo needs git")?;
        if code != 0 {
            return Err(Error::new(format!("`git {}` failed", args.join(" "))));
        }
    }
    Ok(())
}

/// An agent that is too sure of itself, then learns.
fn script_of(repository: &Path) -> Value {
    let greet = repository.join("greet.sh");
    let pause = |ms: u64| json!({"sleep_ms": ms});
    let write = |text: &str| json!({"write": {"path": greet, "text": text}});
    let usage = |cost: f64, input: u64, output: u64| {
        json!({"result": {
            "total_cost_usd": cost,
            "usage": {"input_tokens": input / 5, "cache_read_input_tokens": input - input / 5, "output_tokens": output},
        }})
    };
    json!({
        "turns": [
            [
                {"say": "I will look at what the test expects."}, pause(400),
                {"tool": {"name": "Read", "input": {"file_path": "test.sh"}, "output": TEST}}, pause(500),
                {"tool": {"name": "Write", "input": {"file_path": "greet.sh"}, "output": "File created: greet.sh"}},
                write(FIRST_TRY), pause(500),
                {"say": "It greets the name it is given. <response>DONE</response>"}, pause(300),
                usage(0.04, 18_200, 410),
            ],
            [
                {"say": "The guardrail shows that greet.sh fails without a name. It is right."}, pause(600),
                {"tool": {"name": "Edit", "input": {"file_path": "greet.sh"}, "output": "greet.sh has been updated"}},
                write(SECOND_TRY), pause(400),
                {"tool": {"name": "Bash", "input": {"command": "sh test.sh"},
                    "output": "ok: with a name\nok: without a name\n"}}, pause(500),
                {"say": "Both work now. <response>DONE</response>"}, pause(300),
                usage(0.03, 19_600, 290),
            ],
        ],
        "text": [[pause(300), {"say": "Greet the world when no name is given"}]],
    })
}

//! What is shipped for CI, run by its own shell steps: the action and the recipe.

use std::{fs, path::Path, process::Command};

use super::{Machines, project};
use crate::{
    contained::works,
    env::{Output, RALPH},
};

fn shipped(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).expect("a file")
}

/// The scripts of the steps of an action: what is indented below `run: |`.
fn steps(text: &str) -> Vec<String> {
    let mut steps: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.trim() == "run: |" {
            steps.push(String::new());
            inside = true;
        } else if inside && (line.is_empty() || line.starts_with("        ")) {
            let step = steps.last_mut().expect("a step");
            step.push_str(line.trim_start_matches("        "));
            step.push('\n');
        } else {
            inside = false;
        }
    }
    steps
}

/// The lines of the recipe's `script`.
fn script(text: &str) -> String {
    let lines = text.lines().skip_while(|line| line.trim() != "script:").skip(1);
    let lines = lines.filter_map(|line| line.trim().strip_prefix("- "));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The pushed work of a run whose signers are in the trunk.
fn machines() -> Machines {
    let here = project();
    let key = fs::read_to_string(super::key_of(&here).with_extension("pub")).expect("a key");
    for folder in [".github", ".gitlab"] {
        here.write(&format!("{folder}/allowed_signers"), &format!("ann@example.com {key}"));
    }
    here.write(".github/policy.json", "{\"guardrails\": [\"sh test.sh\"], \"cleanClone\": true}");
    here.git(&["add", "--all"]);
    here.git(&["commit", "--quiet", "-m", "who may sign"]);
    here.git(&["push", "--quiet", "origin", "main"]);
    here.git(&["checkout", "--quiet", "-b", "work"]);
    here.run(&[]).exits(0);
    let machines = Machines::around(here);
    machines.git(&["checkout", "--quiet", "origin/work"]);
    // A job starts without them.
    machines.git(&["update-ref", "-d", "refs/notes/ralph"]);
    machines.there.git(&["config", "--global", "--unset", "gpg.ssh.allowedSignersFile"]);
    machines
}

/// Runs steps as a runner does, in the clone.
fn job(machines: &Machines, shell: &[&str], step: &str, variables: &[(&str, &str)]) -> Output {
    machines.there.program("ralph", &format!("exec {RALPH} \"$@\""));
    let mut command: Command = machines.there.command(shell[0]);
    command.args(&shell[1..]).arg(step).current_dir(&machines.clone).envs(variables.iter().copied());
    machines.there.start_command(&mut command).wait()
}

#[test]
fn the_action_verifies_and_says_what_it_found() {
    if !works("embedded") {
        return;
    }
    let text = shipped("action.yml");
    let steps = steps(&text);
    assert_eq!(steps.len(), 2, "{steps:?}");
    let machines = machines();
    let output = machines.there.root().join("output");
    let head = machines.git(&["rev-parse", "HEAD"]);
    let place = output.display().to_string();
    let run = |commit: &str| -> (Output, String) {
        fs::write(&output, "").expect("a file");
        let variables = [
            ("RALPH", "ralph"),
            ("COMMIT", commit),
            ("BASE", "origin/main"),
            ("SIGNERS", ".github/allowed_signers"),
            ("POLICY", ".github/policy.json"),
            ("RERUN", "true"),
            ("PACKAGES", "false"),
            ("GITHUB_OUTPUT", &place),
        ];
        let bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"];
        job(&machines, &bash, &steps[0], &variables).exits(0);
        let ended = job(&machines, &bash, &steps[1], &variables);
        (ended, fs::read_to_string(&output).expect("an output"))
    };
    let (ended, said) = run(head.trim());
    ended.exits(0).prints("signed by ann@example.com").prints("as the receipt says");
    assert_eq!(said, "verdict=holds\n");
    // The branch brings signers of its own along: they are not asked.
    machines.git(&["checkout", "--quiet", "-b", "forged"]);
    fs::write(machines.clone.join(".github/allowed_signers"), "eve@example.com x").expect("a file");
    machines.git(&["commit", "--quiet", "-am", "more signers"]);
    let forged = machines.git(&["rev-parse", "HEAD"]);
    let (ended, said) = run(forged.trim());
    ended.exits(2);
    assert_eq!(said, "verdict=cannot-tell\n");
    // Every input of the steps is one of the action's.
    for line in text.lines().filter(|line| line.contains("${{ inputs.")) {
        let name = line.split("inputs.").nth(1).and_then(|rest| rest.split(' ').next()).expect("a name");
        assert!(text.contains(&format!("\n  {name}:\n")), "{name}");
    }
}

#[test]
fn the_recipe_verifies() {
    if !works("embedded") {
        return;
    }
    let script = script(&shipped("packaging/gitlab-verify.yml"));
    let machines = machines();
    let head = machines.git(&["rev-parse", "HEAD"]);
    let variables = [
        ("CI_COMMIT_SHA", head.trim()),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("RALPH_SIGNERS", ".gitlab/allowed_signers"),
        ("RALPH_POLICY", ""),
        ("CI_JOB_TOKEN", "a secret of the job"),
    ];
    job(&machines, &["sh", "-ec"], &script, &variables).exits(0).prints("as the receipt says");
    let other = [variables[0], variables[1], ("RALPH_SIGNERS", ".gitlab/nowhere"), variables[3]];
    job(&machines, &["sh", "-ec"], &script, &other).exits(2).says("has no file");
}

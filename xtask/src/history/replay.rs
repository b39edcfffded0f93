//! A commit of a real project in a real loop: the agent makes it, and ralph judges it with the project's own tests.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use super::git;

/// A clone of a project, with a home and a state of its own.
pub(super) struct Replay {
    program: PathBuf,
    place: TempDir,
    tests: String,
}

/// What ralph said about a commit.
pub(super) enum Judged {
    /// The claim counts as far as the tests go.
    Done { findings: Vec<String>, notes: Vec<String> },
    /// The tests fail with it, or cannot be run.
    Not { why: String },
}

impl Replay {
    pub(super) fn new(program: &Path, repository: &Path, tests: &str) -> Result<Self> {
        let place = tempfile::Builder::new().prefix("ralph-history-").tempdir()?;
        fs_err::create_dir(place.path().join("home"))?;
        let repository = fs_err::canonicalize(repository)?;
        let clone = ["clone", "--quiet", "--no-checkout", &repository.to_string_lossy(), "project"];
        git(place.path(), &clone)?;
        let replay = Self { program: program.to_owned(), place, tests: tests.to_owned() };
        for (name, value) in [
            ("user.name", "A Tester"),
            ("user.email", "tester@localhost"),
            // What it does in the background would be ended, and told.
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
        ] {
            git(&replay.project(), &["config", name, value])?;
        }
        Ok(replay)
    }

    /// Lets an agent make this commit in a loop.
    pub(super) fn judge(&self, commit: &str) -> Result<Judged> {
        let project = self.project();
        git(&project, &["checkout", "--quiet", "--force", "-B", "main", &format!("{commit}^")])?;
        git(&project, &["clean", "--quiet", "-ffdx"])?;
        let agent = self.place.path().join("agent.sh");
        let text = format!(
            "#!/bin/sh\nset -e\ngit read-tree -u --reset {commit}\ngit commit --quiet --allow-empty --message=Work\necho '<response>DONE</response>'\n"
        );
        fs_err::write(&agent, text)?;
        fs_err::set_permissions(&agent, PermissionsExt::from_mode(0o755))?;
        let agent = agent.to_string_lossy();
        let prompt = "Work on the project. Then say <response>DONE</response>.";
        let run = self.ralph(&[
            "run",
            "--quiet",
            "--max-iterations",
            "1",
            "--agent",
            &agent,
            "--prompt",
            prompt,
            "--guardrail",
            &self.tests,
        ])?;
        let status = self.ralph(&["status", "--json"])?;
        // One line for each run, the newest first.
        let newest = status.stdout.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Ok(status) = serde_json::from_slice::<Value>(newest) else {
            return Ok(Judged::Not { why: String::from_utf8_lossy(&run.stderr).trim().to_owned() });
        };
        Ok(judged(&status))
    }

    fn project(&self) -> PathBuf {
        self.place.path().join("project")
    }

    fn ralph(&self, args: &[&str]) -> Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.project()).stdin(Stdio::null());
        command.env("HOME", self.place.path().join("home"));
        command.env("RALPH_STATE_DIR", self.place.path().join("state"));
        command.output().context("cannot start ralph")
    }
}

/// Reads what `ralph status --json` says.
fn judged(status: &Value) -> Judged {
    if status["outcome"]["outcome"] != "done" {
        let failed = status["gates"].as_array().into_iter().flatten().find(|gate| gate["passed"] == false);
        let why = match failed {
            Some(_) => "its tests fail".to_owned(),
            None => status["reason"].as_str().unwrap_or("it did not end").to_owned(),
        };
        return Judged::Not { why };
    }
    let kinds = |list: &str, key: &str| -> Vec<String> {
        let all = status[list].as_array().into_iter().flatten();
        all.map(|it| {
            let files = it["files"].as_array().into_iter().flatten();
            let files: Vec<&str> = files.filter_map(|file| file["file"].as_str()).collect();
            format!("{} {}", it[key].as_str().unwrap_or_default(), files.join(", "))
        })
        .collect()
    };
    Judged::Done { findings: kinds("findings", "finding"), notes: kinds("notes", "note") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_says_whether_the_tests_have_judged() {
        let files = json!([{"file": "test_a.py"}]);
        let done = json!({
            "outcome": {"outcome": "done"},
            "findings": [{"finding": "checks-changed", "files": files}],
            "notes": [],
        });
        let Judged::Done { findings, notes } = judged(&done) else { panic!("it is done") };
        assert_eq!(
            (findings.as_slice(), notes.len()),
            (["checks-changed test_a.py".to_owned()].as_slice(), 0)
        );
        let failed = json!({"outcome": {"outcome": "limit"}, "gates": [{"passed": false}]});
        let Judged::Not { why } = judged(&failed) else { panic!("it is not done") };
        assert_eq!(why, "its tests fail");
    }
}

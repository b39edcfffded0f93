//! A picture of a report: the night that the tests look at, too.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Result, ensure};
use serde_json::json;

use crate::{
    cargo::{release, root},
    debian::{BROWSER, Missing},
    say,
};

/// Down to the commits.
const SIZE: &str = "--window-size=1040,1160";
const TASK: &str = "Make `sums` add, subtract, multiply and divide, one feature at a time.\n\n\
                    Say <response>DONE</response> when everything in README.md works.\n";

/// Runs the night, writes the report and has a browser show it.
pub(super) fn take() -> Result<()> {
    let browser = BROWSER.find(Missing::Name)?;
    let folder = tempfile::Builder::new().prefix("night-").tempdir()?;
    let project = folder.path().join("sums");
    fs_err::create_dir_all(project.join(".ralph"))?;
    fs_err::write(project.join("README.md"), TASK)?;
    let (ralph, script) = (release()?, folder.path().join("script.json"));
    let guardrails = ["! grep -rq badly src", "grep -q works state", "test -d src"];
    let settings = json!({
        "agent": {"command": ralph, "flags": [script]},
        "guardrails": guardrails.map(|command| json!({"command": command})),
        "scm": {"command": "git", "tasks": ["commit"]},
        "retryDelay": "20ms",
        "maximumIterations": 20,
    });
    fs_err::write(project.join(".ralph/settings.json"), settings.to_string())?;
    fs_err::copy(root().join("testing/night/script.json"), &script)?;
    let call = |program: &Path, args: &[&str]| -> Result<()> {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&project)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.env("RALPH_STATE_DIR", folder.path().join("state")).env("HOME", folder.path());
        let status = command.status()?;
        ensure!(status.success(), "{command:?} ended with {status}");
        Ok(())
    };
    let git = Path::new("git");
    call(git, &["init", "--quiet", "--initial-branch=main"])?;
    call(git, &["config", "user.name", "Ralph"])?;
    call(git, &["config", "user.email", "ralph@localhost"])?;
    call(git, &["add", "README.md"])?;
    call(git, &["commit", "--quiet", "-m", "Describe sums"])?;
    call(&ralph, &["run", "-f", "README.md"])?;
    let page = folder.path().join("report.html");
    call(&ralph, &["report", "--file", &page.display().to_string()])?;
    let path = root().join("docs/report.png");
    let picture = format!("--screenshot={}", path.display());
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let quiet =
        ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];
    let flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--hide-scrollbars", SIZE];
    let page = format!("file://{}", page.display());
    call(&browser, &[&flags[..], &quiet[..], &[&profile, &picture, &page]].concat())?;
    say(&format!("written: {}; now look at it\n", path.display()));
    super::serve::take(&ralph, folder.path())
}

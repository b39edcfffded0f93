//! A tarball with a receipt: of a run of the program that is in the tarball, and checked by it.

use std::{os::unix::fs::PermissionsExt, path::Path};

use anyhow::{Context, Result, ensure};

use super::{Scratch, said, text};
use crate::dist::{
    contents::Contents,
    receipt,
    target::{self, HOST},
};

const AGENT: &str = "#!/bin/sh\ncat >/dev/null\necho right >answer\necho '<response>DONE</response>'\n";

pub(super) fn in_a_tarball(scratch: &Scratch) -> Result<()> {
    let plain = scratch.package("ralph-", &format!("{HOST}.tar.gz"))?;
    said(scratch.command("tar").arg("-xzf").arg(&plain))?;
    let folder = scratch.path(&format!("ralph-{}-{HOST}", scratch.version));
    ensure!(!folder.join("receipt.json").exists(), "there is a receipt that no one gave");
    let program = folder.join("ralph");

    let project = scratch.path("project");
    let made = receipt_of(scratch, &program, &project)?;
    receipt::ensure_holds(&program, &made, &project)?;
    let with = Contents::gather(&scratch.version, target::find(HOST)?, &program, &program, Some(&made))?;
    let with = with.tarball()?;
    fs_err::write(scratch.path(&with.name), &with.bytes)?;
    said(scratch.command("tar").arg("-xzf").arg(scratch.path(&with.name)))?;
    ensure!(fs_err::read(folder.join("receipt.json"))? == fs_err::read(&made)?, "the receipt is another one");

    // Of other files it says nothing.
    fs_err::write(project.join("answer"), "wrong\n")?;
    git(scratch, &project, &["commit", "--quiet", "--all", "--message", "Something else"])?;
    let other = receipt::ensure_holds(&program, &folder.join("receipt.json"), &project);
    ensure!(other.is_err(), "the receipt of other files holds");
    Ok(())
}

/// The receipt of a run with an agent that does what it should, and whose work was committed since.
fn receipt_of(scratch: &Scratch, program: &Path, project: &Path) -> Result<std::path::PathBuf> {
    fs_err::create_dir_all(project)?;
    let (agent, state) = (scratch.path("agent"), scratch.path("state"));
    fs_err::write(&agent, AGENT)?;
    fs_err::set_permissions(&agent, std::fs::Permissions::from_mode(0o755))?;
    git(scratch, project, &["init", "--quiet"])?;
    for (name, value) in [("user.name", "A"), ("user.email", "a@localhost")] {
        git(scratch, project, &["config", name, value])?;
    }
    git(scratch, project, &["commit", "--quiet", "--allow-empty", "--message", "Begin"])?;
    let mut run = scratch.command(program);
    run.current_dir(project).env("XDG_STATE_HOME", &state);
    said(run.args([
        "run",
        "--agent",
        &text(&agent),
        "--guardrail",
        "grep right answer",
        "Write the answer",
    ]))?;
    git(scratch, project, &["add", "--all"])?;
    git(scratch, project, &["commit", "--quiet", "--message", "Write the answer"])?;
    let found = said(scratch.command("find").arg(&state).args(["-name", "receipt.json"]))?;
    let found = found.lines().next().context("the run left no receipt")?;
    Ok(found.into())
}

fn git(scratch: &Scratch, project: &Path, args: &[&str]) -> Result<()> {
    said(scratch.command("git").args(args).current_dir(project)).map(drop)
}

//! `cargo xtask agents`: installs real agents, runs the conformance suite on them, and shows what it found.

mod install;
mod manifest;
mod report;

use std::{env, path::Path, process::ExitCode};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    cargo::{cargo, root, target_dir},
    say,
};
use install::{Installed, install};
use manifest::{Agent, Manifest};
use report::Findings;

pub(crate) const USAGE: &str = "\
usage: cargo xtask agents [NAME...] [--all] [--newest] [--install-only]

  NAME            claude, codex, copilot, gemini, opencode, pi, qwen; without any: claude and codex
  --all           all of them; the table goes into docs/agents.md
  --newest        the newest versions instead of the pinned ones: the drift alarm
  --install-only  install, and do not test
";

/// What the test command runs on every change.
const USUAL: [&str; 2] = ["claude", "codex"];

/// What was asked for.
#[derive(Debug, Default)]
struct Wanted {
    names: Vec<String>,
    all: bool,
    newest: bool,
    install_only: bool,
}

/// Runs the chore.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let Some(wanted) = parse(words)? else {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    let root = root();
    let agents = chosen(&Manifest::read(root)?, &wanted)?;
    let Ok(npm) = which::which("npm") else { return Ok(without_npm(&agents)) };
    let folder = target_dir().join("agents");
    let mut installed = Vec::new();
    for mut agent in agents {
        if wanted.newest {
            agent.take_newest(&npm)?;
        }
        installed.push(install(&npm, &folder, &agent)?);
    }
    // What is to be there for `cargo test` has a list of its own; the rest is tested only here.
    let list = folder.join(match (wanted.newest, wanted.install_only) {
        (true, _) => "newest.json",
        (false, true) => "installed.json",
        (false, false) => "tested.json",
    });
    Installed::write_list(&list, &installed)?;
    if wanted.install_only {
        return Ok(ExitCode::SUCCESS);
    }
    let findings = test(&folder, &list, &installed)?;
    let table = findings.table(&installed);
    say(&table);
    findings.record_green(&root.join("crates/agents/src/green_versions.json"), &installed)?;
    if wanted.all && !wanted.newest {
        report::write_into(&root.join("docs/agents.md"), &table)?;
    }
    Ok(if findings.are_green() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Installs what the test command tests with.
pub(crate) fn install_usual() -> Result<()> {
    let code = main(&["--install-only".to_owned()])?;
    ensure!(code == ExitCode::SUCCESS, "the agents could not be installed");
    Ok(())
}

fn parse(words: &[String]) -> Result<Option<Wanted>> {
    let mut wanted = Wanted::default();
    for word in words {
        match word.as_str() {
            "--all" => wanted.all = true,
            "--newest" => wanted.newest = true,
            "--install-only" => wanted.install_only = true,
            "-h" | "--help" => return Ok(None),
            name if name.starts_with('-') => bail!("unknown option `{name}`\n\n{USAGE}"),
            name => wanted.names.push(name.to_owned()),
        }
    }
    Ok(Some(wanted))
}

fn chosen(manifest: &Manifest, wanted: &Wanted) -> Result<Vec<Agent>> {
    if wanted.all {
        return Ok(manifest.all());
    }
    let usual = || USUAL.map(str::to_owned).to_vec();
    let names = if wanted.names.is_empty() { usual() } else { wanted.names.clone() };
    names.iter().map(|name| manifest.agent(name)).collect()
}

/// Says what is not tested. On a build server that is a failure.
fn without_npm(agents: &[Agent]) -> ExitCode {
    for agent in agents {
        say(&format!("skipped: {} is not installed, because there is no npm\n", agent.name));
    }
    if env::var("CI").is_ok_and(|ci| ci == "true") { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs the suite; a failing case is a finding, not an error.
fn test(folder: &Path, list: &Path, installed: &[Installed]) -> Result<Findings> {
    let results = tempfile::NamedTempFile::new_in(folder)?;
    let status = cargo()
        .args(["test", "--package", "ralph", "--test", "conformance", "--"])
        .args(installed.iter().map(|agent| format!("{}::", agent.name)))
        .env("RALPH_TEST_AGENTS", list)
        .env("RALPH_TEST_RESULTS", results.path())
        .status()
        .context("cargo test")?;
    let findings = Findings::read(results.path())?;
    if findings.is_empty() && !status.success() {
        bail!("the conformance suite could not be run");
    }
    Ok(findings)
}

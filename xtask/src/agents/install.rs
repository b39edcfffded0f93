//! Installs agents into the build folder.
//!
//! Invariant: a folder with its final name holds a program that has answered. A killed installation leaves
//! only a temporary folder, which the next one removes.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::manifest::Agent;
use crate::say;

/// An agent that can be tested.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Installed {
    pub(super) name: String,
    pub(super) version: String,
    program: PathBuf,
    /// What must stand first on the path when it runs.
    path: Option<PathBuf>,
}

impl Installed {
    /// Writes the list that the suite finds the programs by.
    pub(super) fn write_list(path: &Path, agents: &[Self]) -> Result<()> {
        let known: Vec<serde_json::Value> =
            fs_err::read(path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let is_other =
            |entry: &serde_json::Value| agents.iter().all(|agent| entry["name"] != agent.name.as_str());
        let mut list: Vec<_> = known.into_iter().filter(is_other).collect();
        for agent in agents {
            list.push(serde_json::to_value(agent)?);
        }
        Ok(fs_err::write(path, serde_json::to_string_pretty(&list)?)?)
    }
}

/// Installs an agent, unless it is there.
pub(super) fn install(npm: &Path, folder: &Path, agent: &Agent) -> Result<Installed> {
    let name = format!("{}-{}", agent.name, agent.version());
    let (there, coming) = (folder.join(&name), folder.join(format!(".{name}.coming")));
    let installed = at(&there, agent);
    if answers(folder, &installed).is_ok() {
        return Ok(installed);
    }
    say(&format!("installing {name}\n"));
    for old in [&there, &coming] {
        if old.exists() {
            fs_err::remove_dir_all(old)?;
        }
    }
    fs_err::create_dir_all(&coming)?;
    let status = Command::new(npm)
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--prefix"])
        .arg(&coming)
        .args(&agent.packages)
        .stdout(Stdio::null())
        .status()
        .context("npm install")?;
    if !status.success() {
        bail!("npm install {} failed: {status}", agent.packages.join(" "));
    }
    answers(folder, &at(&coming, agent)).with_context(|| format!("{name} does not work on this machine"))?;
    fs_err::rename(&coming, &there)?;
    Ok(installed)
}

fn at(folder: &Path, agent: &Agent) -> Installed {
    Installed {
        name: agent.name.clone(),
        version: agent.version().to_owned(),
        program: folder.join(&agent.program),
        path: agent.path.as_ref().map(|path| folder.join(path)),
    }
}

/// Checks that the program can say its version.
fn answers(folder: &Path, agent: &Installed) -> Result<()> {
    let home = folder.join("home");
    fs_err::create_dir_all(&home)?;
    let output = Command::new(&agent.program)
        .arg("--version")
        .env_clear()
        .env("HOME", &home)
        .env("TMPDIR", &home)
        .env("PATH", path(agent)?)
        .envs(
            ["DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "PI_OFFLINE", "COPILOT_OFFLINE"]
                .map(|name| (name, "1")),
        )
        .stdin(Stdio::null())
        .output()
        .with_context(|| agent.program.display().to_string())?;
    if !output.status.success() {
        bail!("`{} --version` failed: {}", agent.program.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn path(agent: &Installed) -> Result<OsString> {
    let usual = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths(agent.path.iter().cloned().chain(env::split_paths(&usual)))?)
}

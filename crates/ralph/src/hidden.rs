//! Hidden guardrails: where the user names them, and where a run keeps what the agent must not see of them.
//!
//! Invariant: a hidden command and what it prints are in the user's own folder and in one that sandboxes hide, in the
//! memory of ralph, and nowhere else. The values of variables that settings give to agents and guardrails are kept there, too.

pub(crate) mod variables;

use std::{env, io, os::unix::fs::DirBuilderExt, path::PathBuf};

use ralph_core::{notify::NotifyTarget, setup::HiddenCommands};
use ralph_sys::{
    error::{Context, Error, Result},
    files,
    paths::{HIDDEN_FILE, hidden_dir},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::journal::run_dir::{RunDir, record};

/// The commands of a run, in its own folder.
const COMMANDS: &str = "commands.json";

/// What the user's own file says.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OwnFile {
    #[serde(default)]
    hidden_guardrails: Vec<String>,
}

/// The hidden guardrails of the user's own file.
pub(crate) fn own() -> Result<Vec<String>> {
    let Some(path) = own_file() else { return Ok(Vec::new()) };
    let text = match fs_err::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let read: OwnFile = serde_json::from_str(&text).map_err(|error| {
        Error::new(format!("{}: {error}", path.display()))
            .hint("it looks like this: {\"hiddenGuardrails\": [\"pytest /srv/acceptance\"]}")
    })?;
    Ok(read.hidden_guardrails)
}

fn own_file() -> Option<PathBuf> {
    let set = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let config = set.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".config")))?;
    Some(config.join(HIDDEN_FILE))
}

/// What stands for a command wherever the agent may look.
pub(crate) fn name(command: &str) -> String {
    let digest = Sha256::digest(command.as_bytes());
    let start: [u8; 8] = std::array::from_fn(|at| digest[at]);
    format!("hidden guardrail {:016x}", u64::from_be_bytes(start))
}

/// The commands with their names.
pub(crate) fn commands(hidden: &[String]) -> HiddenCommands {
    HiddenCommands::new(hidden.iter().map(|command| (name(command), command.clone())))
}

/// What the address stands under that a run tells, and that is not recorded.
pub(crate) const NOTIFY: &str = "notify";

/// The setting `notify`, where it has an address that is not recorded.
pub(crate) fn notify_address(notify: Option<&str>) -> Option<(String, String)> {
    let notify = notify.filter(|notify| NotifyTarget::recorded(notify) != notify.trim())?;
    Some((NOTIFY.to_owned(), notify.to_owned()))
}

/// Keeps the commands of a run for the process that resumes it.
pub(crate) fn keep(run: &RunDir, hidden: &HiddenCommands) -> Result<()> {
    if hidden.pairs().is_empty() {
        return Ok(());
    }
    let text = serde_json::to_vec(hidden.pairs()).context("cannot keep the hidden guardrails")?;
    record(&folder(run)?.join(COMMANDS), &text).context("cannot keep the hidden guardrails")
}

/// The commands of a run that goes on.
pub(crate) fn kept(run: &RunDir) -> HiddenCommands {
    let path = hidden_dir().map(|dir| dir.join(run.id()).join(COMMANDS));
    let read = path.ok().and_then(|path| files::read_text(&path).ok());
    let pairs = read.and_then(|text| serde_json::from_str::<std::collections::BTreeMap<_, _>>(&text).ok());
    HiddenCommands::new(pairs.unwrap_or_default())
}

/// Where what a hidden guardrail prints is kept.
pub(crate) fn log(run: &RunDir, name: &str, iteration: u32, attempt: u32) -> Result<PathBuf> {
    Ok(folder(run)?.join(format!("{iteration:03}_{attempt}_{name}.log")))
}

/// Where a run keeps what no agent may see.
pub(crate) fn folder(run: &RunDir) -> Result<PathBuf> {
    let folder = hidden_dir()?.join(run.id());
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.context("cannot keep the hidden guardrails")?;
    Ok(folder)
}

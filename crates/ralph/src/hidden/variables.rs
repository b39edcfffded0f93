//! The values of the variables that settings give to agents and guardrails, apart from the record: an agent can read that.

use std::collections::BTreeMap;

use ralph_core::{engine::entry::VALUE, setup::Setup};
use ralph_sys::{
    error::{Error, Result},
    files,
    paths::hidden_dir,
};

use crate::journal::run_dir::{RunDir, record};

/// The values, in the run's own folder.
const VARIABLES: &str = "variables.json";

/// Whether the values of a run are kept apart, so that the record need not have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// They are in a folder that sandboxes hide.
    Apart,
    /// There is no such folder to write into, as inside of a sandbox. What could be read there can be read anyway.
    Recorded,
}

/// Keeps the values of a run for the process that resumes it.
pub(crate) fn keep(run: &RunDir, setup: &Setup) -> Values {
    let all: Vec<&BTreeMap<String, String>> = maps(setup);
    if all.iter().all(|map| map.is_empty()) {
        return Values::Recorded;
    }
    let text = serde_json::to_vec(&all).unwrap_or_default();
    let kept = super::folder(run).ok().filter(|folder| record(&folder.join(VARIABLES), &text).is_ok());
    if kept.is_some() { Values::Apart } else { Values::Recorded }
}

/// Puts the values back that the record does not have. The error says that some are gone.
pub(crate) fn restore(run: &RunDir, setup: &mut Setup) -> Result<()> {
    let is_apart = |map: &&BTreeMap<String, String>| map.values().any(|value| value == VALUE);
    if !maps(setup).iter().any(is_apart) {
        return Ok(());
    }
    let path = hidden_dir().map(|dir| dir.join(run.id()).join(VARIABLES));
    let read = path.ok().and_then(|path| files::read_text(&path).ok());
    let kept: Vec<BTreeMap<String, String>> =
        read.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    for (map, kept) in maps_mut(setup).into_iter().zip(kept) {
        for (name, value) in map.iter_mut().filter(|(_, value)| *value == VALUE) {
            value.clone_from(kept.get(name).unwrap_or(&VALUE.to_owned()));
        }
    }
    if maps(setup).iter().any(is_apart) {
        return Err(Error::new(
            "the values of `agent.env` or `guardrailEnv` that the run was started with are gone",
        )
        .hint("start it again: a new run takes them from the settings"));
    }
    Ok(())
}

/// All variables that settings give to others, always in the same order.
fn maps(setup: &Setup) -> Vec<&BTreeMap<String, String>> {
    let agents = setup.agents.values().map(|agent| &agent.env);
    [&setup.agent.env, &setup.guardrail_env].into_iter().chain(agents).collect()
}

fn maps_mut(setup: &mut Setup) -> Vec<&mut BTreeMap<String, String>> {
    let agents = setup.agents.values_mut().map(|agent| &mut agent.env);
    [&mut setup.agent.env, &mut setup.guardrail_env].into_iter().chain(agents).collect()
}

//! The agents' programs, as lanes can start them: a lane has what is committed, and what lies beside the project lies elsewhere.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use ralph_core::fleet::FleetItem;
use ralph_sys::{
    calls::{looking_git, succeeded},
    error::Result,
    process::Supervisor,
};
use serde_json::Value;

use crate::driver::find_program;

/// Finds the programs of a fleet's agents before a lane looks for them.
pub(super) struct Programs<'a> {
    project: &'a Path,
    supervisor: &'a mut Supervisor,
    /// What lanes call the programs that only the user's project has.
    in_full: BTreeMap<String, String>,
}

impl<'a> Programs<'a> {
    pub(super) fn new(project: &'a Path, supervisor: &'a mut Supervisor) -> Self {
        Self { project, supervisor, in_full: BTreeMap::new() }
    }

    /// Names what only the user's project has in full, in the settings of lanes and in what they work on.
    pub(super) fn name_in_full(&mut self, settings: &mut Value, items: &mut [FleetItem]) -> Result<()> {
        let Value::Object(settings) = settings else { return Ok(()) };
        let agents = settings.get("agents").and_then(Value::as_object);
        // Of several agents, another stands in for one that is not there.
        if agents.is_none_or(|agents| agents.len() <= 1) {
            let is_command = |name: &&str| agents.is_none_or(|agents| !agents.contains_key(*name));
            for item in &*items {
                let typed = item.agent.as_deref().filter(is_command);
                let command = typed.or(settings["agent"]["command"].as_str());
                find_program(command.unwrap_or_default(), self.project)?;
            }
        }
        if let Some(agent) = settings.get_mut("agent") {
            self.replace(agent)?;
        }
        let several = settings.get_mut("agents").and_then(Value::as_object_mut);
        for (_, agent) in several.into_iter().flatten() {
            self.replace(agent)?;
        }
        for agent in items.iter_mut().filter_map(|item| item.agent.as_mut()) {
            *agent = self.full_name(agent)?;
        }
        Ok(())
    }

    fn replace(&mut self, agent: &mut Value) -> Result<()> {
        if let Some(Value::String(name)) = agent.get_mut("command") {
            *name = self.full_name(name)?;
        }
        Ok(())
    }

    fn full_name(&mut self, command: &str) -> Result<String> {
        if let Some(known) = self.in_full.get(command) {
            return Ok(known.clone());
        }
        let path = Path::new(command);
        let is_lanes = path.is_absolute() || !command.contains('/') || self.is_committed(path)?;
        // Who cannot be found is missed by the lane, which says so.
        let full = (!is_lanes).then(|| fs_err::canonicalize(self.project.join(path)).ok()).flatten();
        let full = full.map_or_else(|| command.to_owned(), |path| path.display().to_string());
        self.in_full.insert(command.to_owned(), full.clone());
        Ok(full)
    }

    fn is_committed(&mut self, path: &Path) -> Result<bool> {
        if path.components().any(|part| part == Component::ParentDir) {
            return Ok(false);
        }
        let path: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
        let object = format!("HEAD:./{}", path.display());
        let call = looking_git(self.project, ["cat-file", "-e", &object].map(Into::into).to_vec());
        Ok(succeeded(&self.supervisor.capture(call, 64 * 1024)?))
    }
}

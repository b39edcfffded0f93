//! Agents that do not skip their permission rules for the superuser, unless they are told that they are contained.

use std::{collections::BTreeMap, env};

use ralph_agents::{Permissions, adapter};
use ralph_core::{
    containment::level::{Choice, Level},
    setup::Setup,
};
use ralph_sys::error::{Error, Result};

/// Makes Claude Code skip its rules, no matter who says it.
const SKIP: &str = "--dangerously-skip-permissions";

/// The variable that an agent misses before it skips its rules for this user; nothing if it would skip them.
pub(crate) fn lacks(agent: &str, variables: &BTreeMap<String, String>) -> Option<&'static str> {
    let name = adapter(agent).skips_as_root_with()?;
    let value = variables.get(name).cloned().or_else(|| env::var(name).ok());
    // Only this value counts for the agent.
    (rustix::process::geteuid().is_root() && value.as_deref() != Some("1")).then_some(name)
}

/// A turn that the agent would refuse is not begun; one that it would only half do is pointed out.
pub(super) fn check(setup: &Setup) -> Result<Option<String>> {
    let agent = adapter(&setup.agent.command).name();
    let is_contained = setup.sandbox.level != Choice::Level(Level::None);
    let Some(name) = lacks(&setup.agent.command, &setup.agent.env).filter(|_| !is_contained) else {
        return Ok(None);
    };
    if setup.agent.permissions == Permissions::Skip || setup.agent.flags.iter().any(|flag| flag == SKIP) {
        return Err(Error::new(format!("{agent} refuses to skip its permission rules as root"))
            .hint("contain it: --sandbox")
            .hint(format!("or, if this is a container, say so: {name}=1 (no other value counts)"))
            .hint("or keep its rules: \"agent\": {\"permissions\": \"agent\"}"));
    }
    Ok(Some(format!(
        "{agent} runs as root and keeps its own permission rules, so it may refuse tools; contain it (--sandbox) or, if this is a \
         container, set {name}=1 (no other value counts)"
    )))
}

//! Asks agents for their version.

use std::{path::Path, time::Duration};

use ralph_agents::AGENTS;
use ralph_agents::versions::Version;
use ralph_sys::{
    calls,
    process::{Spec, Supervisor},
};

/// How long a program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);
/// As much of what it says is read.
const MAX_OUTPUT_LEN: usize = 4096;

/// The version of the agent that is called by this name. Only programs with the name of an agent are asked:
/// no one knows what a stranger does with `--version`.
pub(crate) fn of_agent(
    supervisor: &mut Supervisor,
    command: &str,
    program: &Path,
    project: &Path,
) -> Option<String> {
    if !AGENTS.contains(&ralph_agents::adapter(command).name()) {
        return None;
    }
    let said = ask(supervisor, program, project).ok()?;
    Version::find_in(&said).map(|version| version.to_string())
}

/// Has a program say its version; otherwise says why it does not.
pub(crate) fn ask(supervisor: &mut Supervisor, program: &Path, project: &Path) -> Result<String, String> {
    let spec = Spec::new(program, project).args(["--version"]).within(VERSION_TIMEOUT);
    let captured =
        supervisor.capture(spec, MAX_OUTPUT_LEN).map_err(|error| format!("it cannot be started: {error}"))?;
    if captured.ended.cause.is_some() {
        return Err(format!("it does not say its version within {} s", VERSION_TIMEOUT.as_secs()));
    }
    if !calls::succeeded(&captured) {
        let first = calls::refusal(&captured).lines().next().unwrap_or_default().to_owned();
        return Err(format!("it fails to say its version: {first}"));
    }
    Ok(String::from_utf8_lossy(&captured.out).into_owned())
}

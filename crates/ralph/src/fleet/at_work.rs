//! The runs that are at work in the lanes of a fleet.

use ralph_sys::error::Result;

use super::{FileLedger, FleetDir};
use crate::journal::{self, run_dir::RunDir};

/// Each with the name of its lane.
pub(crate) fn lanes_at_work(dir: &FleetDir) -> Result<Vec<(String, RunDir)>> {
    let lanes = 1..=FileLedger::look(dir)?.started.plan.lanes;
    let folders: Vec<_> = lanes
        .map(|number| format!("lane-{number}"))
        .filter_map(|lane| Some((fs_err::canonicalize(dir.lane(&lane)).ok()?, lane)))
        .collect();
    let running = RunDir::all()?.into_iter().filter(|run| journal::is_running(&run.journal()));
    let mut at_work: Vec<(String, RunDir)> = running
        .filter_map(|run| {
            let project = journal::started(&run.journal())?.setup.project;
            let (_, lane) = folders.iter().find(|(folder, _)| project.starts_with(folder))?;
            Some((lane.clone(), run))
        })
        .collect();
    at_work.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(at_work)
}

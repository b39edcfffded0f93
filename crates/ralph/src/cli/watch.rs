//! `ralph watch`: runs on a screen, while they happen or afterwards.

use std::path::Path;

use clap::Args;
use ralph_sys::error::Result;

use super::{display::settings_of, runs, session::bound_to};
use crate::{
    fleet::{FileLedger, FleetDir},
    journal::run_dir::RunDir,
    live::ScanScope,
    watch::{Watching, needs_terminal, own_run, watch},
};

/// Watch runs and lanes on a screen, and steer them
///
/// Shows a run that was started in any terminal, live or afterwards: what the agent does, the results of the guardrails
/// over time, stories or queue, diff, spend and findings. What needs you comes first. It only reads records, so closing
/// it does not affect the run. It has keys to stop, resume, pause, say, accept and reject; `?` shows them.
///
/// Example: ralph watch --all
#[derive(Args, Debug)]
pub(super) struct WatchArgs {
    /// The id of a run or of a fleet, or its beginning; without it, the newest run of this project
    #[arg(conflicts_with = "all")]
    run: Option<String>,

    /// Show the list of the runs of all projects first
    #[arg(short, long)]
    all: bool,
}

/// Shows the screen.
pub(super) fn main(args: &WatchArgs, project: &Path) -> Result<u8> {
    needs_terminal()?;
    let (run, scope) = match &args.run {
        None if args.all => (None, ScanScope::All),
        None => (runs::newest(project).ok(), ScanScope::Project(project.to_owned())),
        Some(id) => match FleetDir::by_id(id) {
            Some(fleet) => (None, ScanScope::Project(FileLedger::look(&fleet)?.started.project)),
            None => (Some(runs::by_id(id)?), ScanScope::Project(project.to_owned())),
        },
    };
    let (color, project) = (settings_of(project).output.color, project.to_owned());
    watch(Watching { run, scope, project, color, is_bound, is_own: false })?;
    Ok(0)
}

/// Starts the loop that was typed with `--watch`, and shows it.
pub(super) fn own(project: &Path) -> Result<u8> {
    own_run(project.to_owned(), settings_of(project).output.color, is_bound)
}

fn is_bound(run: &RunDir) -> bool {
    bound_to(run).is_some()
}

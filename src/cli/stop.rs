//! `ralph stop`: asks a running loop to end.

use std::path::Path;

use clap::Args;

use super::{print, runs};
use crate::{
    engine::event::Event,
    error::{Error, Result},
    journal, process,
};

/// Ask a running loop to end
///
/// The running operation finishes first, as after one Ctrl-C; with --now it is ended too.
///
/// Example: ralph stop --now
#[derive(Args, Debug)]
pub(super) struct StopArgs {
    /// The run's id or its beginning; without it, the one that runs in this project
    run: Option<String>,

    /// End the agent at once instead of letting it finish
    #[arg(long)]
    now: bool,
}

/// Signals the run's process.
pub(super) fn main(args: &StopArgs, project: &Path) -> Result<u8> {
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::running(project)?,
    };
    // The lock proves that the writer of this journal is alive, so its number cannot be another process's.
    if !journal::is_running(&run.journal()) {
        return Err(Error::new(format!("run {} is not running", run.id())));
    }
    let mut process = None;
    journal::read_from(&run.journal(), 0, &mut |entry| match entry.event {
        Event::RunStarted(started) => process = Some(started.pid),
        Event::RunResumed { pid, .. } => process = Some(pid),
        _ => {}
    })?;
    let pid = process.ok_or_else(|| Error::new(format!("run {} has not started yet", run.id())))?;
    process::ask_to_stop(pid, args.now)?;
    let how = if args.now { "now" } else { "after the running operation" };
    print(&format!("asked run {} to end {how}\n", run.id()))?;
    Ok(0)
}

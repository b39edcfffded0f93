//! `ralph pause`: lets a run wait after the running turn.

use std::path::Path;

use clap::Args;
use ralph_sys::error::{Error, Result};

use super::{
    persons_command::refuse_inside_run,
    print_lines, runs,
    say::{answered, folded},
    session::bound_to,
};
use crate::{
    fleet::{FarRun, FleetDir},
    journal::{
        self,
        requests::{self, PersonRequest},
        run_dir::RunDir,
    },
};

/// Pause a running loop after the current turn
///
/// The turn is finished, checked and committed. Then the run waits in its own process, keeps its locks and costs
/// nothing. `ralph resume` continues it, even after a kill; `ralph stop` ends it.
///
/// Example: ralph pause
#[derive(Args, Debug)]
pub(super) struct PauseArgs {
    /// The run's id or its beginning; without it, the one that runs in this project
    run: Option<String>,
}

/// Leaves the request for the run.
pub(super) fn main(args: &PauseArgs, project: &Path) -> Result<u8> {
    refuse_inside_run("pause")?;
    if args.run.as_deref().is_some_and(|id| FleetDir::by_id(id).is_some()) {
        return Err(Error::new("a fleet is not paused as a whole")
            .hint(
                "`ralph fleet stop` stops it after the running turns, and `ralph fleet resume` continues it",
            )
            .hint("the run of a lane can be paused: ralph pause RUN (`ralph fleet status` shows them)"));
    }
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::running(project)?,
    };
    let id = run.id();
    FarRun::refuse(&run, &format!("pause {id}"))?;
    if bound_to(&run).is_some() {
        return Err(Error::new(format!("run {id} is a loop inside a conversation, which cannot wait"))
            .hint(format!("stop the agent there, or end the loop: ralph stop {id}")));
    }
    if journal::process(&run).is_none() {
        return Err(Error::new(format!("run {id} is not running")));
    }
    if is_pausing(&run)? {
        return Err(
            Error::new(format!("run {id} is paused already")).hint(format!("continue it: ralph resume {id}"))
        );
    }
    let request = requests::leave(&run, &PersonRequest::Pause)?;
    answered(&run, request)?;
    print_lines(&format!("run {id} pauses after the running turn\nto continue it: ralph resume {id}\n"))?;
    Ok(0)
}

/// Whether a run has its process, and is paused or about to be.
pub(super) fn is_pausing(run: &RunDir) -> Result<bool> {
    Ok(journal::process(run).is_some() && folded(run)?.state.is_pausing())
}

/// Continues a run in the process that it has.
pub(super) fn go_on(run: &RunDir, asks_for_more: bool) -> Result<u8> {
    let id = run.id();
    if asks_for_more {
        return Err(Error::new(format!("run {id} is paused in its own process, which keeps its limits"))
            .hint(format!("continue it as it is: ralph resume {id}"))
            .hint(format!("or end it first: ralph stop {id}")));
    }
    let request = requests::leave(run, &PersonRequest::GoOn)?;
    answered(run, request)?;
    print_lines(&format!("run {id} continues in its own process\nwatch it: ralph logs -f {id}\n"))?;
    Ok(0)
}

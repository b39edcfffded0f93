//! `ralph stop`: asks a running loop to end.

use std::path::Path;

use clap::Args;
use ralph_sys::{
    error::{Error, Result},
    process,
};

use super::{print_lines, runs, session::bound_to};
use crate::{
    fleet::FarRun,
    hooks::{begin::cancel, store::Store},
    journal,
};

/// Ask a running loop to end
///
/// The current turn or guardrail finishes first, as after one Ctrl-C. With --now, ralph ends the agent at once.
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
    ralph_sandbox::refuse_inside()?;
    let run = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::running(project)?,
    };
    FarRun::refuse(&run, &format!("stop {}", run.id()))?;
    if let Some(conversation) = bound_to(&run) {
        cancel(&Store::of(&conversation)?, &run, "cancelled by the user");
        print_lines(&format!("cancelled run {}; from now on, the agent may stop\n", run.id()))?;
        return Ok(0);
    }
    let pid = journal::process(&run).ok_or_else(|| Error::new(format!("run {} is not running", run.id())))?;
    process::ask_to_stop(pid, args.now)?;
    let id = run.id();
    let text = if args.now {
        format!("asked run {id} to end now\n")
    } else {
        format!(
            "asked run {id} to end after the running operation\nif that takes too long: ralph stop --now {id}\n"
        )
    };
    print_lines(&text)?;
    Ok(0)
}

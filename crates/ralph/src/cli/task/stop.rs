//! `ralph task stop`: ends everybody who works on a task.

use std::path::Path;

use clap::Args;
use ralph_core::setup::Role;
use ralph_sys::error::{Error, Result};

use super::super::print_lines;
use crate::tasks::{
    Tasks,
    ending::{Patience, end, living},
    parse_id,
    record::Record,
};

/// End a task: its agent, and every run that agents started for it
///
/// Agents get SIGTERM (Codex gets SIGINT); ralph kills those that have not ended after 5 seconds. The task is not
/// started again; `ralph task run --task ID` continues it.
///
/// Example: ralph task stop greeter
#[derive(Args, Debug)]
pub(super) struct TaskStopArgs {
    /// The task
    #[arg(value_name = "ID", value_parser = parse_id)]
    task: String,

    /// Kill the agents at once
    #[arg(long)]
    force: bool,
}

/// Ends them, and waits until they have ended.
pub(super) fn main(args: &TaskStopArgs, project: &Path) -> Result<u8> {
    ralph_sandbox::refuse_inside()?;
    let task = Tasks::of(project).existing(&args.task)?;
    let (roots, children): (Vec<Record>, Vec<Record>) =
        living(&task, project).into_iter().partition(|record| record.role == Role::Root);
    if roots.is_empty() && children.is_empty() {
        return Err(Error::new(format!("task `{}` is not running", task.id))
            .hint("`ralph task list` shows their state"));
    }
    let stopped: Vec<&str> = roots.iter().chain(&children).map(|record| &*record.run).collect();
    // A run that waits for the others must have gone before them, or it would take their end for their success.
    let patience = |record: &[Record]| match args.force {
        true => Patience::None,
        // A root ends its children itself.
        false if record.is_empty() => Patience::Usual,
        false => Patience::Double,
    };
    end(&task, &roots, patience(&children));
    end(&task, &children, patience(&[]));
    print_lines(&format!("stopped task {}: {}\n", task.id, stopped.join(", ")))?;
    Ok(0)
}

//! `ralph task resume`: goes on with a task that is done, or that waits for somebody.

use std::{io, path::Path};

use clap::Args;
use ralph_core::setup::Role;
use ralph_sys::error::{Context, Error, Result};

use super::run::{GoingArgs, go};
use crate::tasks::{Task, Tasks, bus::Draft, parse_id, record::Status, store};

/// Go on with a task that was stopped, that waits for somebody, or that is done
///
/// Takes away DONE and `WAIT_WITHOUT_RESTART`, and starts the agent again. Where the task is not done and does
/// not wait, `ralph task run --task ID` does the same.
///
/// Example: ralph task resume greeter
#[derive(Args, Debug)]
pub(super) struct TaskResumeArgs {
    /// The task
    #[arg(value_name = "ID", value_parser = parse_id)]
    task: String,

    #[command(flatten)]
    going: GoingArgs,
}

/// Clears the way and runs the loop.
pub(super) fn main(args: &TaskResumeArgs, project: &Path) -> Result<u8> {
    let task = Tasks::of(project).existing(&args.task)?;
    let mut records = store::all(&task).into_values();
    if let Some(record) = records.find(|it| it.role == Role::Root && it.status == Status::Running) {
        return Err(Error::new(format!("task `{}` is running: run {}", task.id, record.run))
            .hint(format!("`ralph task stop {}` ends it", task.id)));
    }
    let was_done = remove(&task, &task.done())?;
    let did_wait = remove(&task, &task.marker())?;
    let why = match (was_done, did_wait) {
        (true, _) => "it was done",
        (false, true) => "it waited for somebody",
        (false, false) => "it was neither done nor waiting",
    };
    let body = format!("task resumed ({why})");
    let draft = Draft { kind: "INFO".to_owned(), task: Some(task.id.clone()), body, ..Draft::default() };
    if let Err(error) = task.bus().post(draft) {
        super::super::warn(&error.to_string());
    }
    go(&args.going, &task, None, project)
}

/// Takes a file away; says whether there was one.
fn remove(task: &Task, path: &Path) -> Result<bool> {
    if path.is_dir() {
        return Err(Error::new(format!("{} is a directory", path.display()))
            .hint("look what is in it, and take it away"));
    }
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context(format!("cannot resume task `{}`", task.id)),
    }
}

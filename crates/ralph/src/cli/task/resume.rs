//! `ralph task resume`: continues a task that is done, or that waits.
//!
//! Invariant: nothing of the task is changed before everything is ready to start its agent.

use std::{io, path::Path};

use clap::Args;
use ralph_core::setup::Role;
use ralph_sys::error::{Context, Error, Result};

use super::{
    earlier::Earlier,
    run::{GoingArgs, start},
};
use crate::tasks::{Task, Tasks, bus::Draft, parse_id, record::Status, store};

/// Continue a task that was stopped, that waits for a person, or that is done
///
/// Removes DONE and `WAIT_WITHOUT_RESTART`, and starts the task again with the same agent and flags; flags that you
/// give now override them. `ralph task run --task ID` uses the current settings instead.
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

/// Gets ready, clears the way and runs the loop.
pub(super) fn main(args: &TaskResumeArgs, project: &Path) -> Result<u8> {
    let task = Tasks::of(project).existing(&args.task)?;
    let mut records = store::all(&task).into_values();
    if let Some(record) = records.find(|it| it.role == Role::Root && it.status == Status::Running) {
        return Err(Error::new(format!("task `{}` is running: run {}", task.id, record.run))
            .hint(format!("`ralph task stop {}` ends it", task.id)));
    }
    for path in [task.done(), task.marker()] {
        if path.is_dir() {
            return Err(
                Error::new(format!("{} is a directory", path.display())).hint("look into it, then remove it")
            );
        }
    }
    let earlier = Earlier::of(&task, project)?;
    if args.going.common.is_dry_run() {
        return args.going.common.show(&start(&args.going, &task, None, project, earlier)?);
    }
    let driver = start(&args.going, &task, None, project, earlier)?.begin()?;
    let was_done = remove(&task, &task.done())?;
    let did_wait = remove(&task, &task.marker())?;
    let why = match (was_done, did_wait) {
        (true, _) => "it was done",
        (false, true) => "it waited for a person",
        (false, false) => "it was neither done nor waiting",
    };
    let body = format!("task resumed ({why})");
    let draft = Draft { kind: "INFO".to_owned(), task: Some(task.id.clone()), body, ..Draft::default() };
    if let Err(error) = task.bus().post(draft) {
        super::super::warn(&error.to_string());
    }
    driver.drive()
}

/// Removes a file; says whether there was one.
fn remove(task: &Task, path: &Path) -> Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).context(format!("cannot resume task `{}`", task.id)),
    }
}

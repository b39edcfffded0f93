//! Which run a command means.

use std::path::Path;

use ralph_core::{nearest::nearest, setup::Role};
use ralph_sys::error::{Error, Result};

use super::session::bound_to;
use crate::journal::{self, run_dir::RunDir};

/// The run with this id, or with the only id that begins so; of any project.
pub(super) fn by_id(id: &str) -> Result<RunDir> {
    let all: Vec<String> = RunDir::all()?.iter().map(RunDir::id).collect();
    let mut found: Vec<RunDir> = RunDir::all()?.into_iter().filter(|run| run.id().starts_with(id)).collect();
    match (found.len(), found.pop()) {
        (1, Some(run)) => Ok(run),
        (0, _) | (_, None) => {
            let error = Error::new(format!("there is no run `{id}`"));
            let error = match nearest(id, all.iter().map(String::as_str)) {
                Some(meant) => error.hint(format!("did you mean `{meant}`?")),
                None => error,
            };
            Err(error.hint("`ralph status --all` lists them"))
        }
        (several, Some(_)) => {
            Err(Error::new(format!("{several} runs begin with `{id}`"))
                .hint("`ralph status --all` lists them"))
        }
    }
}

/// The newest run of the project, other than those that agents started for a part of a task.
pub(super) fn newest(project: &Path) -> Result<RunDir> {
    let mut runs = RunDir::of_project(project)?.into_iter().rev();
    runs.find(|run| !is_child(run)).ok_or_else(|| {
        Error::new(format!("there is no run of {} yet", project.display()))
            .hint("start one: ralph run \"...\"")
    })
}

fn is_child(run: &RunDir) -> bool {
    let started = journal::started(&run.journal());
    started.and_then(|it| it.setup.assignment).is_some_and(|it| it.role == Role::Child)
}

/// The run of the project that is running.
pub(super) fn running(project: &Path) -> Result<RunDir> {
    let runs = RunDir::of_project(project)?;
    let running =
        runs.into_iter().rev().filter(|run| journal::process(run).is_some() || bound_to(run).is_some());
    // One that others started for a part comes after one that a person started.
    let mut running: Vec<RunDir> = running.collect();
    running.sort_by_key(is_child);
    running.into_iter().next().ok_or_else(|| {
        Error::new(format!("nothing is running in {}", project.display()))
            .hint("`ralph status --all` shows the runs of all projects")
    })
}

//! One committing loop per working tree.
//!
//! The lock is on the project directory's own descriptor, so neither another user, another state directory
//! nor a deleted lock file gets around it, and a crash frees it.

use std::{
    fs::{File, TryLockError},
    os::unix::fs::MetadataExt,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use ralph_core::{engine::event::Event, setup::LockScope};
use ralph_sys::error::{Context, Error, Result};

use crate::journal::{self, run_dir::RunDir};

/// How long the guardian of a killed loop may take to clean up before the tree is free.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);

/// A guardian that goes gives up its locks one after the other.
const RELEASE_TIMEOUT: Duration = Duration::from_millis(500);

/// Takes the tree for one loop, or says who has it: the project's folder and, where ralph commits, the whole
/// working tree that it is in.
pub(crate) fn take(project: &Path, tree: Option<&Path>) -> Result<Vec<File>> {
    let above = tree.filter(|tree| *tree != project);
    std::iter::once(project).chain(above).map(|dir| take_one(dir, project, &LockScope::Tree)).collect()
}

/// Takes a folder that only one run may work in.
pub(crate) fn take_folder(folder: &Path, project: &Path) -> Result<File> {
    take_one(folder, project, &LockScope::Folder(folder.to_owned()))
}

fn take_one(dir: &Path, project: &Path, territory: &LockScope) -> Result<File> {
    let directory = File::open(dir).context(format!("cannot open {}", dir.display()))?;
    let started = Instant::now();
    loop {
        match directory.try_lock() {
            Ok(()) => return Ok(directory),
            Err(TryLockError::Error(error)) => {
                return Err(error).context(format!("cannot lock {}", dir.display()));
            }
            Err(TryLockError::WouldBlock) => {}
        }
        let holder = holder(project, territory);
        let is_cleaning_up = holder.as_ref().is_some_and(|holder| !ralph_sys::process::is_alive(holder.pid));
        let patience = match &holder {
            Some(_) if is_cleaning_up => CLEANUP_TIMEOUT,
            Some(_) => Duration::ZERO,
            // Perhaps a guardian that has given up the journal already.
            None => RELEASE_TIMEOUT,
        };
        if patience <= started.elapsed() {
            return Err(refusal(holder, &directory, territory));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

struct Holder {
    pid: i32,
    run: String,
    since: jiff::Timestamp,
}

/// The loop whose journal is being written, if its record is where ours is.
fn holder(project: &Path, territory: &LockScope) -> Option<Holder> {
    let runs = RunDir::of_project(project).ok()?;
    let works_here = |run: &&RunDir| {
        journal::is_running(&run.journal())
            && journal::started(&run.journal()).is_some_and(|started| started.setup.territory == *territory)
    };
    let run = runs.iter().rev().find(works_here)?;
    let mut holder = None;
    journal::read_from(&run.journal(), 0, &mut |entry| {
        let pid = match &entry.event {
            Event::RunStarted(started) => started.pid,
            Event::RunResumed { pid, .. } => *pid,
            _ => return,
        };
        holder = Some(Holder { pid: pid.cast_signed(), run: run.id(), since: entry.at });
    })
    .ok()?;
    holder
}

fn refusal(holder: Option<Holder>, directory: &File, territory: &LockScope) -> Error {
    if *territory != LockScope::Tree {
        let who =
            holder.map_or("another user".to_owned(), |it| format!("run {}, process {}", it.run, it.pid));
        return Error::new(format!("this task is being worked on: {who}"))
            .hint("`ralph task list` shows it, `ralph task stop` ends it");
    }
    let error = match holder {
        Some(Holder { pid, run, since }) => {
            let since = since.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
            Error::new(format!(
                "another loop is working in this tree: run {run}, process {pid}, since {since}"
            ))
            .hint(format!("wait for it, or end it with `ralph stop {run}`"))
        }
        // Another user's loop, or one with another state directory: the kernel still knows its process.
        None => match directory.metadata().ok().and_then(|it| ralph_sys::process::lock_holder(it.ino())) {
            Some(pid) => Error::new(format!("another loop is working in this tree: process {pid}")),
            None => Error::new("another loop is working in this tree"),
        },
    };
    error.hint("to run two loops at once, give each a tree of its own: `git worktree add ../second`")
}

//! Begins a run that does a part of a task, beside the process that asks for it.

use std::{
    ffi::OsString,
    fs::File,
    io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_core::setup::{Assignment, Role};
use ralph_sys::{
    error::{Context, Error, REFUSED, Result},
    files::MAX_TEXT_LEN,
    process::{
        detach::{own_pid, start_run},
        is_alive,
    },
};

use super::{Task, record::Status, registration::Registration, store};
use crate::journal::run_dir::RunDir;

/// What a run says to people, in its folder.
pub(crate) const LOG: &str = "ralph.log";
/// What it prints as data, in its folder, where that is kept apart.
pub(crate) const OUTPUT: &str = "ralph.out";

/// How long a run may take to begin.
const START_TIMEOUT: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Whether what a run prints and what it says go into two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logs {
    Together,
    Apart,
}

/// What a run has that is a child of another.
pub(crate) fn assignment(task: &Task, parent: Option<String>) -> Assignment {
    let (task, folder) = (task.id.clone(), task.folder.clone());
    Assignment { task, folder, role: Role::Child, parent, previous: None }
}

/// Makes a run known before anything of it has begun.
pub(crate) fn register(project: &Path, task: &Task, parent: Option<String>, title: String) -> Result<RunDir> {
    let run = RunDir::create(project)?;
    let (id, record) = (run.id(), run.path().to_owned());
    let assignment = assignment(task, parent);
    Registration { assignment: &assignment, run: &id, record, agent: "", title }.register()?;
    Ok(run)
}

/// Starts a registered run beside this process, and returns when it has taken over.
pub(crate) fn start_beside(task: &Task, run: &str, words: &[OsString], logs: Logs) -> Result<()> {
    let folder = task.run_folder(run);
    let log = fresh(task, &folder.join(LOG))?;
    let out = match logs {
        Logs::Together => log.try_clone()?,
        Logs::Apart => fresh(task, &folder.join(OUTPUT))?,
    };
    let pid = start_run(run, words, out, log).context("cannot start the run")?;
    let started = Instant::now();
    while store::one(task, run).is_some_and(|record| record.pid == own_pid())
        && started.elapsed() < START_TIMEOUT
    {
        if !is_alive(pid) {
            let said = task.files().read(folder.join(LOG), MAX_TEXT_LEN).unwrap_or_default();
            let said = String::from_utf8_lossy(&said);
            failed(task, run);
            return Err(Error::new(format!("the run did not begin: {}", said.trim())));
        }
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// A new file in the place of whatever is there.
fn fresh(task: &Task, path: &Path) -> io::Result<File> {
    match task.files().remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => task.files().create(path),
    }
}

/// Notes that a run has ended before it began.
pub(crate) fn failed(task: &Task, run: &str) {
    // A process that reads the record finds out by itself.
    let _ = store::update(task, run, |record| {
        (record.status, record.ended_at) = (Status::Failed, Some(Timestamp::now()));
        record.exit_code = Some(REFUSED);
    });
}

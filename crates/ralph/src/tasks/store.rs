//! Keeps the records of a task's runs.
//!
//! Invariant: a record is written as a whole or not at all, and changed only under a lock. A record that says
//! `running` is true as long as its process lives: a process that reads the list corrects what is not.

use std::{fs::File, io, path::Path, time::Duration};

use jiff::Timestamp;
use ralph_sys::{
    error::{Context, Result},
    file_lock,
    files::{MAX_TEXT_LEN, Readers},
    process::is_same_process,
};

use super::{
    Records, Task,
    record::{End, Record, Status},
};
use crate::journal::{self, run_dir::JOURNAL};

const FILE: &str = "run.json";
/// How long others may keep the records to themselves.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes the record of a new run; from here on others know of it.
pub(crate) fn register(task: &Task, record: &Record) -> Result<()> {
    let refused = || format!("cannot register the run in {}", task.folder.display());
    task.files().make_folder(&record.paths.folder).context(refused())?;
    let _lock = lock(task).context(refused())?;
    write(task, record).context(refused())
}

/// Changes the record of a run.
pub(crate) fn update(task: &Task, run: &str, change: impl FnOnce(&mut Record)) -> Result<()> {
    let refused = || format!("cannot change the record of run {run} in {}", task.folder.display());
    let _lock = lock(task).context(refused())?;
    let mut record = read(task, &task.run_folder(run)).context(refused())?;
    change(&mut record);
    write(task, &record).context(refused())
}

/// The record of one run.
pub(crate) fn one(task: &Task, run: &str) -> Option<Record> {
    read(task, &task.run_folder(run)).ok()
}

/// The records of all runs, with those put right whose process has gone.
pub(crate) fn all(task: &Task) -> Records {
    let entries = fs_err::read_dir(task.folder.join("runs")).into_iter().flatten().flatten();
    let records = entries.filter_map(|entry| read(task, &entry.path()).ok());
    records.map(|record| (record.run.clone(), reconcile(task, record))).collect()
}

fn reconcile(task: &Task, record: Record) -> Record {
    if ralph_sandbox::is_inside() {
        // No process lives, as far as one sees from there.
        return record;
    }
    let is_stale = |record: &Record| record.is_stale(is_same_process(record.pid, record.pid_started));
    let right = |record: Record| {
        let end = recorded_end(&record);
        record.reconciled(end, Timestamp::now())
    };
    if !is_stale(&record) {
        return record;
    }
    // It may have ended in the right way between the two looks; under the lock no process changes it.
    let Ok(_lock) = lock(task) else { return right(record) };
    let Ok(newest) = read(task, &record.paths.folder) else { return right(record) };
    if !is_stale(&newest) {
        return newest;
    }
    let right = right(newest);
    // A folder that cannot be written to is still read rightly.
    let _ = write(task, &right);
    right
}

/// How the run ended by its journal: it may have been killed between the last line there and its record here.
fn recorded_end(record: &Record) -> Option<End> {
    let (at, outcome, exit_code) = journal::end(&record.paths.record.join(JOURNAL))?;
    Some(End { at, status: Status::of(&outcome), exit_code: Some(exit_code) })
}

/// Held for moments only, by the process that changes a record.
fn lock(task: &Task) -> io::Result<File> {
    let runs = task.files().open_folder(task.folder.join("runs"))?;
    file_lock::take_within(&runs, LOCK_TIMEOUT)?;
    Ok(runs)
}

fn read(task: &Task, folder: &Path) -> io::Result<Record> {
    Ok(serde_json::from_slice(&task.files().read(folder.join(FILE), MAX_TEXT_LEN)?)?)
}

fn write(task: &Task, record: &Record) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(record)?;
    text.push(b'\n');
    task.files().replace(record.paths.folder.join(FILE), &text, Readers::Owner)
}

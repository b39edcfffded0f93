//! Ends runs that work on a task.
//!
//! Invariant: an agent can write the records, and never chooses whom ralph ends.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_sys::process::{ask_to_stop, end_at_once, guardian::OWN_RUN_VARIABLE, is_same_process, variable};

use super::{
    Task,
    record::{Record, Status},
    store,
};
use crate::journal::{self, run_dir::RunDir};

/// An agent gets a signal, five seconds to obey it, then SIGKILL; a little more for ralph itself.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);
/// Where no one gets time.
const FORCED_STOP_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How long a run may take to end before it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Its agent is killed at once.
    None,
    Usual,
    /// It has others to end.
    Double,
}

/// The runs of a task whose process is alive.
pub(crate) fn living(task: &Task, project: &Path) -> Vec<Record> {
    let records = store::all(task).into_values();
    records.filter(|record| record.status == Status::Running && is_ralph(record, project)).collect()
}

/// Ends these runs, all at once, and returns when they have ended.
pub(crate) fn end(task: &Task, records: &[Record], patience: Patience) {
    for record in records {
        ask(record, patience == Patience::None);
    }
    let patience = match patience {
        Patience::None => FORCED_STOP_TIMEOUT,
        Patience::Usual => STOP_TIMEOUT,
        Patience::Double => 2 * STOP_TIMEOUT,
    };
    for record in records {
        await_end(task, record, patience);
    }
}

/// Whether the process of a record is the run's. An agent can write the record, and must not choose whom ralph ends.
fn is_ralph(record: &Record, project: &Path) -> bool {
    let is_name = !record.run.contains(['/', '\0']);
    let own = RunDir::reserved(project, &record.run).ok().filter(|_| is_name);
    let of_journal = own.and_then(|run| journal::process(&run)).map(u32::cast_signed);
    // One that was registered and has not come to its journal yet is marked as itself.
    of_journal == Some(record.pid)
        || variable(record.pid, OWN_RUN_VARIABLE).is_some_and(|own| own == record.run)
}

fn ask(record: &Record, is_forced: bool) {
    // The second request ends the agent, the third kills it.
    for _ in 0..if is_forced { 2 } else { 1 } {
        if is_same_process(record.pid, record.pid_started) {
            // It may end at this moment.
            let _ = ask_to_stop(record.pid.cast_unsigned(), true);
            // Signals of one kind that come at once are one signal.
            thread::sleep(if is_forced { POLL_INTERVAL * 5 } else { Duration::ZERO });
        }
    }
}

/// A ralph that does not end is killed; then its guardian ends the agent.
fn await_end(task: &Task, record: &Record, patience: Duration) {
    let started = Instant::now();
    while is_same_process(record.pid, record.pid_started) {
        if patience < started.elapsed() {
            end_at_once(record.pid);
        }
        thread::sleep(POLL_INTERVAL);
    }
    // What it could not say itself.
    let _ = store::update(task, &record.run, |record| {
        if record.exit_code.is_none() {
            (record.status, record.ended_at, record.group) = (Status::Stopped, Some(Timestamp::now()), None);
        }
    });
}

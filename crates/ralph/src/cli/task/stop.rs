//! `ralph task stop`: ends everybody who works on a task.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use jiff::Timestamp;
use ralph_core::setup::Role;
use ralph_sys::{
    error::{Error, Result},
    process::{ask_to_stop, end_at_once, guardian::OWN_RUN_VARIABLE, is_same_process, variable},
};

use super::super::{print_lines, runs};
use crate::{
    journal::run_dir::RunDir,
    tasks::{
        Task, Tasks, parse_id,
        record::{Record, Status},
        store,
    },
};

/// An agent gets a signal, five seconds to obey it, then SIGKILL; a little more for ralph itself.
const STOP_TIMEOUT: Duration = Duration::from_secs(8);
/// With --force nobody gets time.
const FORCED_STOP_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// End a task: its agent, and every run that agents started for it
///
/// Agents get SIGTERM (or the signal that they know), 5 seconds to obey it, then SIGKILL. The task is not
/// started again; `ralph task run --task ID` goes on with it.
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
        running(&task, project).into_iter().partition(|record| record.role == Role::Root);
    if roots.is_empty() && children.is_empty() {
        return Err(Error::new(format!("task `{}` is not running", task.id))
            .hint("`ralph task list` shows how the tasks stand"));
    }
    let stopped: Vec<&str> = roots.iter().chain(&children).map(|record| &*record.run).collect();
    // Whoever waits for the others must have gone before them, or it would take their end for their success.
    end(&task, &roots, args.force);
    end(&task, &children, args.force);
    print_lines(&format!("stopped task {}: {}\n", task.id, stopped.join(", ")))?;
    Ok(0)
}

fn running(task: &Task, project: &Path) -> Vec<Record> {
    let records = store::all(task).into_values();
    records.filter(|record| record.status == Status::Running && is_ralph(record, project)).collect()
}

/// Whether the process of a record is the run's. An agent can write the record, and must not choose whom ralph ends.
fn is_ralph(record: &Record, project: &Path) -> bool {
    let is_name = !record.run.contains(['/', '\0']);
    let own = RunDir::reserved(project, &record.run).ok().filter(|_| is_name);
    let of_journal = own.and_then(|run| runs::process(&run)).map(u32::cast_signed);
    // One that was registered and has not come to its journal yet is marked as itself.
    of_journal == Some(record.pid)
        || variable(record.pid, OWN_RUN_VARIABLE).is_some_and(|own| own == record.run)
}

/// Ends these runs, all at once.
fn end(task: &Task, records: &[Record], is_forced: bool) {
    for record in records {
        ask(record, is_forced);
    }
    let patience = if is_forced { FORCED_STOP_TIMEOUT } else { STOP_TIMEOUT };
    for record in records {
        await_end(task, record, patience);
    }
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

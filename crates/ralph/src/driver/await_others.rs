//! Waits for what others do: runs that the agent started, tasks that must be done first.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use ralph_core::duration::millis;
use ralph_core::{
    duration::format_duration,
    engine::{
        event::{ChildRun, Event, GateEnded},
        outcome::Outcome,
        stop::Stop,
    },
    gate_failure::GateFailure,
    setup::Role,
};
use ralph_sys::process::Waited;

use super::{budget::is_late, site::Site};
use crate::{
    report::Reporter,
    tasks::{
        Task,
        ending::{Patience, end, living},
        record::{Record, Status},
        reporter::others_running,
        store,
    },
};

/// Between two looks at files of others.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Waits until every run that works on the task has ended. The list is read again each time, so those count
/// too that are started meanwhile. While one takes too long, the task is not done.
pub(super) fn await_children(
    site: &mut Site,
    gate: usize,
    child_wait_timeout_ms: u64,
    poll_interval_ms: u64,
) {
    let started = Instant::now();
    let limit = Duration::from_millis(child_wait_timeout_ms);
    let mut announced = Vec::new();
    let failure = loop {
        let living = children(site);
        if living.is_empty() {
            break None;
        }
        let ids: Vec<String> = living.iter().map(|record| record.run.clone()).collect();
        if limit <= started.elapsed() || is_late(site.run()) {
            let (who, limit) = (names(&living), format_duration(limit.min(started.elapsed())));
            site.ledger.warn(format!("child runs still at work after {limit}: {who}"));
            break Some(GateFailure::refused(still_at_work(&who)));
        }
        if announced.is_empty() {
            site.ledger.gate_started(gate);
        }
        if announced != ids {
            site.ledger.reporters.detail(&format!("Waiting for child runs: {}", names(&living)));
            site.ledger.reporters.flush();
            announced = ids;
        }
        let left = limit.saturating_sub(started.elapsed());
        let nap = Duration::from_millis(poll_interval_ms.max(1)).min(left);
        let Site { supervisor, ledger, .. } = site;
        if supervisor.wait(Instant::now() + nap, &mut || ledger.tick()) == Waited::StopRequested {
            return ledger.stop_requested();
        }
    };
    let ms = millis(started.elapsed());
    site.ledger.record(Event::GateEnded(GateEnded { ms, ..GateEnded::own(gate, failure, String::new()) }));
}

/// Ends the runs that the agents of a task started and that are still at work when the task stops. They are named first: a
/// kill in between must not lose that. An agent that waits for someone may wait for them.
pub(super) fn end_children(site: &mut Site, outcome: &Outcome) {
    let Some(assignment) = &site.setup.assignment else { return };
    let waits = matches!(outcome, Outcome::Stopped(Stop::AgentWaits { .. } | Stop::Paused { .. }));
    if assignment.role != Role::Root || waits {
        return;
    }
    let (task, own) = (Task::of(assignment), site.dir.id());
    let mut children = living(&task, &site.setup.project);
    children.retain(|record| record.run != own);
    if children.is_empty() {
        return;
    }
    let named = children.iter().map(|it| ChildRun { run: it.run.clone(), title: it.title.clone() });
    let kept = site.setup.keep_children;
    site.ledger.record(Event::ChildrenOutlived { children: named.collect(), kept });
    if !kept {
        end(&task, &children, Patience::Usual);
    }
}

/// Waits until these files are there; whether they are, or someone asked to stop.
pub(super) fn await_files(site: &mut Site, files: &[String]) -> Waited {
    let are_judged =
        |project: &Path| files.iter().filter(|file| is_judged(project, file)).count() == files.len();
    // Looked at before it is said, every one of them: that a run was killed is noticed by the look, and what a person writes
    // in answer to the message must be younger than that.
    let mut is_over = are_judged(&site.setup.project);
    site.ledger.warn(format!("waiting for what must be done first: {}", files.join(", ")));
    let Site { supervisor, ledger, setup, .. } = site;
    while !is_over && !is_late(ledger.run()) {
        if supervisor.wait(Instant::now() + POLL_INTERVAL, &mut || ledger.tick()) == Waited::StopRequested {
            ledger.stop_requested();
            return Waited::StopRequested;
        }
        is_over = are_judged(&setup.project);
    }
    Waited::Elapsed
}

/// Whether the file that says that a task is done is there, and more than an agent's word: the task's own run has judged it, or
/// no run has to.
pub(super) fn is_judged(project: &Path, file: &str) -> bool {
    let done = project.join(file);
    let Ok(written) = done.metadata().and_then(|it| it.modified()) else { return false };
    let Some(task) = done.parent().and_then(Task::in_folder) else { return true };
    let last = store::all(&task).into_values().rfind(|record| record.role == Role::Root);
    last.is_none_or(|last| match last.status {
        Status::Running => false,
        Status::Completed => true,
        // What was written since is a person's.
        Status::Failed | Status::Stopped => {
            last.ended_at.is_some_and(|ended| Timestamp::try_from(written).is_ok_and(|at| ended < at))
        }
    })
}

fn children(site: &Site) -> Vec<Record> {
    let Some(assignment) = &site.setup.assignment else { return Vec::new() };
    let records = store::all(&Task::of(assignment));
    let others = others_running(&records, &site.dir.id());
    records.into_values().filter(|record| others.contains(&record.run)).collect()
}

/// The runs of others that work on the task just now.
pub(super) fn at_work(site: &Site) -> Vec<String> {
    children(site).into_iter().map(|record| record.run).collect()
}

fn still_at_work(who: &str) -> String {
    format!(
        "You said that the task was done, but runs that you started are still at work: {who}. Wait for them, or have them stopped if no one needs them, before you say so again."
    )
}

/// Who they are and what they do.
fn names(records: &[Record]) -> String {
    let name = |record: &Record| format!("{} ({})", record.run, record.title);
    records.iter().map(name).collect::<Vec<_>>().join(", ")
}

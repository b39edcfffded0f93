//! Waits for what others do: runs that the agent started, tasks that must be done first.

use std::time::{Duration, Instant};

use ralph_core::duration::millis;
use ralph_core::{
    duration::format_duration,
    engine::event::{Event, GateEnded},
};
use ralph_sys::process::Waited;

use super::site::Site;
use crate::{
    report::Reporter,
    tasks::{Task, record::Record, reporter::others_running, store},
};

/// Between two looks at files of others.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Waits until everybody who works on the task has ended. The list is read again each time, so those count
/// too who are started meanwhile. Who takes too long is named and left alone.
pub(super) fn await_children(
    site: &mut Site,
    gate: usize,
    child_wait_timeout_ms: u64,
    poll_interval_ms: u64,
) {
    let started = Instant::now();
    let limit = Duration::from_millis(child_wait_timeout_ms);
    let mut announced = Vec::new();
    loop {
        let living = children(site);
        if living.is_empty() {
            break;
        }
        let ids: Vec<String> = living.iter().map(|record| record.run.clone()).collect();
        if limit <= started.elapsed() {
            let (who, limit) = (names(&living), format_duration(limit));
            site.ledger.warn(format!("child runs still at work after {limit}, left alive: {who}"));
            break;
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
    }
    let ms = millis(started.elapsed());
    site.ledger.record(Event::GateEnded(GateEnded {
        gate,
        failure: None,
        ms,
        log: String::new(),
        signature: None,
    }));
}

/// Waits until these files are there; whether they are, or somebody asked to stop.
pub(super) fn await_files(site: &mut Site, files: &[String]) -> Waited {
    site.ledger.warn(format!("waiting for what must be done first: {}", files.join(", ")));
    let Site { supervisor, ledger, setup, .. } = site;
    while !files.iter().all(|file| setup.project.join(file).exists()) {
        if supervisor.wait(Instant::now() + POLL_INTERVAL, &mut || ledger.tick()) == Waited::StopRequested {
            ledger.stop_requested();
            return Waited::StopRequested;
        }
    }
    Waited::Elapsed
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

/// Who they are and what they do.
fn names(records: &[Record]) -> String {
    let name = |record: &Record| format!("{} ({})", record.run, record.title);
    records.iter().map(name).collect::<Vec<_>>().join(", ")
}

//! What an earlier run of the project left running: its ralph and its guardian were killed together.
//!
//! Invariant: two agents never work in one tree.

use ralph_core::setup::{LockScope, Setup};
use ralph_sys::process::guardian;

use crate::journal::{self, run_dir::RunDir};

/// Ends it, and says whose it was. The tree is taken, so the runs that may work in it are over.
pub(super) fn end(setup: &Setup, runs: &[RunDir]) -> Option<String> {
    let last = runs.last().filter(|_| setup.territory == LockScope::Tree)?;
    // A run that ended has swept up. Whatever was there before the last one, that one has ended.
    if journal::end(&last.journal()).is_some() {
        return None;
    }
    let alive = guardian::runs_alive(last.mark().place());
    let is_over = |run: &&RunDir| alive.contains(&run.id()) && !journal::is_running(&run.journal());
    let mut ended = Vec::new();
    for run in runs.iter().filter(is_over) {
        end_processes(run, journal::started(&run.journal()).is_some_and(|it| it.setup.leftovers.are_kept()));
        ended.push(run.id());
    }
    (!ended.is_empty())
        .then(|| format!("ended what was left running of a run that was killed: {}", ended.join(", ")))
}

/// Ends the processes of a run that is over; those that its agent started may be kept, the agent is not.
pub(super) fn end_processes(run: &RunDir, are_kept: bool) {
    if are_kept {
        guardian::end_noted(&run.mark(), &run.watched());
    } else {
        guardian::end_run(&run.mark());
    }
}

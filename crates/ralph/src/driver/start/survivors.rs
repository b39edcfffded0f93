//! What an earlier run of the project left running: its ralph and its guardian were killed together.
//!
//! Invariant: two agents never work in one tree.

use ralph_core::setup::LockScope;
use ralph_sys::process::guardian::{self, Looks};

use crate::journal::{self, run_dir::RunDir};

/// Further back is not looked: who began since then has ended what was left.
const MAX_LOOKED_AT: usize = 32;

/// Ends what runs left that are over, and says whose it was. A run that is at work, or whose guardian is, keeps its own.
pub(super) fn end(runs: &[RunDir]) -> Option<String> {
    let last = runs.last()?;
    if !may_have_left(runs) {
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

/// Whether one of the last runs did not live to sweep up. Whatever was there before a run that had the tree, that one has ended.
fn may_have_left(runs: &[RunDir]) -> bool {
    let has_tree = |run: &RunDir| {
        journal::started(&run.journal()).is_some_and(|started| started.setup.territory == LockScope::Tree)
    };
    for run in runs.iter().rev().take(MAX_LOOKED_AT) {
        if journal::end(&run.journal()).is_none() {
            return true;
        }
        if has_tree(run) {
            return false;
        }
    }
    false
}

/// Ends the processes of a run that is over; those that its agent started may be kept, the agent is not.
pub(super) fn end_processes(run: &RunDir, are_kept: bool) {
    if are_kept {
        guardian::end_noted(&run.mark(), &run.watched());
        return;
    }
    let has_swept = journal::end(&run.journal()).is_some();
    guardian::end_run(&run.mark(), if has_swept { Looks::Once } else { Looks::Twice });
}

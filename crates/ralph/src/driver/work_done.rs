//! Counts what a run has done to the files, for its end and for its receipt.
//!
//! Invariant: what a receipt is about is on record before the run has ended, so that a ralph that is killed before it
//! makes the receipt leaves enough for another one.

use std::{collections::BTreeSet, path::PathBuf};

use ralph_core::engine::{
    Run,
    event::{Event, WorkCounted},
    plan::CommitRule,
};
use ralph_sys::process::Supervisor;

use super::{ledger::Ledger, site::Site};
use crate::{
    journal::run_dir::RunDir,
    project::git::{self, Git},
    receipt,
};

/// More files than this are only counted.
const MAX_NAMED_FILES: usize = 400;

/// Records which files are different since the first turn. What git cannot say is left out.
pub(super) fn count(site: &mut Site, git: Option<&Git>) {
    let Site { ledger, supervisor, setup, dir } = site;
    if setup.project.is_dir() {
        count_in(ledger, supervisor, dir, git);
    }
}

/// The same for a run that has no site.
pub(super) fn count_in(ledger: &mut Ledger, supervisor: &mut Supervisor, dir: &RunDir, git: Option<&Git>) {
    let Some(counted) = git.and_then(|git| counted(ledger.run(), supervisor, dir, git)) else { return };
    ledger.record(Event::WorkCounted(counted));
}

fn counted(run: &Run, supervisor: &mut Supervisor, dir: &RunDir, git: &Git) -> Option<WorkCounted> {
    let head = git.head(supervisor).ok()?;
    // Before its first turn a run has changed nothing.
    let base = if run.memory.turn.is_some() { run.memory.first_head.clone() } else { head.clone() };
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    if let (Some(base), Some(head)) = (&base, &head)
        && base != head
    {
        let committed = git.compared(supervisor, base, Some(head)).ok()?;
        files.extend(committed.into_iter().map(|file| PathBuf::from(file.path)));
    }
    let changes = git.changes(supervisor).ok()?;
    let uncommitted = git::since(&run.started.setup.dirty, changes.clone());
    let count = uncommitted.len() as u64;
    // Where ralph commits, what it left out is no part of the work.
    let is_committed = head.is_some() && (count == 0 || run.plan.commit != CommitRule::Never);
    let mut snapshot = || receipt::snapshot(supervisor, git, &changes, dir).ok();
    let tree = if is_committed { None } else { snapshot() };
    let left =
        uncommitted.iter().take(MAX_NAMED_FILES).map(|change| change.path.display().to_string()).collect();
    files.extend(uncommitted.into_iter().map(|change| change.path));
    Some(WorkCounted { base, head, files: files.len() as u64, uncommitted: count, left, tree })
}

//! What a review changed in the project beside the files of the loop.
//!
//! Invariant: a file counts as changed when it is not as it was before the turn, no matter who commits it. Files that
//! were not committed before and are as they were do not count.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
};

use ralph_core::{engine::event::Turn, setup::Setup, stories::Mode};
use ralph_sys::{files, process::Supervisor};

use crate::{
    journal::run_dir::{RunDir, record},
    project::git::{Change, Git},
};

/// Enough for a list of a million changed files.
const MAX_LIST_LEN: u64 = 256 * 1024 * 1024;
/// What was not committed before a review, in the turn's folder.
const DIRTY: &str = "changes.json";

/// The tree before a review.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeBefore {
    head: String,
    /// What was not as HEAD has it, with a fingerprint.
    dirty: BTreeMap<String, String>,
}

/// What git says after it.
struct TreeNow {
    dirty: Vec<Change>,
    committed: Vec<PathBuf>,
}

impl TreeBefore {
    /// The tree as it is now, kept for a process that may have to judge the turn later. Nothing unless it is a review.
    pub(super) fn keep(
        supervisor: &mut Supervisor,
        git: Option<&Git>,
        run: &RunDir,
        turn: &Turn,
    ) -> io::Result<Option<Self>> {
        let (Some(git), Some(head), Mode::Review) = (git, &turn.head, turn.mode) else { return Ok(None) };
        let changes = git.changes(supervisor)?;
        let dirty = changes.into_iter().map(|change| (change.key(), change.fingerprint)).collect();
        record(&folder(run, turn).join(DIRTY), &serde_json::to_vec(&dirty)?)?;
        Ok(Some(Self { head: head.clone(), dirty }))
    }

    /// The tree before a turn of an earlier process. What that did not keep is as it was when the run began.
    pub(super) fn recall(run: &RunDir, setup: &Setup, turn: &Turn) -> Option<Self> {
        let head = turn.head.clone().filter(|_| turn.mode == Mode::Review)?;
        let kept = files::read(&folder(run, turn).join(DIRTY), MAX_LIST_LEN).ok();
        let dirty = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Some(Self { head, dirty: dirty.unwrap_or_else(|| setup.dirty.clone()) })
    }

    /// What is not as it was, outside of this folder.
    pub(super) fn touched(
        &self,
        supervisor: &mut Supervisor,
        git: &Git,
        folder: &Path,
    ) -> io::Result<Vec<String>> {
        let dirty = git.changes(supervisor)?;
        let committed = git.changed_since(supervisor, &self.head)?;
        Ok(self.compared(&TreeNow { dirty, committed }, git, folder))
    }

    /// The same without a supervisor that watches over git, for hooks.
    pub(super) fn touched_at_once(&self, git: &Git, folder: &Path) -> io::Result<Vec<String>> {
        let dirty = git.changes_at_once()?;
        let committed = git.changed_since_at_once(&self.head)?;
        Ok(self.compared(&TreeNow { dirty, committed }, git, folder))
    }

    fn compared(&self, now: &TreeNow, git: &Git, folder: &Path) -> Vec<String> {
        let committed = now.committed.iter().map(|path| {
            let fingerprint = ralph_sys::hash::fingerprint(&git.top().join(path));
            Change { path: path.clone(), fingerprint }
        });
        let changes = now.dirty.iter().cloned().chain(committed);
        let is_ours = |change: &Change| git.top().join(&change.path).starts_with(folder);
        let is_other = |change: &Change| self.dirty.get(&change.key()) != Some(&change.fingerprint);
        let names = changes.filter(|change| !is_ours(change) && is_other(change));
        let mut names: BTreeSet<String> =
            names.map(|change| change.path.to_string_lossy().into_owned()).collect();
        // What was not committed before and is gone, or as HEAD has it, is in no list of git's.
        let uncommitted = self.dirty.iter().filter(|(key, _)| !key.starts_with('\0'));
        let gone = uncommitted.filter(|(key, before)| {
            let path = git.top().join(key);
            !path.starts_with(folder) && ralph_sys::hash::fingerprint(&path) != **before
        });
        names.extend(gone.map(|(key, _)| key.clone()));
        names.into_iter().collect()
    }
}

fn folder(run: &RunDir, turn: &Turn) -> PathBuf {
    run.turn(turn.iteration, turn.attempt)
}

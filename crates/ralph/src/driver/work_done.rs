//! Counts what a run has done to the files, for its end.

use std::{collections::BTreeSet, path::PathBuf};

use ralph_core::engine::event::{Event, WorkCounted};

use super::site::Site;
use crate::project::git::{self, Git};

/// More files than this are only counted.
const MAX_NAMED_FILES: usize = 400;

/// Records which files are different since the first turn. What git cannot say is left out: it is only for people.
pub(super) fn count(site: &mut Site, git: Option<&Git>) {
    let Some(git) = git.filter(|_| 0 < site.run().state.spent().turns && site.setup.project.is_dir()) else {
        return;
    };
    let base = site.run().memory.first_head.clone();
    let Some(counted) = counted(site, git, base) else { return };
    site.ledger.record(Event::WorkCounted(counted));
}

fn counted(site: &mut Site, git: &Git, base: Option<String>) -> Option<WorkCounted> {
    let head = git.head(&mut site.supervisor).ok()?;
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    if let (Some(base), Some(head)) = (&base, &head) {
        let committed = git.compared(&mut site.supervisor, base, Some(head)).ok()?;
        files.extend(committed.into_iter().map(|file| PathBuf::from(file.path)));
    }
    let uncommitted = git::since(&site.setup.dirty, git.changes(&mut site.supervisor).ok()?);
    let count = uncommitted.len() as u64;
    let left =
        uncommitted.iter().take(MAX_NAMED_FILES).map(|change| change.path.display().to_string()).collect();
    files.extend(uncommitted.into_iter().map(|change| change.path));
    Some(WorkCounted { base, head, files: files.len() as u64, uncommitted: count, left })
}

//! The lock on git's index. Every git that writes holds it for a moment; one that was killed leaves it behind.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::PathBuf, time::SystemTime};

use ralph_sys::calls::succeeded;
use ralph_sys::process::{Supervisor, is_at_work};

use super::Git;

/// The lock on an index.
pub(crate) struct IndexLock {
    pub(crate) path: PathBuf,
    /// When it was taken.
    pub(crate) since: SystemTime,
}

impl Git {
    /// The lock on the index, if it is there.
    pub(crate) fn index_lock(&self, supervisor: &mut Supervisor) -> Option<IndexLock> {
        // A worktree has an index of its own, elsewhere.
        let captured = self.call(supervisor, &["rev-parse", "--git-path", "index.lock"]).ok()?;
        let path = captured.out.strip_suffix(b"\n").filter(|_| succeeded(&captured))?;
        let path = self.top.join(OsStr::from_bytes(path));
        let since = path.symlink_metadata().and_then(|it| it.modified()).ok()?;
        Some(IndexLock { path, since })
    }

    /// Whether any git works in this tree.
    pub(crate) fn is_at_work(&self) -> bool {
        is_at_work("git", &self.top)
    }
}

/// Whether git refused because of the lock.
pub(crate) fn is_locked(refusal: &str) -> bool {
    refusal.contains("index.lock': File exists")
}

//! What git lists, without what is ralph's own.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
};

use super::{DIFF, Git};
use crate::project::own_output::{is_own_output, look_again};

impl Git {
    /// The paths that git lists, ralph's own not.
    pub(super) fn paths_in(&self, listed: &[u8]) -> Vec<PathBuf> {
        look_again();
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let paths = names.map(|name| PathBuf::from(OsString::from_vec(name.to_vec())));
        paths.filter(|path| !self.is_own(path)).collect()
    }

    /// Whether ralph writes a file of the tree.
    pub(super) fn is_own(&self, path: &Path) -> bool {
        is_ralphs(path) || is_own_output(&self.top.join(path))
    }
}

/// Files of ralph are never committed by ralph, ignored or not.
fn is_ralphs(path: &Path) -> bool {
    // The plan is the agent's work wherever it is kept.
    if path.ends_with(".ralph/implementation_plan.md") {
        return false;
    }
    path == Path::new(".ralph-active") || path.components().any(|part| part.as_os_str() == ".ralph")
}

/// Names the files that differ from a commit in the tree, and in HEAD: the index can hide one from the other.
pub(super) fn since_commit(commit: &str) -> [Vec<&str>; 2] {
    let diff = [DIFF.as_slice(), &["--name-only", "--ignore-submodules=dirty", commit]].concat();
    [[diff.as_slice(), &["--"]].concat(), [diff.as_slice(), &["HEAD", "--"]].concat()]
}

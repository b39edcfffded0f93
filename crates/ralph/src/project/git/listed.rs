//! What git lists, without what is ralph's own.

use std::{
    ffi::OsString,
    io,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use ralph_core::engine::event::Tree;
use ralph_sys::{
    calls::succeeded,
    hash::{fingerprint, fnv},
    process::Supervisor,
};

use super::{Change, DIFF, Git, MAX_CHANGES_LEN, STATUS, text};
use crate::project::own_output::{is_own_output, look_again};

/// What is not as HEAD has it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChangeList {
    /// The files, new ones included, ralph's own not.
    pub(crate) changes: Vec<Change>,
    /// All paths of which the index has something else than HEAD.
    pub(crate) staged: Vec<PathBuf>,
}

/// The files of a repository at a moment: a look at very many takes long.
#[derive(Clone, Debug)]
pub(crate) struct TreeLook {
    pub(crate) head: Option<String>,
    pub(crate) listing: ChangeList,
}

impl TreeLook {
    /// The files in short: HEAD, and a fingerprint of everything that is not as HEAD has it.
    pub(crate) fn tree(&self) -> Tree {
        let mut all = Vec::new();
        for change in &self.listing.changes {
            all.extend_from_slice(change.path.as_os_str().as_bytes());
            all.extend_from_slice(format!("\0{}\0", change.fingerprint).as_bytes());
        }
        Tree { head: self.head.clone(), changes: format!("{:x}", fnv(&all)) }
    }
}

impl Git {
    /// Looks at the files.
    pub(crate) fn look(&self, supervisor: &mut Supervisor) -> io::Result<TreeLook> {
        Ok(TreeLook { head: self.head(supervisor)?, listing: self.listing(supervisor)? })
    }

    /// Everything that is not as HEAD has it, new files included, ralph's own files not.
    pub(crate) fn changes(&self, supervisor: &mut Supervisor) -> io::Result<Vec<Change>> {
        Ok(self.listing(supervisor)?.changes)
    }

    /// The same with what is staged.
    pub(crate) fn listing(&self, supervisor: &mut Supervisor) -> io::Result<ChangeList> {
        let captured = supervisor.capture(self.spec(&STATUS), MAX_CHANGES_LEN)?;
        if !succeeded(&captured) {
            return Err(io::Error::other(format!("git status failed: {}", text(&captured.err))));
        }
        Ok(self.listing_in(&captured.out))
    }

    /// The changes that git lists.
    pub(super) fn listing_in(&self, listed: &[u8]) -> ChangeList {
        look_again();
        let mut listing = ChangeList::default();
        for entry in listed.split(|byte| *byte == 0).filter(|entry| 3 < entry.len()) {
            let path = PathBuf::from(OsString::from_vec(entry[3..].to_vec()));
            if !matches!(entry[0], b' ' | b'?') {
                listing.staged.push(path.clone());
            }
            // Staged as new and gone again is as HEAD has it.
            if !entry.starts_with(b"AD ") && !self.is_own(&path) {
                let fingerprint = fingerprint(&self.top.join(&path));
                listing.changes.push(Change { path, fingerprint });
            }
        }
        listing
    }

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

//! Files whose contents a power cut took, although a commit of the run has them. Git writes its own files through to the disk,
//! but nothing does so for the working tree: what an agent has just written may come back empty. The next commit of the run
//! would be one of that loss.
//!
//! Invariant: what anyone wrote since the machine was started again is left alone.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use jiff::Timestamp;
use ralph_sys::{
    boot,
    files::{self, Readers, Root},
};

use super::{Driver, site::Site};
use crate::project::git::Git;

/// The kernel says to the second when it began.
const MAX_BOOT_STEP: Duration = Duration::from_secs(2);
/// A larger file is not looked at.
const MAX_FILE_LEN: u64 = 64 * 1024 * 1024;
/// So many are named.
const MAX_NAMED: usize = 5;

impl Driver {
    /// Restores them from the last commit, and says so. The last process of the run was there until then.
    pub(super) fn restore_torn_files(&mut self, since: Option<Timestamp>) {
        let Some(git) = self.git.as_ref().or(self.trees.repository()) else { return };
        let (Some(began), Some(since)) = (boot::began(), since) else { return };
        if began <= SystemTime::from(since) + MAX_BOOT_STEP {
            return;
        }
        match restore(&mut self.site, git, began) {
            Ok(restored) if restored.is_empty() => {}
            Ok(restored) => self.site.ledger.warn(format!(
                "a power cut took the contents of files that are committed, and ralph restored them: {}",
                named(&restored)
            )),
            Err(error) => self
                .site
                .ledger
                .warn(format!("ralph cannot tell which files the power cut has emptied: {error}")),
        }
    }
}

/// Restores the files that a commit of the run has and that are torn since before then.
fn restore(site: &mut Site, git: &Git, began: SystemTime) -> io::Result<Vec<PathBuf>> {
    let first = site.run().memory.first_head.clone();
    if site.run().memory.turn.is_none() || git.head(&mut site.supervisor)? == first {
        return Ok(Vec::new());
    }
    let committed = git.committed_since(&mut site.supervisor, first.as_deref())?;
    let committed: BTreeSet<PathBuf> = committed.into_iter().collect();
    let changes = git.changes(&mut site.supervisor)?;
    let mut restored = Vec::new();
    for path in changes.into_iter().map(|change| change.path).filter(|path| committed.contains(path)) {
        let Some(now) = contents_before(&git.top().join(&path), began) else { continue };
        let whole = git.committed(&mut site.supervisor, &path)?;
        if whole.is_some_and(|whole| {
            is_torn(&now, &whole) && Root::new(git.top()).replace(&path, &whole, Readers::AsBefore).is_ok()
        }) {
            restored.push(path);
        }
    }
    Ok(restored)
}

/// What a file has that was last written before then.
fn contents_before(path: &Path, began: SystemTime) -> Option<Vec<u8>> {
    let file = path.symlink_metadata().ok().filter(fs::Metadata::is_file)?;
    let is_before = file.modified().is_ok_and(|written| written < began);
    if is_before { files::read(path, MAX_FILE_LEN).ok() } else { None }
}

/// Whether this is what a disk has of the whole: its beginning, and zeros where nothing was written.
fn is_torn(now: &[u8], whole: &[u8]) -> bool {
    let written = now.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    now != whole && now.len() <= whole.len() && whole.starts_with(&now[..written])
}

fn named(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().take(MAX_NAMED).map(|path| path.display().to_string()).collect();
    match paths.len().saturating_sub(MAX_NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_file_is_told_from_a_changed_one() {
        let check =
            |now: &str, expected| assert_eq!(is_torn(now.as_bytes(), b"one\ntwo\n"), expected, "{now:?}");
        for torn in ["", "one\n", "one\nt", "one\n\0\0\0\0", "\0\0\0\0\0\0\0\0"] {
            check(torn, true);
        }
        for other in ["one\ntwo\n", "one\ntwo\nthree\n", "two\n", "one\n\0two", "one\ntwo\n\0"] {
            check(other, false);
        }
        assert!(!is_torn(b"", b""));
    }

    #[test]
    fn what_was_written_since_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "x").expect("a file");
        let written = path.metadata().and_then(|it| it.modified()).expect("a time");
        assert_eq!(contents_before(&path, written + Duration::from_secs(1)), Some(b"x".to_vec()));
        assert_eq!(contents_before(&path, written), None);
        std::os::unix::fs::symlink(&path, folder.path().join("link")).expect("a link");
        assert_eq!(contents_before(&folder.path().join("link"), written + Duration::from_secs(1)), None);
    }

    #[test]
    fn a_few_names_are_enough() {
        let paths: Vec<PathBuf> = (0..7).map(|number| PathBuf::from(number.to_string())).collect();
        assert_eq!(named(&paths), "0, 1, 2, 3, 4 and 2 more");
        assert_eq!(named(&paths[..2]), "0, 1");
    }
}

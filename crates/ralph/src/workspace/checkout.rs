//! Brings the files of a workspace to a commit: exactly what was committed, and beside it only what is kept.
//!
//! The index has the times, sizes and numbers of the files as they were written; a process that changes one cannot set
//! back the time of that change. So what differs is found without reading it, and no other index is asked.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use ralph_core::verify::keep::{Fate, Keep};
use ralph_sys::process::Supervisor;

use super::{
    call::{GitCall, parts, path, text},
    source::Sparse,
    store::ObjectStore,
};

/// What the index says about the files on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust<'a> {
    /// They are those of this commit.
    Commit(&'a str),
    /// Something that can be believed.
    Index,
    /// No one knows: every file is read.
    Nothing,
}

/// What is on the disk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// The files of the commit, relative to the tree.
    pub(super) tracked: Vec<PathBuf>,
    /// What is in no commit; a folder stands for all that is in it.
    others: Vec<PathBuf>,
    /// Whether a file is not as the commit has it.
    is_changed: bool,
    /// Whether a file is not written because of a sparse checkout.
    has_left_out: bool,
}

/// What is checked out, and where.
pub(super) struct Checkout<'a> {
    pub(super) store: &'a ObjectStore,
    pub(super) tree: &'a Path,
    /// Where `tree` is in the whole tree: that of a submodule is not at the top.
    pub(super) base: &'a Path,
    pub(super) keep: &'a Keep,
    pub(super) sparse: Option<Sparse>,
    /// More settings of git.
    pub(super) settings: Vec<String>,
}

impl Checkout<'_> {
    /// Brings the files to a commit, and removes everything that is neither in it nor kept. Returns what is there then, and
    /// the files whose content is missing, which are not there.
    pub(super) fn bring_to(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
        trust: Trust<'_>,
    ) -> io::Result<(Listing, Vec<String>)> {
        fs_err::create_dir_all(self.tree)?;
        let missing = self.missing(supervisor, commit)?;
        self.write_patterns(&missing)?;
        let is_there = match trust {
            Trust::Commit(from) if missing.is_empty() && self.sparse.is_none() => {
                from == commit || self.step(supervisor, from, commit)?
            }
            Trust::Commit(_) | Trust::Index => false,
            Trust::Nothing => {
                self.compare_all(supervisor, commit)?;
                false
            }
        };
        if !is_there {
            self.reset(supervisor, commit, &missing)?;
        }
        let mut listing = self.list(supervisor)?;
        // What was left out before, and is wanted.
        let is_left_out = listing.has_left_out && missing.is_empty() && self.sparse.is_none();
        if is_left_out {
            self.compare_all(supervisor, commit)?;
        }
        if listing.is_changed || is_left_out {
            self.reset(supervisor, commit, &missing)?;
            listing = self.list(supervisor)?;
        }
        Ok((listing, missing))
    }

    /// Writes what differs between two commits. Returns whether that could be done.
    fn step(&self, supervisor: &mut Supervisor, from: &str, to: &str) -> io::Result<bool> {
        Ok(self.call(&[]).args(["read-tree", "-m", "-u", from, to]).run(supervisor)?.is_ok())
    }

    /// Writes every file that is not as the commit has it, by what the index knows.
    fn reset(&self, supervisor: &mut Supervisor, commit: &str, missing: &[String]) -> io::Result<()> {
        let call = self.call(missing).args(["read-tree", "-u", "--reset", commit]);
        call.must(supervisor, "cannot check out").map(drop)
    }

    /// Looks at everything that is there.
    fn list(&self, supervisor: &mut Supervisor) -> io::Result<Listing> {
        let kinds = ["--cached", "--others", "--modified", "--deleted"];
        let call = self.call(&[]).args(["ls-files", "-z", "-t", "--directory"]).args(kinds);
        let listed = call.must(supervisor, "cannot list the files")?;
        let mut listing = Listing::default();
        for entry in parts(&listed) {
            let Some((tag, name)) = entry.split_at_checked(2) else { continue };
            match tag {
                b"? " => listing.others.push(path(name).components().collect()),
                b"H " => listing.tracked.push(path(name).to_owned()),
                b"S " => listing.has_left_out = true,
                _ => listing.is_changed = true,
            }
        }
        Ok(listing)
    }

    /// Learns from the files themselves which of them are as the commit has them: those are not written again, so that
    /// what was built from them stays up to date.
    fn compare_all(&self, supervisor: &mut Supervisor, commit: &str) -> io::Result<()> {
        for name in ["index", "index.lock"] {
            match std::fs::remove_file(self.store.dir().join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        if std::fs::read_dir(self.tree)?.next().is_none() {
            return Ok(());
        }
        self.call(&[]).args(["read-tree", commit]).must(supervisor, "cannot read the commit")?;
        // It fails when a file differs, which is what the next step is for.
        self.call(&[]).args(["update-index", "-q", "--really-refresh"]).run(supervisor).map(drop)
    }

    /// Removes everything that is neither in the commit nor kept.
    pub(super) fn clean(&self, listing: &Listing) -> io::Result<()> {
        let others = listing.others.iter();
        others
            .map(|name| sort_out(self.tree, &self.base.join(name), self.base, self.keep))
            .try_for_each(|it| it.map(drop))
    }

    /// Puts back what of the commit is not there.
    pub(super) fn restore(&self, supervisor: &mut Supervisor, commit: &str) -> io::Result<()> {
        let missing = self.missing(supervisor, commit)?;
        self.reset(supervisor, commit, &missing)
    }

    /// A call with what decides which files are written.
    fn call(&self, missing: &[String]) -> GitCall {
        let mut call = self.store.call_in(self.tree);
        if self.sparse.is_some() || !missing.is_empty() || self.pattern_file().exists() {
            let cone = self.sparse.as_ref().is_some_and(|sparse| sparse.cone) && missing.is_empty();
            call =
                call.setting("core.sparseCheckout=true").setting(format!("core.sparseCheckoutCone={cone}"));
        }
        self.settings.iter().fold(call, GitCall::setting)
    }

    fn pattern_file(&self) -> PathBuf {
        self.store.dir().join("info/sparse-checkout")
    }

    /// Says which files are written: those of the project's own patterns whose content is there.
    fn write_patterns(&self, missing: &[String]) -> io::Result<()> {
        if self.sparse.is_none() && missing.is_empty() {
            return match std::fs::remove_file(self.pattern_file()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        let mut patterns = self.sparse.as_ref().map_or(b"/*\n".to_vec(), |sparse| sparse.patterns.clone());
        if !patterns.ends_with(b"\n") {
            patterns.push(b'\n');
        }
        for name in missing {
            patterns.extend_from_slice(format!("!/{}\n", escaped(name)).as_bytes());
        }
        fs_err::create_dir_all(self.store.dir().join("info"))?;
        fs_err::write(self.pattern_file(), patterns)
    }

    /// The files of a commit whose content is not in the store. Only a partial clone has any.
    fn missing(&self, supervisor: &mut Supervisor, commit: &str) -> io::Result<Vec<String>> {
        let config = std::fs::read_to_string(self.store.dir().join("config")).unwrap_or_default();
        if !config.to_lowercase().contains("partialclone") {
            return Ok(Vec::new());
        }
        let tree = format!("{commit}^{{tree}}");
        let args = ["rev-list", "--objects", "--missing=print", "--no-walk", &tree];
        let listed =
            self.store.call().args(args).must(supervisor, "the partial clone does not have the folders")?;
        let listed = text(&listed);
        let gone: Vec<&str> = listed.lines().filter_map(|line| line.strip_prefix('?')).collect();
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        let files = self
            .store
            .call()
            .args(["ls-tree", "-r", "-z", commit])
            .must(supervisor, "cannot list the files")?;
        let entry = |entry: &[u8]| {
            let entry = String::from_utf8_lossy(entry).into_owned();
            let (facts, name) = entry.split_once('\t')?;
            Some((name.to_owned(), facts.rsplit(' ').next()?.to_owned()))
        };
        let names: BTreeMap<String, String> = parts(&files).filter_map(entry).collect();
        Ok(names.into_iter().filter(|(_, id)| gone.contains(&id.as_str())).map(|(name, _)| name).collect())
    }
}

/// Removes a path that is not kept; looks into a folder in which something may be. Returns whether anything is left.
fn sort_out(tree: &Path, name: &Path, base: &Path, keep: &Keep) -> io::Result<bool> {
    let place = tree.join(name.strip_prefix(base).unwrap_or(name));
    let mut is_left = keep.fate(name) == Fate::Kept;
    if keep.fate(name) == Fate::Above && place.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        for entry in fs_err::read_dir(&place)? {
            is_left |= sort_out(tree, &name.join(entry?.file_name()), base, keep)?;
        }
    }
    if !is_left {
        remove(&place)?;
    }
    Ok(is_left)
}

/// Removes whatever is at a path, and does not follow it.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let removed = match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => remove_folder(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
    }
}

/// Removes a folder, also one that was made unwritable, as Go does with its modules and the kernel with overlays.
fn remove_folder(path: &Path) -> io::Result<()> {
    let Err(error) = std::fs::remove_dir_all(path) else { return Ok(()) };
    if error.kind() != io::ErrorKind::PermissionDenied {
        return Err(error);
    }
    make_writable(path)?;
    std::fs::remove_dir_all(path)
}

fn make_writable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(folder)?.flatten() {
        if entry.file_type()?.is_dir() {
            make_writable(&entry.path())?;
        }
    }
    Ok(())
}

/// A name as a pattern that means only this name.
pub(super) fn escaped(name: &str) -> String {
    let mut pattern = String::new();
    for c in name.chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    match pattern.strip_suffix(' ') {
        Some(rest) => format!("{rest}\\ "),
        None => pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_patterns() {
        for (name, expected) in [("a/b.txt", "a/b.txt"), ("[x]*?", "\\[x]\\*\\?"), ("a\\b ", "a\\\\b\\ ")] {
            assert_eq!(escaped(name), expected);
        }
    }

    #[test]
    fn what_is_not_kept_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in ["a/keep/x", "a/other/y", "b/z", "c"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        std::os::unix::fs::symlink("/", folder.path().join("link")).expect("a link");
        let keep = Keep::new(Path::new(""), ["a/keep"]);
        for name in ["a", "b", "c", "link", "gone"] {
            sort_out(folder.path(), Path::new(name), Path::new(""), &keep).expect("it is sorted out");
        }
        let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(folder.path().join("a/keep/x").exists() && !folder.path().join("a/other").exists());
    }

    #[test]
    fn folders_that_cannot_be_written_go_too() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("a/b");
        std::fs::create_dir_all(&inner).expect("a folder");
        std::fs::write(inner.join("x"), "").expect("a file");
        for dir in [inner.as_path(), inner.parent().expect("a folder")] {
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o500)).expect("it is closed");
        }
        remove(&folder.path().join("a")).expect("it goes");
        assert!(!folder.path().join("a").exists());
    }
}

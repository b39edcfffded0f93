//! What a run starts from, kept in the workspace's own store, so that what judges can be compared with it.

use std::{
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use ralph_sys::process::Supervisor;

use super::{
    Candidate, NotJudged, Workspace,
    call::{parts, path, text},
    snapshot,
};

/// Where refs are that hold what runs started from.
const BASES: &str = "refs/ralph/base";

/// The ref that holds a commit that ralph made.
const MADE: &str = "refs/ralph/made";

/// As much of a difference as anyone reads.
const MAX_DIFF_LEN: usize = 256 * 1024;

/// A longer file is no text that anyone compares.
const MAX_BLOB_LEN: u64 = 8 * 1024 * 1024;

/// A file that differs between two commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileDiff {
    /// Relative to the top of the repository.
    pub(crate) path: PathBuf,
    /// Mode and object before; nothing if it was not there.
    pub(crate) old: Option<Blob>,
    /// Mode and object after; nothing if it is not there.
    pub(crate) new: Option<Blob>,
}

/// An entry of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) mode: String,
    pub(crate) id: String,
}

/// How a file of a made commit differs from the commit that it is made from.
pub(crate) enum MadeChange<'a> {
    Removed(&'a Path),
    Entry(&'a Path, &'a Blob),
    Text(&'a Path, &'a str),
    Merged { path: &'a Path, mode: &'a str, text: &'a str },
}

impl MadeChange<'_> {
    fn path(&self) -> &Path {
        match self {
            Self::Removed(path) | Self::Entry(path, _) | Self::Text(path, _) | Self::Merged { path, .. } => {
                path
            }
        }
    }
}

impl Blob {
    /// Whether it is a file with content, and neither a link nor another repository.
    pub(crate) fn is_file(&self) -> bool {
        self.mode.starts_with("100")
    }

    pub(crate) fn is_executable(&self) -> bool {
        self.mode == "100755"
    }
}

impl Workspace {
    /// Keeps a commit, or the files as they are. Returns the commit in the store.
    pub(crate) fn keep_base(
        &mut self,
        supervisor: &mut Supervisor,
        base: &Candidate<'_>,
    ) -> Result<String, NotJudged> {
        let checked_out = self.begin(supervisor)?;
        let settings = self.settings(&self.folder.join("lfs-missing"))?;
        let (commit, _) = self.candidate(supervisor, base, &settings)?;
        let hold = self.store.call().args(["update-ref", &format!("{BASES}/{commit}"), &commit]);
        hold.must(supervisor, "cannot hold the commit")?;
        self.record.commit = checked_out;
        self.seal()?;
        self.record.write(&self.folder)?;
        Ok(commit)
    }

    /// Makes sure that what a run started from is in the store, which another process may have made anew, and that the
    /// store can be believed.
    pub(crate) fn find_base(&mut self, supervisor: &mut Supervisor, base: &str) -> io::Result<()> {
        if !self.is_store_whole(supervisor)? {
            return Err(io::Error::other("the judge's store was changed"));
        }
        let look = |it: &Self, supervisor: &mut Supervisor| {
            it.store.call().args(["cat-file", "-e", &format!("{base}^{{tree}}")]).run(supervisor)
        };
        if look(self, supervisor)?.is_ok() {
            return Ok(());
        }
        let fetched = self.store.fetch(supervisor, &self.source, Some(base))?;
        self.seal_store()?;
        match fetched.and(look(self, supervisor)?) {
            Ok(_) => Ok(()),
            Err(why) => Err(io::Error::other(format!("what the run started from is gone: {why}"))),
        }
    }

    /// The files that differ between two commits of the store.
    pub(crate) fn diff(
        &self,
        supervisor: &mut Supervisor,
        old: &str,
        new: &str,
    ) -> io::Result<Vec<FileDiff>> {
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new];
        let listed = self.store.call().args(args).must(supervisor, "cannot compare two commits")?;
        let mut fields = parts(&listed);
        let mut all = Vec::new();
        while let (Some(facts), Some(name)) = (fields.next(), fields.next()) {
            let facts = text(facts);
            let facts: Vec<&str> = facts.trim_start_matches(':').split(' ').collect();
            let [old_mode, new_mode, old_id, new_id, _] = facts[..] else { continue };
            let blob = |mode: &str, id: &str| {
                (mode != "000000").then(|| Blob { mode: mode.to_owned(), id: id.to_owned() })
            };
            let (old, new) = (blob(old_mode, old_id), blob(new_mode, new_id));
            all.push(FileDiff { path: path(name).to_owned(), old, new });
        }
        Ok(all)
    }

    /// The content of a file in the store.
    pub(crate) fn blob(&self, supervisor: &mut Supervisor, id: &str) -> io::Result<Vec<u8>> {
        let size = self.store.call().args(["cat-file", "-s", id]).must(supervisor, "cannot read a file")?;
        if MAX_BLOB_LEN < text(&size).parse().unwrap_or(u64::MAX) {
            return Err(io::Error::other("it is too long"));
        }
        self.store.call().args(["cat-file", "blob", id]).must(supervisor, "cannot read a file")
    }

    /// The entry of a file in a commit of the store, if it is there.
    pub(crate) fn entry(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
        file: &Path,
    ) -> io::Result<Option<Blob>> {
        let args = ["--literal-pathspecs", "ls-tree", "-z", commit, "--"];
        let listed = self.store.call().args(args).args([file]).must(supervisor, "cannot list a file")?;
        let Some(entry) = parts(&listed).next() else { return Ok(None) };
        let entry = text(entry);
        let facts: Vec<&str> = entry.split(['\t', ' ']).collect();
        let [mode, "blob", id, ..] = facts[..] else { return Ok(None) };
        Ok(Some(Blob { mode: mode.to_owned(), id: id.to_owned() }))
    }

    /// Makes a commit in the store: another one with some files changed. Returns its id.
    pub(crate) fn make_commit(
        &mut self,
        supervisor: &mut Supervisor,
        commit: &str,
        changes: &[MadeChange<'_>],
    ) -> io::Result<String> {
        let tree = self.make_tree(supervisor, commit, changes)?;
        let made = snapshot::commit(supervisor, &self.store, &tree, Some(commit))?;
        let hold = self.store.call().args(["update-ref", MADE, &made]);
        hold.must(supervisor, "cannot hold the commit")?;
        self.seal_store()?;
        Ok(made)
    }

    /// Makes a tree in the store: that of a commit, or another one, with some files changed. Returns its id.
    pub(super) fn make_tree(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
        changes: &[MadeChange<'_>],
    ) -> io::Result<String> {
        if changes.is_empty() {
            let tree = self.store.call().args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]);
            return Ok(text(&tree.must(supervisor, "cannot read the commit")?));
        }
        let index = self.store.dir().join("made.index");
        let call = || self.store.call().index(&index);
        call().args(["read-tree", commit]).must(supervisor, "cannot read the commit")?;
        let mut lines = Vec::new();
        for change in changes {
            let (mode, id) = match change {
                MadeChange::Removed(_) => ("0".to_owned(), "0".repeat(commit.len())),
                MadeChange::Entry(_, blob) => (blob.mode.clone(), blob.id.clone()),
                MadeChange::Text(_, contents) => {
                    ("100644".to_owned(), self.write_blob(supervisor, contents)?)
                }
                MadeChange::Merged { mode, text, .. } => {
                    ((*mode).to_owned(), self.write_blob(supervisor, text)?)
                }
            };
            lines.extend_from_slice(format!("{mode} {id}\t").as_bytes());
            lines.extend_from_slice(change.path().as_os_str().as_bytes());
            lines.push(0);
        }
        let update = call().args(["update-index", "-z", "--index-info"]).input(lines);
        update.must(supervisor, "cannot change the files")?;
        Ok(text(&call().args(["write-tree"]).must(supervisor, "cannot write the files")?))
    }

    fn write_blob(&self, supervisor: &mut Supervisor, contents: &str) -> io::Result<String> {
        let write = self.store.call().args(["hash-object", "-w", "--stdin"]);
        let id = write.input(contents.as_bytes().to_vec()).must(supervisor, "cannot write a file")?;
        Ok(text(&id))
    }

    /// Keeps a commit of the store as what the run starts from.
    pub(crate) fn hold_base(&mut self, supervisor: &mut Supervisor, commit: &str) -> io::Result<()> {
        let hold = self.store.call().args(["update-ref", &format!("{BASES}/{commit}"), commit]);
        hold.must(supervisor, "cannot hold the commit")?;
        self.seal_store()
    }

    /// The store was written by ralph itself, and can be believed as it is.
    pub(super) fn seal_store(&mut self) -> io::Result<()> {
        self.seal()?;
        self.record.write(&self.folder)
    }

    /// How files differ between two commits of the store, for people; cut where it is too long.
    pub(crate) fn diff_text(
        &self,
        supervisor: &mut Supervisor,
        (old, new): (&str, &str),
        files: &[&str],
    ) -> io::Result<Vec<u8>> {
        let args = [
            "--literal-pathspecs",
            "diff-tree",
            "-p",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            old,
            new,
            "--",
        ];
        let mut text = self.store.call().args(args).args(files).must(supervisor, "cannot compare files")?;
        text.truncate(MAX_DIFF_LEN);
        Ok(text)
    }
}

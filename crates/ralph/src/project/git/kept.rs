//! Keeps the files before a turn that must not change any, and puts them back afterwards: HEAD, index and working tree.
//!
//! What git ignores is not kept. The user's own changes are: everything is compared with what was there, not with a commit.

use std::{io, path::Path};

use ralph_core::engine::event::KeptFiles;
use ralph_sys::{
    calls::{refusal, succeeded},
    files::{self, Readers, Root},
    process::Supervisor,
};

use super::{Git, MAX_CHANGES_LEN, text};
use crate::journal::run_dir::record;

/// A larger index is not kept.
const MAX_INDEX_LEN: u64 = 256 * 1024 * 1024;

/// The copy of the index, in the folder of the turn.
const INDEX: &str = "kept.index";

/// An index that only ralph uses, there too.
const SCRATCH: &str = "scratch.index";

/// What was put back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RestoredFiles {
    /// What was not as it was: files, and `HEAD`.
    pub(crate) files: Vec<String>,
    /// Something of that was there before: it was changed or removed, and not only added to.
    pub(crate) meddled: bool,
    /// A tree that has the files as they were left.
    pub(crate) left: String,
}

impl Git {
    /// Keeps what there is. The folder is the turn's.
    pub(crate) fn keep(&self, supervisor: &mut Supervisor, folder: &Path) -> io::Result<KeptFiles> {
        if let Some(index) = self.index() {
            record(&folder.join(INDEX), &index)?;
        }
        let branch = self.asked(supervisor, &["symbolic-ref", "--quiet", "HEAD"]).ok();
        Ok(KeptFiles { tree: self.written(supervisor, folder)?, branch, head: self.head(supervisor)? })
    }

    /// Puts back what was kept.
    pub(crate) fn put_back(
        &self,
        supervisor: &mut Supervisor,
        folder: &Path,
        kept: &KeptFiles,
    ) -> io::Result<RestoredFiles> {
        let left = self.written(supervisor, folder)?;
        let mut undone = self.put_head_back(supervisor, kept)?;
        let mut meddled = !undone.is_empty();
        let listed = supervisor.capture(
            self.spec(&["diff-tree", "-r", "-z", "--no-renames", "--name-status", &kept.tree, &left]),
            MAX_CHANGES_LEN,
        )?;
        let listed = String::from_utf8_lossy(&listed.out).into_owned();
        let mut words = listed.split('\0');
        let (mut back, root) = (Vec::new(), Root::new(&self.top));
        while let (Some(status), Some(path)) = (words.next(), words.next()) {
            undone.push(path.to_owned());
            if status == "A" {
                root.remove(path)?;
            } else {
                meddled = true;
                back.extend_from_slice(path.as_bytes());
                back.push(0);
            }
        }
        if !back.is_empty() {
            let scratch = folder.join(SCRATCH);
            self.with(supervisor, &scratch, &["read-tree", "--reset", &kept.tree], Vec::new())?;
            self.with(supervisor, &scratch, &["checkout-index", "--force", "-z", "--stdin"], back)?;
        }
        let index = files::read(&folder.join(INDEX), MAX_INDEX_LEN).ok();
        if let (Some(index), Some(dir)) = (index, self.dir())
            && !undone.is_empty()
        {
            Root::new(&dir).replace("index", &index, Readers::AsBefore)?;
        }
        Ok(RestoredFiles { files: undone, meddled, left })
    }

    /// Has HEAD and the branch stand where they stood. Returns them if they did not.
    fn put_head_back(&self, supervisor: &mut Supervisor, kept: &KeptFiles) -> io::Result<Vec<String>> {
        let branch = self.asked(supervisor, &["symbolic-ref", "--quiet", "HEAD"]).ok();
        if branch == kept.branch && self.head(supervisor)? == kept.head {
            return Ok(Vec::new());
        }
        if let Some(branch) = &kept.branch {
            self.asked(supervisor, &["symbolic-ref", "HEAD", branch])?;
        }
        match (&kept.head, &kept.branch) {
            (Some(head), Some(_)) => self.asked(supervisor, &["update-ref", "HEAD", head])?,
            (Some(head), None) => self.asked(supervisor, &["update-ref", "--no-deref", "HEAD", head])?,
            (None, _) => self.asked(supervisor, &["update-ref", "-d", "HEAD"])?,
        };
        Ok(vec!["HEAD".to_owned()])
    }

    /// A tree of everything that git does not ignore.
    fn written(&self, supervisor: &mut Supervisor, folder: &Path) -> io::Result<String> {
        let scratch = folder.join(SCRATCH);
        // It begins with what the user's has: what did not change need not be read.
        record(&scratch, &self.index().unwrap_or_default())?;
        if scratch.metadata()?.len() == 0 {
            self.with(supervisor, &scratch, &["read-tree", "--empty"], Vec::new())?;
        }
        self.with(supervisor, &scratch, &["add", "--all", "--", "."], Vec::new())?;
        self.with(supervisor, &scratch, &["write-tree"], Vec::new())
    }

    fn index(&self) -> Option<Vec<u8>> {
        files::read(&self.dir()?.join("index"), MAX_INDEX_LEN).ok()
    }

    fn asked(&self, supervisor: &mut Supervisor, args: &[&str]) -> io::Result<String> {
        let captured = self.call(supervisor, args)?;
        if succeeded(&captured) { Ok(text(&captured.out)) } else { Err(io::Error::other(refusal(&captured))) }
    }

    fn with(
        &self,
        supervisor: &mut Supervisor,
        index: &Path,
        args: &[&str],
        input: Vec<u8>,
    ) -> io::Result<String> {
        let spec = self.spec(args).env("GIT_INDEX_FILE", index).input(input);
        let captured = supervisor.capture(spec, MAX_CHANGES_LEN)?;
        if succeeded(&captured) { Ok(text(&captured.out)) } else { Err(io::Error::other(refusal(&captured))) }
    }

    /// The commit that a word stands for.
    pub(crate) fn commit_of(&self, supervisor: &mut Supervisor, word: &str) -> io::Result<String> {
        self.asked(
            supervisor,
            &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{word}^{{commit}}")],
        )
    }

    /// The tree without any file.
    pub(crate) fn empty_tree(&self, supervisor: &mut Supervisor) -> io::Result<String> {
        let captured = supervisor.capture(self.spec(&["mktree"]).input(Vec::new()), MAX_CHANGES_LEN)?;
        if succeeded(&captured) { Ok(text(&captured.out)) } else { Err(io::Error::other(refusal(&captured))) }
    }

    /// The difference between two commits or trees as people read it.
    pub(crate) fn patch(
        &self,
        supervisor: &mut Supervisor,
        from: &str,
        to: &str,
        max: usize,
    ) -> io::Result<String> {
        let args = ["diff", "--no-ext-diff", "--no-textconv", "--no-color", from, to, "--"];
        let captured = supervisor.capture(self.spec(&args), max)?;
        Ok(String::from_utf8_lossy(&captured.out).into_owned())
    }
}

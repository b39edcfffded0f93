//! Merges a candidate onto a commit, in the store of a workspace: no one's files are touched.

use std::{ffi::OsStr, io, path::PathBuf};

use ralph_sys::{
    calls::{refusal, succeeded},
    process::Supervisor,
};

use super::{
    Candidate, MadeChange, NotJudged, Workspace,
    call::{parts, text},
};

/// The ref that holds what is about to land.
const LANDING: &str = "refs/ralph/landing";

/// What is merged.
pub(crate) struct Merge<'a> {
    /// What it is merged onto.
    pub(crate) tip: &'a str,
    /// What the work began with.
    pub(crate) base: &'a str,
    /// The work.
    pub(crate) head: &'a str,
    /// Files that are not merged: they stay as they are at the tip. Relative to the top.
    pub(crate) left_out: &'a [PathBuf],
}

/// What came of it: a tree of the store.
#[derive(Debug)]
pub(crate) enum Merged {
    Clean {
        tree: String,
    },
    /// With markers in the files.
    Conflict {
        tree: String,
        files: Vec<String>,
    },
}

/// Whose name is on a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) email: String,
}

impl Workspace {
    /// Gets a commit of the project into the store, and others that usually come with it or are there.
    pub(crate) fn fetch_all(
        &mut self,
        supervisor: &mut Supervisor,
        commit: &str,
        others: &[&str],
    ) -> Result<(), NotJudged> {
        self.keep_base(supervisor, &Candidate::Commit(commit))?;
        for other in others {
            // A fetch takes six processes, and brings all branches.
            if self.hold_base(supervisor, other).is_err() {
                self.keep_base(supervisor, &Candidate::Commit(other))?;
            }
        }
        Ok(())
    }

    /// Merges. The commits are in the store.
    pub(crate) fn merge(&mut self, supervisor: &mut Supervisor, merge: &Merge<'_>) -> io::Result<Merged> {
        let mut as_before = Vec::new();
        for path in merge.left_out {
            as_before.push((path, self.entry(supervisor, merge.base, path)?));
        }
        let changes: Vec<MadeChange<'_>> = as_before
            .iter()
            .map(|(path, blob)| match blob {
                Some(blob) => MadeChange::Entry(path, blob),
                None => MadeChange::Removed(path),
            })
            .collect();
        let work = self.make_commit(supervisor, merge.head, &changes)?;
        let call =
            self.store.call().args(["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages"]);
        let captured = call.args([merge.tip, &work]).capture(supervisor)?;
        let mut said = parts(&captured.out);
        let tree = said.next().map(text).unwrap_or_default();
        let code = captured.ended.status.and_then(|status| status.code());
        self.seal_store()?;
        match code {
            Some(0) => Ok(Merged::Clean { tree }),
            Some(1) if !tree.is_empty() => Ok(Merged::Conflict { tree, files: said.map(text).collect() }),
            _ => Err(io::Error::other(format!("cannot merge: {}", refusal(&captured)))),
        }
    }

    /// Makes a commit of a tree of the store, with some files changed.
    pub(crate) fn commit_tree(
        &mut self,
        supervisor: &mut Supervisor,
        (tree, parent): (&str, &str),
        changes: &[MadeChange<'_>],
        (author, message): (&Author, &str),
    ) -> io::Result<String> {
        let made = self.make_tree(supervisor, tree, changes)?;
        let mut call = self.store.call();
        for who in ["AUTHOR", "COMMITTER"] {
            call = call.variable(&format!("GIT_{who}_NAME"), OsStr::new(&author.name));
            call = call.variable(&format!("GIT_{who}_EMAIL"), OsStr::new(&author.email));
        }
        let call = call.args(["commit-tree", "-p", parent, "-F", "-", &made]);
        let commit = text(&call.input(message.as_bytes().to_vec()).must(supervisor, "cannot make a commit")?);
        self.store
            .call()
            .args(["update-ref", LANDING, &commit])
            .must(supervisor, "cannot hold the commit")?;
        self.seal_store()?;
        Ok(commit)
    }

    /// The folder of the store, to fetch from.
    pub(crate) fn store_dir(&self) -> PathBuf {
        self.store.dir().to_owned()
    }

    /// The text of a file in a commit of the store; nothing if there is no such file.
    pub(crate) fn text_at(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
        path: &std::path::Path,
    ) -> io::Result<Option<String>> {
        let Some(blob) = self.entry(supervisor, commit, path)? else { return Ok(None) };
        Ok(Some(String::from_utf8_lossy(&self.blob(supervisor, &blob.id)?).into_owned()))
    }

    /// Whether one commit of the store comes after another.
    pub(crate) fn is_ancestor(&self, supervisor: &mut Supervisor, old: &str, new: &str) -> io::Result<bool> {
        let captured =
            self.store.call().args(["merge-base", "--is-ancestor", old, new]).capture(supervisor)?;
        Ok(succeeded(&captured))
    }
}

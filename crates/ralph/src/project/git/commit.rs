//! Makes a commit of some files and nothing else.

use std::{collections::BTreeSet, ffi::OsStr, io, os::unix::ffi::OsStrExt, path::PathBuf};

use ralph_sys::{
    calls::{refusal, succeeded},
    hash::{GONE, fingerprint},
    process::{Spec, Supervisor},
};

use super::{Change, ChangeList, DIFF, Git, MAX_CHANGES_LEN, MAX_OUTPUT_LEN};

/// With more paths than these git takes long to compare each file with each path.
const MANY: usize = 200;
/// An index of this length has thousands of files: git takes long to make a second one.
const LARGE_INDEX_LEN: u64 = 256 * 1024;
/// What git runs while it makes a commit.
const HOOKS: [&str; 3] = ["pre-commit", "prepare-commit-msg", "commit-msg"];
/// What else git runs when the index or a branch changes.
const LATE_HOOKS: [&str; 3] = ["post-commit", "post-index-change", "reference-transaction"];

/// A commit that git has made.
#[derive(Debug)]
pub(crate) struct NewCommit {
    /// What the files are like if no one changed them meanwhile; nothing where a hook may have.
    pub(crate) left: Option<ChangeList>,
}

/// What else runs when a commit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hooked {
    /// Nothing.
    No,
    /// Something, but not while others could stage a file that would be committed.
    Late,
    /// Something may, for as long as it likes, before the commit is made.
    Yes,
}

impl Git {
    /// Commits these files as they are now and nothing else; returns what git printed if it refuses. `listing` is what all
    /// files are like, where that was looked at just now. `contain` makes each call one that runs where the agent runs.
    pub(crate) fn commit(
        &self,
        supervisor: &mut Supervisor,
        changes: &[Change],
        listing: Option<&ChangeList>,
        message: &str,
        contain: &mut dyn FnMut(Spec) -> io::Result<Spec>,
    ) -> io::Result<Result<NewCommit, String>> {
        // What others have staged stays staged, except in a merge, which git commits only whole.
        let merging = self
            .call(supervisor, &["rev-parse", "--verify", "--quiet", "MERGE_HEAD"])
            .is_ok_and(|it| succeeded(&it));
        let hooked = self.hooked(supervisor, changes)?;
        let is_whole = merging || self.may_commit_index(supervisor, changes, listing, hooked)?;
        let is_many = !merging && is_whole && MANY < changes.len();
        let stage = if is_many && !changes.iter().any(is_repository) {
            vec![self.stage_at_once(changes)]
        } else {
            self.stage(changes, is_whole)
        };
        if let Err(refusal) = in_turn(supervisor, stage, contain)? {
            return Ok(Err(refusal));
        }
        let message = format!("--message={message}");
        let commit = ["commit", "--quiet", &message];
        // Looked at again: others may have staged something meanwhile.
        let is_alone = is_whole && !merging && self.is_alone(supervisor, changes)?;
        let commit = if merging || is_alone {
            self.committing(&commit)
        } else {
            self.spec_of(&[&commit[..], &["--only"]].concat(), &changes.iter().collect::<Vec<_>>())
        };
        let left = listing.filter(|_| is_alone && hooked == Hooked::No);
        let made = in_turn(supervisor, vec![commit], contain)?;
        Ok(made.map(|()| NewCommit { left: left.and_then(|listing| self.without(listing, changes)) }))
    }

    /// Whether the index itself can be committed, which is quick: `--only` has git make a second one and look at every file twice.
    fn may_commit_index(
        &self,
        supervisor: &mut Supervisor,
        changes: &[Change],
        listing: Option<&ChangeList>,
        hooked: Hooked,
    ) -> io::Result<bool> {
        // What is left for a large repository with hooks is slow, and right.
        let is_needed = self.needs_index(changes);
        if !is_needed && !self.is_large() {
            return Ok(false);
        }
        // Git would conclude what is begun, in the name of the other author.
        if self.unfinished().is_some() {
            return Ok(false);
        }
        // While a hook runs, the index is not locked, and others can stage something.
        if !is_needed && hooked == Hooked::Yes {
            return Ok(false);
        }
        let is_staged_alone = |listing: &ChangeList| Ok(is_all(&listing.staged, changes));
        listing.map_or_else(|| self.is_alone(supervisor, changes), is_staged_alone)
    }

    /// Whether `--only` takes far too long, or cannot do it.
    fn needs_index(&self, changes: &[Change]) -> bool {
        MANY < changes.len() || changes.iter().any(|change| self.is_new_folder(change))
    }

    /// Whether this was a file and is a folder, which `--only` takes for a repository.
    fn is_new_folder(&self, change: &Change) -> bool {
        let path = self.top.join(&change.path);
        let is_folder = path.symlink_metadata().is_ok_and(|it| it.is_dir());
        is_folder && !is_repository(change) && !path.join(".git").exists()
    }

    /// Whether the index is long.
    fn is_large(&self) -> bool {
        let index = self.dir().map(|dir| dir.join("index"));
        index.and_then(|index| index.metadata().ok()).is_some_and(|it| LARGE_INDEX_LEN <= it.len())
    }

    /// What else runs when a commit is made, by a file or by the configuration. Small repositories are not asked: each
    /// look at them is quick.
    fn hooked(&self, supervisor: &mut Supervisor, changes: &[Change]) -> io::Result<Hooked> {
        if !self.is_large() || self.needs_index(changes) {
            return Ok(Hooked::Yes);
        }
        // Not `spec`, which has no hooks.
        let folder = supervisor.capture(
            self.committing(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"]),
            MAX_OUTPUT_LEN,
        )?;
        let configured = self.call(supervisor, &["config", "--get-regexp", r"^hook\..*\.command$"])?;
        let folder = PathBuf::from(OsStr::from_bytes(folder.out.trim_ascii_end()));
        let has = |names: [&str; 3]| names.iter().any(|name| folder.join(name).exists());
        Ok(match (!configured.out.is_empty() || has(HOOKS), has(LATE_HOOKS)) {
            (true, _) => Hooked::Yes,
            (false, true) => Hooked::Late,
            (false, false) => Hooked::No,
        })
    }

    /// What is left of the changes when these are committed; nothing where a commit does not settle a path, as with
    /// repositories in folders.
    fn without(&self, listing: &ChangeList, committed: &[Change]) -> Option<ChangeList> {
        if committed.iter().any(|change| self.top.join(&change.path).is_dir()) {
            return None;
        }
        let own: BTreeSet<&PathBuf> = committed.iter().map(|change| &change.path).collect();
        let changes = listing.changes.iter().filter(|change| !own.contains(&change.path)).cloned().collect();
        // Nothing else was staged.
        Some(ChangeList { changes, staged: Vec::new() })
    }

    /// Puts the files into the index.
    fn stage(&self, changes: &[Change], is_whole: bool) -> Vec<Spec> {
        let is_gone = |change: &&Change| {
            change.fingerprint == GONE && fingerprint(&self.top.join(&change.path)) == GONE
        };
        let (gone, there): (Vec<_>, Vec<_>) = changes.iter().partition(is_gone);
        let mut calls = Vec::new();
        // `add -A` takes everything when it is given nothing.
        if !there.is_empty() {
            calls.push(self.spec_of(&["add", "-A"], &there));
        }
        // `add` refuses what the agent has removed from the index too; `commit --only` does not need it.
        if is_whole && !gone.is_empty() {
            let remove = self.committing(&["update-index", "--force-remove", "-z", "--stdin"]);
            calls.push(remove.input(listed(gone.into_iter())));
        }
        calls
    }

    /// The same for very many: for each of many paths `add` would look at all of them.
    fn stage_at_once(&self, changes: &[Change]) -> Spec {
        let stage = self.committing(&["update-index", "--add", "--remove", "-z", "--stdin"]);
        stage.input(listed(changes.iter()))
    }

    /// Whether nothing else is staged.
    fn is_alone(&self, supervisor: &mut Supervisor, changes: &[Change]) -> io::Result<bool> {
        let staged = [&DIFF[..], &["--cached", "--name-only"]].concat();
        let captured = supervisor.capture(self.spec(&staged), MAX_CHANGES_LEN)?;
        let names = captured.out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let staged: Vec<PathBuf> = names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
        Ok(succeeded(&captured) && is_all(&staged, changes))
    }

    /// A call for the paths of these changes, which go by standard input: there may be very many.
    fn spec_of(&self, args: &[&str], changes: &[&Change]) -> Spec {
        let by_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        self.committing(&[args, &by_input].concat()).input(listed(changes.iter().copied()))
    }
}

/// Whether all that is staged is among these changes.
fn is_all(staged: &[PathBuf], changes: &[Change]) -> bool {
    let own: BTreeSet<&PathBuf> = changes.iter().map(|change| &change.path).collect();
    staged.iter().all(|path| own.contains(path))
}

/// Whether this is a whole repository, which only `add` takes.
fn is_repository(change: &Change) -> bool {
    change.path.as_os_str().as_bytes().ends_with(b"/")
}

/// The paths of these changes as git reads them.
fn listed<'a>(changes: impl Iterator<Item = &'a Change>) -> Vec<u8> {
    changes.flat_map(|change| [change.path.as_os_str().as_bytes(), b"\0"].concat()).collect()
}

/// Makes the calls one after another; returns what the first one printed that is refused.
fn in_turn(
    supervisor: &mut Supervisor,
    calls: Vec<Spec>,
    contain: &mut dyn FnMut(Spec) -> io::Result<Spec>,
) -> io::Result<Result<(), String>> {
    for call in calls {
        let captured = supervisor.capture(contain(call)?, MAX_OUTPUT_LEN)?;
        if !succeeded(&captured) {
            return Ok(Err(refusal(&captured)));
        }
    }
    Ok(Ok(()))
}

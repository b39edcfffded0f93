//! What receipts and their verifiers ask of a repository. Replaced objects are not believed.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use ralph_checks::protected::Protected;
use ralph_core::receipt::{
    NOTES_REF, hex,
    statement::{ProtectedFacts, Revision},
    verdict::BaseSeen,
};
use ralph_sys::{
    calls::{looking_git, refusal, succeeded},
    error::{Error, Result},
    process::{Captured, Spec, Supervisor},
};
use sha2::{Digest, Sha256};

use crate::project::git::Change;

/// Enough for a list of a million files.
const MAX_LIST_LEN: usize = 256 * 1024 * 1024;
/// A settings file that is longer is none.
const MAX_FILE_LEN: usize = 4 * 1024 * 1024;

/// The same call, to which every object is what it is.
pub(super) fn no_replacing(spec: Spec) -> Spec {
    spec.env("GIT_NO_REPLACE_OBJECTS", "1").env("GIT_NO_LAZY_FETCH", "1")
}

/// The commits of a repository.
pub(super) struct Commits {
    top: PathBuf,
}

impl Commits {
    pub(super) fn of(top: &Path) -> Self {
        Self { top: top.to_owned() }
    }

    /// Those of the repository that a folder is in, found without asking git.
    pub(super) fn around(folder: &Path) -> Option<Self> {
        folder.ancestors().find(|above| above.join(".git").exists()).map(Self::of)
    }

    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// A call of git that only looks.
    pub(super) fn call(&self, words: &[&str]) -> Spec {
        no_replacing(looking_git(&self.top, words.iter().map(OsString::from).collect()))
    }

    fn ask(&self, supervisor: &mut Supervisor, words: &[&str]) -> io::Result<Captured> {
        supervisor.capture(self.call(words), MAX_LIST_LEN)
    }

    /// A commit with its tree; nothing if there is no such commit.
    pub(super) fn revision(&self, supervisor: &mut Supervisor, name: &str) -> io::Result<Option<Revision>> {
        let words = ["log", "-1", "--no-walk", "--format=%H %T", "--end-of-options", name, "--"];
        let captured = self.ask(supervisor, &words)?;
        let said = String::from_utf8_lossy(&captured.out).trim().to_owned();
        let pair = said.split_once(' ').filter(|_| succeeded(&captured));
        Ok(pair.map(|(commit, tree)| Revision { commit: commit.to_owned(), tree: tree.to_owned() }))
    }

    /// Refuses a name that two refs have: anyone who can push a tag could choose what a verifier looks at.
    pub(super) fn refuse_ambiguous(&self, supervisor: &mut Supervisor, name: &str) -> Result<()> {
        if name == "HEAD" || name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(());
        }
        // What follows a name, as in `main~2`, is no part of it.
        let plain = name.split(['~', '^', '@', ':']).next().unwrap_or(name);
        let full = ["", "tags/", "heads/", "remotes/"].map(|kind| format!("refs/{kind}{plain}"));
        let mut words = vec!["for-each-ref", "--format=%(refname)"];
        words.extend(full.iter().map(String::as_str));
        let captured = self.ask(supervisor, &words)?;
        let listed = String::from_utf8_lossy(&captured.out).into_owned();
        let found: Vec<&str> = listed.lines().filter(|line| full.iter().any(|it| it == line)).collect();
        if found.len() < 2 {
            return Ok(());
        }
        Err(Error::new(format!("`{plain}` is the name of {}", found.join(" and of ")))
            .hint(format!("name the one that you mean in full: {}", found[found.len() - 1])))
    }

    /// A commit with its tree and its receipt, if it has one: one call, because a verifier waits for it.
    pub(super) fn noted_revision(
        &self,
        supervisor: &mut Supervisor,
        name: &str,
    ) -> io::Result<Option<(Revision, Option<Vec<u8>>)>> {
        let notes = format!("--notes={NOTES_REF}");
        let words = [
            "log",
            "-1",
            "--no-walk",
            "--no-notes",
            &notes,
            "--format=%H %T%n%N",
            "--end-of-options",
            name,
            "--",
        ];
        let captured = self.ask(supervisor, &words)?;
        let mut parts = captured.out.splitn(2, |byte| *byte == b'\n');
        let first = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
        let Some((commit, tree)) = first.split_once(' ').filter(|_| succeeded(&captured)) else {
            return Ok(None);
        };
        let note = parts.next().map(<[u8]>::trim_ascii).filter(|note| !note.is_empty()).map(<[u8]>::to_vec);
        Ok(Some((Revision { commit: commit.to_owned(), tree: tree.to_owned() }, note)))
    }

    /// How a commit and the base of a receipt belong together.
    pub(super) fn base_seen(
        &self,
        supervisor: &mut Supervisor,
        base: &Revision,
        commit: &str,
    ) -> io::Result<BaseSeen> {
        if self.is_in_history(supervisor, &base.commit, commit)? {
            return Ok(BaseSeen::Ancestor);
        }
        let captured = self.ask(supervisor, &["log", "--format=%T", "--end-of-options", commit, "--"])?;
        // What the base had is in the history only if it is there before the commit itself.
        let listed = String::from_utf8_lossy(&captured.out).into_owned();
        if listed.lines().skip(1).any(|tree| tree == base.tree) {
            return Ok(BaseSeen::SameTree);
        }
        let shallow = self.ask(supervisor, &["rev-parse", "--is-shallow-repository"])?;
        let is_shallow = shallow.out.starts_with(b"true");
        Ok(if is_shallow { BaseSeen::Shallow } else { BaseSeen::Elsewhere })
    }

    /// Whether one commit is in the history of the other.
    pub(super) fn is_in_history(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
        of: &str,
    ) -> io::Result<bool> {
        Ok(succeeded(&self.ask(supervisor, &["merge-base", "--is-ancestor", commit, of])?))
    }

    /// A file of a commit; nothing if the commit has none there.
    pub(super) fn file(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
        path: &str,
    ) -> io::Result<Option<Vec<u8>>> {
        let place = format!("{commit}:{path}");
        let spec = self.call(&["cat-file", "blob", &place]);
        let captured = supervisor.capture(spec, MAX_FILE_LEN)?;
        Ok(succeeded(&captured).then_some(captured.out))
    }

    /// The checks of two trees.
    pub(super) fn protected(
        &self,
        supervisor: &mut Supervisor,
        base: &str,
        result: &str,
    ) -> io::Result<ProtectedFacts> {
        let table = Protected::usual();
        let (files, before) = self.root(supervisor, base, &table)?;
        let (_, after) =
            if base == result { (files, before.clone()) } else { self.root(supervisor, result, &table)? };
        Ok(ProtectedFacts { files, base: before, result: after })
    }

    /// How many files of a tree are checks, and the SHA-256 of their list.
    fn root(&self, supervisor: &mut Supervisor, tree: &str, table: &Protected) -> io::Result<(u64, String)> {
        let captured = self.ask(supervisor, &["ls-tree", "-r", "-z", "--full-tree", tree])?;
        if !succeeded(&captured) {
            return Err(io::Error::other(refusal(&captured)));
        }
        let (mut files, mut hash) = (0, Sha256::new());
        for line in captured.out.split(|byte| *byte == 0) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else { continue };
            if table.role(&String::from_utf8_lossy(&line[tab + 1..])).is_some() {
                files += 1;
                hash.update(line);
                hash.update(b"\0");
            }
        }
        Ok((files, hex(&hash.finalize())))
    }

    /// The tree of HEAD with these files as they are. Its objects are put in a folder of ralph's, and go with it.
    pub(super) fn snapshot(
        &self,
        supervisor: &mut Supervisor,
        changed: &[Change],
        folder: &Path,
    ) -> io::Result<String> {
        let place = tempfile::Builder::new().prefix("snapshot-").tempdir_in(folder)?;
        let objects =
            self.ask(supervisor, &["rev-parse", "--path-format=absolute", "--git-path", "objects"])?;
        let objects = OsStr::from_bytes(objects.out.trim_ascii_end()).to_owned();
        let call = |words: &[&str]| {
            self.call(words)
                .env("GIT_INDEX_FILE", place.path().join("index"))
                .env("GIT_OBJECT_DIRECTORY", place.path())
                .env("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects.clone())
        };
        let mut must = |spec: Spec| -> io::Result<String> {
            let captured = supervisor.capture(spec, MAX_LIST_LEN)?;
            if !succeeded(&captured) {
                return Err(io::Error::other(refusal(&captured)));
            }
            Ok(String::from_utf8_lossy(&captured.out).trim().to_owned())
        };
        // Before the first commit there is nothing to begin with.
        let _ = must(call(&["read-tree", "HEAD"]));
        let names = changed.iter().flat_map(|it| [it.path.as_os_str().as_bytes(), b"\0"].concat());
        let names: Vec<u8> = names.collect();
        must(call(&["update-index", "--add", "--remove", "-z", "--stdin"]).input(names))?;
        must(call(&["write-tree"]))
    }
}

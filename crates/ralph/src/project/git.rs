//! Calls git. Argument vectors only: a message that a model wrote must not be able to run anything.

mod commit;
mod exclude;
mod kept;
mod listed;
pub(crate) mod locks;
mod quick;
mod unfinished;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use ralph_sys::{
    calls::{git, looking_git, refusal, succeeded},
    paths::is_repository,
    process::{Captured, Spec, Supervisor},
};

use listed::since_commit;

pub(crate) use commit::NewCommit;
pub(crate) use exclude::{OWN_FILES, exclude_own_files};
pub(crate) use kept::RestoredFiles;
pub(crate) use listed::{ChangeList, TreeLook};
pub(crate) use unfinished::Unfinished;

/// Everything git prints that ralph looks at fits in here, except the list of changes.
const MAX_OUTPUT_LEN: usize = 64 * 1024;
/// Lists everything that is not as HEAD has it.
const STATUS: [&str; 6] =
    ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
/// Compares by content alone; no program of the repository takes part.
const DIFF: [&str; 5] = ["diff", "--no-renames", "--no-ext-diff", "--no-textconv", "-z"];
/// Enough for a list of a million changed files.
const MAX_CHANGES_LEN: usize = 256 * 1024 * 1024;

/// What a commit needs is on the disk before git says that it is made. In one go: a commit may have thousands of files.
const DURABLE: [&str; 2] = ["core.fsync=committed,reference", "core.fsyncMethod=batch"];

/// Stands for the branch where a commit is checked out and no branch.
pub(crate) const NO_BRANCH: &str = "no branch";

/// A repository with a working tree.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    top: PathBuf,
}

/// A file that is not as HEAD has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Relative to the top of the tree.
    pub(crate) path: PathBuf,
    /// What is there now, to compare with later.
    pub(crate) fingerprint: String,
}

/// A file that differs between a commit and another, or the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileChange {
    pub(crate) path: String,
    /// Lines; nothing for a file that is no text.
    pub(crate) added: Option<u64>,
    pub(crate) removed: Option<u64>,
}

/// The commit that is checked out.
#[derive(Debug)]
pub(crate) struct LastCommit {
    pub(crate) id: String,
    /// As people write it.
    pub(crate) short_id: String,
    /// The whole of it.
    pub(crate) message: String,
}

impl Change {
    /// The path as text: different for different paths, also for those that are no text.
    pub(crate) fn key(&self) -> String {
        match self.path.to_str() {
            Some(path) => path.to_owned(),
            // No path has a NUL, so no path that is text looks like this.
            None => format!("\0{}", self.path.as_os_str().as_bytes().escape_ascii()),
        }
    }
}

impl Git {
    /// The repository that `dir` is in, if it is in one. That git does not take what is there for one is an error in
    /// git's own words.
    pub(crate) fn find(supervisor: &mut Supervisor, dir: &Path) -> io::Result<Option<Self>> {
        let args = ["rev-parse", "--show-toplevel"].map(OsString::from).to_vec();
        let captured = supervisor.capture(looking_git(dir, args), MAX_OUTPUT_LEN)?;
        match captured.out.strip_suffix(b"\n").filter(|_| succeeded(&captured)) {
            Some(top) => Ok(Some(Self { top: PathBuf::from(OsStr::from_bytes(top)) })),
            None if dir.ancestors().any(is_repository) => Err(io::Error::other(refusal(&captured))),
            None => Ok(None),
        }
    }

    /// What git says about itself; an error means that there is none.
    pub(crate) fn version(supervisor: &mut Supervisor, dir: &Path) -> io::Result<String> {
        let captured = supervisor.capture(looking_git(dir, vec!["--version".into()]), MAX_OUTPUT_LEN)?;
        Ok(text(&captured.out))
    }

    /// The top of the working tree.
    pub(crate) fn top(&self) -> &Path {
        &self.top
    }

    /// Why a commit could not be made at all: git knows no one to name as its author.
    pub(crate) fn missing_identity(&self, supervisor: &mut Supervisor) -> io::Result<bool> {
        Ok(!succeeded(&self.call(supervisor, &["var", "GIT_COMMITTER_IDENT"])?))
    }

    /// Whether git has a command of this name, its own or an alias.
    pub(crate) fn knows(&self, supervisor: &mut Supervisor, verb: &str) -> io::Result<bool> {
        // The two that everybody uses need no asking.
        if matches!(verb, "commit" | "push") {
            return Ok(true);
        }
        let captured = self.call(supervisor, &["--list-cmds=main,others,alias"])?;
        Ok(!succeeded(&captured) || text(&captured.out).lines().any(|known| known == verb))
    }

    /// The commit that is checked out; nothing before the first.
    pub(crate) fn head(&self, supervisor: &mut Supervisor) -> io::Result<Option<String>> {
        let captured = self.call(supervisor, &["rev-parse", "--verify", "--quiet", "HEAD"])?;
        Ok(succeeded(&captured).then(|| text(&captured.out)))
    }

    /// The repository whose working tree has this top.
    pub(crate) fn at(top: &Path) -> Self {
        Self { top: top.to_owned() }
    }

    /// Where git keeps what belongs to this working tree, found without asking git.
    fn dir(&self) -> Option<PathBuf> {
        let place = self.top.join(".git");
        match ralph_sys::files::read_text(&place) {
            Ok(text) => Some(self.top.join(text.strip_prefix("gitdir:")?.trim())),
            Err(_) => Some(place),
        }
    }

    /// The branch that is checked out, read without asking git: it is looked at after every turn. Nothing where that cannot
    /// be read so.
    pub(crate) fn checked_out(&self) -> Option<String> {
        let head = ralph_sys::files::read_text(&self.dir()?.join("HEAD")).ok()?;
        match head.trim().strip_prefix("ref: refs/heads/") {
            // The placeholder of a repository that keeps its refs elsewhere.
            Some(".invalid") => None,
            Some(branch) => Some(branch.to_owned()),
            None => Some(NO_BRANCH.to_owned()),
        }
    }

    /// The branch that is checked out, if one is.
    pub(crate) fn branch(&self, supervisor: &mut Supervisor) -> io::Result<Option<String>> {
        let captured = self.call(supervisor, &["symbolic-ref", "--quiet", "--short", "HEAD"])?;
        Ok(succeeded(&captured).then(|| text(&captured.out)))
    }

    /// The commit of HEAD.
    pub(crate) fn last_commit(&self, supervisor: &mut Supervisor) -> io::Result<LastCommit> {
        let captured = self.call(supervisor, &["log", "-1", "--format=%H%x00%h%x00%B"])?;
        let out = text(&captured.out);
        let mut parts = out.splitn(3, '\0').map(|part| part.trim().to_owned());
        let mut next = || parts.next().unwrap_or_default();
        Ok(LastCommit { id: next(), short_id: next(), message: next() })
    }

    /// Whether one commit is in the history of the other.
    pub(crate) fn is_in_history(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
        of: &str,
    ) -> io::Result<bool> {
        Ok(succeeded(&self.call(supervisor, &["merge-base", "--is-ancestor", commit, of])?))
    }

    /// The last commit that two have in common, if git knows one.
    pub(crate) fn merge_base(
        &self,
        supervisor: &mut Supervisor,
        one: &str,
        other: &str,
    ) -> io::Result<Option<String>> {
        let captured = self.call(supervisor, &["merge-base", one, other])?;
        Ok(succeeded(&captured).then(|| text(&captured.out)))
    }

    /// The commits between two, oldest first: abbreviated id and subject.
    pub(crate) fn between(
        &self,
        supervisor: &mut Supervisor,
        from: &str,
        to: &str,
    ) -> io::Result<Vec<(String, String)>> {
        let range = format!("{from}..{to}");
        let args = ["log", "--reverse", "--format=%h%x09%s", &range, "--"];
        let captured = supervisor.capture(self.spec(&args), MAX_CHANGES_LEN)?;
        let out = String::from_utf8_lossy(&captured.out).into_owned();
        let lines = out.lines().filter_map(|line| line.split_once('\t'));
        Ok(lines.map(|(id, subject)| (id.to_owned(), subject.to_owned())).collect())
    }

    /// The lines that were added and removed in each file between a commit and another, or the tree; none for what is no
    /// text. Files that git does not know are not among them.
    pub(crate) fn compared(
        &self,
        supervisor: &mut Supervisor,
        from: &str,
        to: Option<&str>,
    ) -> io::Result<Vec<FileChange>> {
        let mut args = [DIFF.as_slice(), &["--numstat", from]].concat();
        args.extend(to);
        args.push("--");
        let captured = supervisor.capture(self.spec(&args), MAX_CHANGES_LEN)?;
        let out = String::from_utf8_lossy(&captured.out).into_owned();
        let lines = out.split('\0').filter(|_| succeeded(&captured)).filter_map(|line| {
            let mut fields = line.splitn(3, '\t');
            let (added, removed, path) = (fields.next()?, fields.next()?, fields.next()?);
            Some(FileChange {
                path: path.to_owned(),
                added: added.parse().ok(),
                removed: removed.parse().ok(),
            })
        });
        Ok(lines.collect())
    }

    /// The files that are not as this commit had them, in HEAD or in the tree; new ones that git does not know are
    /// not among them.
    pub(crate) fn changed_since(
        &self,
        supervisor: &mut Supervisor,
        commit: &str,
    ) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for args in since_commit(commit) {
            let captured = supervisor.capture(self.spec(&args), MAX_CHANGES_LEN)?;
            if !succeeded(&captured) {
                return Err(io::Error::other(format!("git diff failed: {}", text(&captured.err))));
            }
            paths.extend(self.paths_in(&captured.out));
        }
        Ok(paths)
    }

    /// The files that commits since this one have changed; without one, all that HEAD has. Ralph's own are not among
    /// them.
    pub(crate) fn committed_since(
        &self,
        supervisor: &mut Supervisor,
        commit: Option<&str>,
    ) -> io::Result<Vec<PathBuf>> {
        let args = match commit {
            Some(commit) => [DIFF.as_slice(), &["--name-only", commit, "HEAD", "--"]].concat(),
            None => vec!["ls-tree", "-r", "--name-only", "--full-tree", "-z", "HEAD"],
        };
        let captured = supervisor.capture(self.spec(&args), MAX_CHANGES_LEN)?;
        if !succeeded(&captured) {
            return Err(io::Error::other(format!("git {} failed: {}", args[0], text(&captured.err))));
        }
        Ok(self.paths_in(&captured.out))
    }

    /// What a file of HEAD has when it is checked out; nothing if it has none of that name.
    pub(crate) fn committed(&self, supervisor: &mut Supervisor, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut object = OsString::from("HEAD:");
        object.push(path);
        let words = ["cat-file".into(), "--filters".into(), object];
        let captured =
            supervisor.capture(self.here(looking_git(&self.top, words.to_vec())), MAX_CHANGES_LEN)?;
        Ok(succeeded(&captured).then_some(captured.out))
    }

    fn call(&self, supervisor: &mut Supervisor, args: &[&str]) -> io::Result<Captured> {
        supervisor.capture(self.spec(args), MAX_OUTPUT_LEN)
    }

    fn spec(&self, args: &[&str]) -> Spec {
        self.here(looking_git(&self.top, args.iter().map(OsString::from).collect()))
    }

    /// A part of a commit, which is the user's: with the user's hooks, filters and signature.
    fn committing(&self, args: &[&str]) -> Spec {
        let durable = DURABLE.iter().flat_map(|setting| ["-c", setting]);
        self.here(git(&self.top, durable.chain(args.iter().copied()).map(OsString::from).collect()))
    }

    /// When the repository goes away, the one around it is not meant.
    fn here(&self, spec: Spec) -> Spec {
        match self.top.parent() {
            Some(around) => spec.env("GIT_CEILING_DIRECTORIES", around),
            None => spec,
        }
    }
}

/// Variables that lead git to another repository than the project's.
const ELSEWHERE: [&str; 5] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"];

/// Those of them that are set.
pub(crate) fn led_elsewhere() -> Vec<&'static str> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    ELSEWHERE.into_iter().filter(is_set).collect()
}

/// Whether this is how git is called.
pub(crate) fn is_git(command: &str) -> bool {
    Path::new(command).file_stem().is_some_and(|name| name == "git")
}

/// What of `changes` was done since `before` was recorded.
pub(crate) fn since(before: &BTreeMap<String, String>, changes: Vec<Change>) -> Vec<Change> {
    changes.into_iter().filter(|change| before.get(&change.key()) != Some(&change.fingerprint)).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

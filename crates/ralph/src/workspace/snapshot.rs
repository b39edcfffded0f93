//! A commit of the working tree as it is, made in the workspace: where no one commits, that is what is judged.
//!
//! The project's index is not asked, as an agent can make it say that nothing changed. The workspace has one of its own
//! for the working tree, which also remembers what was read before.

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io,
    path::PathBuf,
};

use ralph_sys::{
    files::{self, MAX_TEXT_LEN},
    process::Supervisor,
};

use super::{
    call::{Config, GitCall, parts, text},
    checkout::escaped,
    source::{Source, Sparse},
    store::ObjectStore,
};
use crate::project::git::OWN_FILES;

/// Repositories without a commit, inside of the project.
const MAX_EMPTY_REPOSITORIES: usize = 100;

/// Who makes the commit, and when: the same files are always the same commit.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "ralph"),
    ("GIT_AUTHOR_EMAIL", "ralph@localhost"),
    ("GIT_AUTHOR_DATE", "2000-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "ralph"),
    ("GIT_COMMITTER_EMAIL", "ralph@localhost"),
    ("GIT_COMMITTER_DATE", "2000-01-01T00:00:00Z"),
];

/// Commits the working tree, tracked and untracked files, those that are ignored not. `base` is in the store.
pub(super) fn take(
    supervisor: &mut Supervisor,
    store: &ObjectStore,
    source: &Source,
    base: Option<&str>,
    settings: &[String],
) -> io::Result<String> {
    write_excludes(supervisor, store, source)?;
    let index = store.dir().join("snapshot.index");
    let call = || {
        let call = store.call_in(&source.top).index(&index);
        let call = match source.sparse() {
            Some(sparse) => call
                .setting("core.sparseCheckout=true")
                .setting(format!("core.sparseCheckoutCone={}", sparse.cone)),
            None => call,
        };
        settings.iter().fold(call, GitCall::setting)
    };
    if let Some(sparse) = source.sparse() {
        fs_err::write(store.dir().join("info/sparse-checkout"), sparse.patterns)?;
    }
    match base {
        Some(base) => {
            call().args(["read-tree", "--reset", base]).must(supervisor, "cannot read the commit")?
        }
        None if index.exists() => Vec::new(),
        None => call().args(["read-tree", "--empty"]).must(supervisor, "cannot begin")?,
    };
    if let Some(sparse) = source.sparse() {
        spare_unwanted(supervisor, store, &sparse, &call)?;
    }
    add_all(supervisor, store, &call)?;
    let tree = text(&call().args(["write-tree"]).must(supervisor, "cannot write the files")?);
    commit(supervisor, store, &tree, base)
}

/// Commits a tree of the store.
pub(super) fn commit(
    supervisor: &mut Supervisor,
    store: &ObjectStore,
    tree: &str,
    parent: Option<&str>,
) -> io::Result<String> {
    let mut commit = store.call();
    for (name, value) in IDENTITY {
        commit = commit.variable(name, OsStr::new(value));
    }
    let parent = parent.into_iter().flat_map(|parent| ["-p", parent]);
    let commit = commit.args(["commit-tree", "-m", "The working tree", tree]).args(parent);
    Ok(text(&commit.must(supervisor, "cannot make a commit")?))
}

/// What a sparse checkout leaves out was not removed.
fn spare_unwanted(
    supervisor: &mut Supervisor,
    store: &ObjectStore,
    sparse: &Sparse,
    call: &dyn Fn() -> GitCall,
) -> io::Result<()> {
    let absent = call().args(["ls-files", "-z", "--deleted"]).must(supervisor, "cannot list the files")?;
    let mut rules = OsString::from("--rules-file=");
    rules.push(store.dir().join("info/sparse-checkout"));
    let cone = if sparse.cone { "--cone" } else { "--no-cone" };
    let check = call().args(["sparse-checkout", "check-rules", "-z", cone]).args([rules]);
    // A git that cannot tell is told to leave all of them as they are.
    let wanted = check.input(absent.clone()).run(supervisor)?.unwrap_or_default();
    let wanted: BTreeSet<&[u8]> = parts(&wanted).collect();
    let unwanted: Vec<u8> = parts(&absent)
        .filter(|name| !wanted.contains(name))
        .flat_map(|name| [name, b"\0"].concat())
        .collect();
    let mark = call().args(["update-index", "--skip-worktree", "-z", "--stdin"]).input(unwanted);
    mark.must(supervisor, "cannot leave files out").map(drop)
}

/// Adds everything to the index. Another repository inside of the project that has no commit yet cannot be added: what is
/// in it is in no one's commit.
fn add_all(supervisor: &mut Supervisor, store: &ObjectStore, call: &dyn Fn() -> GitCall) -> io::Result<()> {
    const EMPTY: &str = "' does not have a commit checked out";
    for _ in 0..MAX_EMPTY_REPOSITORIES {
        // Told about a repository inside of the project, git says how to add a submodule. What lies outside of a sparse
        // checkout and is there nevertheless is part of the files.
        let add =
            call().setting("advice.addEmbeddedRepo=false").args(["add", "--all", "--sparse", "--", "."]);
        let Err(why) = add.run(supervisor)? else { return Ok(()) };
        let Some(name) = why.lines().find_map(|line| line.strip_suffix(EMPTY)?.split_once('\'')) else {
            return Err(io::Error::other(format!("cannot read the working tree: {why}")));
        };
        let exclude = store.dir().join("info/exclude");
        let known = fs_err::read_to_string(&exclude)?;
        fs_err::write(exclude, format!("{known}/{}\n", escaped(name.1)))?;
    }
    Err(io::Error::other("there are too many repositories without a commit inside of the project"))
}

/// What the user has git ignore besides `.gitignore`, and files of ralph.
fn write_excludes(supervisor: &mut Supervisor, store: &ObjectStore, source: &Source) -> io::Result<()> {
    let mut all = files::read(&source.common_dir.join("info/exclude"), MAX_TEXT_LEN).unwrap_or_default();
    all.push(b'\n');
    let by_user = match source.value("core.excludesfile") {
        Some(_) => {
            let asked =
                GitCall::new(&source.top, Config::User).args(["config", "--type=path", "core.excludesFile"]);
            asked.run(supervisor)?.ok().map(|path| PathBuf::from(text(&path)))
        }
        None => default_excludes(),
    };
    all.extend(by_user.and_then(|path| files::read(&path, MAX_TEXT_LEN).ok()).unwrap_or_default());
    all.extend_from_slice(format!("\n{OWN_FILES}").as_bytes());
    fs_err::create_dir_all(store.dir().join("info"))?;
    fs_err::write(store.dir().join("info/exclude"), all)
}

/// Where git looks if it is not told.
fn default_excludes() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(config.join("git/ignore"))
}

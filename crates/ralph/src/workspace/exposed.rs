//! The repository that the project's commands see in a workspace: history, branches, tags and the branch's name, and
//! nothing that leads out or runs anything.
//!
//! It is made anew each time and believed never: its objects are read from the store, and what is written to it is
//! no one's.

use std::{
    fmt::Write,
    io,
    path::{Path, PathBuf},
};

use ralph_core::verify::keep::OWN_CACHE;
use ralph_sys::process::Supervisor;

use super::{call::text, checkout::remove, source::Source, store::ObjectStore};
use crate::project::git::OWN_FILES;

/// What is shown of a repository.
pub(super) struct Exposed<'a> {
    pub(super) store: &'a ObjectStore,
    pub(super) source: &'a Source,
    pub(super) tree: &'a Path,
    /// The commit that is checked out.
    pub(super) commit: &'a str,
    /// The branch that it is said to be on.
    pub(super) branch: Option<&'a str>,
}

impl Exposed<'_> {
    /// Makes `.git` of the tree; the caches in it stay.
    pub(super) fn write(&self, supervisor: &mut Supervisor) -> io::Result<()> {
        let git = self.tree.join(".git");
        let cache = self.tree.join(OWN_CACHE);
        if git.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            for entry in fs_err::read_dir(&git)? {
                let path = entry?.path();
                if path != cache {
                    remove(&path)?;
                }
            }
        } else {
            remove(&git)?;
        }
        for folder in ["objects/info", "refs/heads", "refs/tags", "info"] {
            fs_err::create_dir_all(git.join(folder))?;
        }
        let alternates = format!("{}\n", self.store.dir().join("objects").display());
        fs_err::write(git.join("objects/info/alternates"), alternates)?;
        let head = match self.branch {
            Some(branch) => format!("ref: {branch}\n"),
            None => format!("{}\n", self.commit),
        };
        fs_err::write(git.join("HEAD"), head)?;
        fs_err::write(git.join("packed-refs"), self.refs(supervisor)?)?;
        fs_err::write(git.join("config"), self.config())?;
        fs_err::write(git.join("info/exclude"), OWN_FILES)?;
        for name in ["index", "shallow", "info/sparse-checkout"] {
            copy_if_there(&self.store.dir().join(name), &git.join(name))?;
        }
        Ok(())
    }

    fn refs(&self, supervisor: &mut Supervisor) -> io::Result<String> {
        let args =
            ["for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags", "refs/remotes"];
        let listed = text(&self.store.call().args(args).must(supervisor, "cannot list the branches")?);
        let is_other = |line: &&str| line.split_once(' ').is_some_and(|(_, name)| Some(name) != self.branch);
        let others = listed.lines().filter(is_other).map(|line| format!("{line}\n"));
        let own = self.branch.map(|branch| format!("{} {branch}\n", self.commit));
        Ok(others.chain(own).collect())
    }

    /// Remotes have no address: `@{upstream}` can be asked for, and nothing can be fetched or pushed.
    fn config(&self) -> String {
        let is_sha256 = self.source.object_format == "sha256";
        let is_partial = self.source.is_partial();
        let version = i32::from(is_sha256 || is_partial);
        let mut text = format!(
            "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
        );
        if self.store.dir().join("info/sparse-checkout").exists() {
            text.push_str("\tsparseCheckout = true\n\tsparseCheckoutCone = false\n");
        }
        if is_sha256 {
            text.push_str("[extensions]\n\tobjectFormat = sha256\n");
        }
        if is_partial {
            // What is missing may be missing, and comes from nowhere.
            text.push_str("[extensions]\n\tpartialClone = none\n[remote \"none\"]\n\tpromisor = true\n");
        }
        let remotes: Vec<&str> = self.settings("remote", "fetch").map(|(name, _)| name).collect();
        for (name, value) in self.settings("remote", "fetch") {
            let _ = writeln!(text, "[remote \"{}\"]\n\tfetch = \"{}\"", quoted(name), quoted(value));
        }
        for key in ["remote", "merge"] {
            // The remote of a branch can be an address.
            let of_branches = self.settings("branch", key);
            for (name, value) in of_branches.filter(|(_, value)| key == "merge" || remotes.contains(value)) {
                let _ = writeln!(text, "[branch \"{}\"]\n\t{key} = \"{}\"", quoted(name), quoted(value));
            }
        }
        text
    }

    /// The values of a key in all sections of this kind, with their names.
    fn settings<'a>(&'a self, section: &'a str, key: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.source.settings.iter().filter_map(move |(name, value)| {
            let rest = name.strip_prefix(section)?.strip_prefix('.')?;
            let (subsection, found) = rest.rsplit_once('.')?;
            (found == key).then_some((subsection, value.as_str()))
        })
    }
}

/// Text inside of quotes, in a file of git's settings.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn copy_if_there(from: &Path, to: &PathBuf) -> io::Result<()> {
    match std::fs::copy(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map(drop),
    }
}

//! The locks of git. Every git that writes holds some for a moment; one that was killed leaves them behind, and no git removes
//! what another one left.

use std::{
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use ralph_sys::{
    files::{self, Root},
    process::is_at_work,
};

use super::Git;

/// How deep the names of branches go.
const MAX_DEPTH: usize = 16;
/// What git calls its locks.
const ENDING: &str = ".lock";
/// The lock on what is staged.
const INDEX: &str = "index.lock";
/// The index that is made for one commit, with the number of the process.
const NEXT_INDEX: &str = "next-index-";

/// A lock that is there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LockFile {
    /// The folder of git that it is in.
    root: PathBuf,
    name: PathBuf,
    /// When it was taken.
    pub(crate) since: SystemTime,
}

impl LockFile {
    fn at(root: &Path, name: PathBuf) -> Option<Self> {
        let file = root.join(&name).symlink_metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Self { root: root.to_owned(), name, since: file.modified().ok()? })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.name)
    }

    /// Removes it, and nothing that a link in its place leads to.
    pub(crate) fn remove(&self) -> bool {
        Root::new(&self.root).remove(&self.name).is_ok()
    }
}

impl Git {
    /// The locks that a commit takes, as far as they are there; found without asking git.
    pub(crate) fn locks(&self) -> Vec<LockFile> {
        let Some(own) = self.dir() else { return Vec::new() };
        let common = common_of(&own);
        let is_lock = |name: &String| name == INDEX || is_next_index(name) || is_head(name);
        let names = names_in(&own).into_iter().filter(is_lock);
        let mut found: Vec<LockFile> = names.filter_map(|name| LockFile::at(&own, name.into())).collect();
        found.extend(LockFile::at(&common, format!("packed-refs{ENDING}").into()));
        found.extend(LockFile::at(&common, format!("reftable/tables.list{ENDING}").into()));
        refs_below(&common, Path::new("refs"), MAX_DEPTH, &mut found);
        found
    }

    /// Whether any git works in this repository, in whichever of its working trees.
    pub(crate) fn is_at_work(&self) -> bool {
        let own = self.dir().unwrap_or_else(|| self.top.clone());
        let common = common_of(&own);
        let linked = names_in(&common.join("worktrees")).into_iter().filter_map(|name| {
            let git = files::read_text(&common.join("worktrees").join(name).join("gitdir")).ok()?;
            Some(Path::new(git.trim()).parent()?.to_owned())
        });
        let main = common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned);
        let folders = linked.chain(main).chain([self.top.clone(), own, common.clone()]);
        let mut folders: Vec<PathBuf> = folders.collect();
        folders.sort();
        folders.dedup();
        folders.iter().any(|folder| is_at_work("git", folder))
    }
}

/// The lock that made git refuse, if one did.
pub(crate) fn lock_in(refusal: &str) -> Option<&str> {
    let (before, _) = refusal.split_once("': File exists")?;
    let (_, path) = before.rsplit_once("Unable to create '")?;
    path.ends_with(ENDING).then_some(path)
}

/// Where what all working trees share is kept.
fn common_of(own: &Path) -> PathBuf {
    match files::read_text(&own.join("commondir")) {
        Ok(text) => own.join(text.trim()),
        Err(_) => own.to_owned(),
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn is_next_index(name: &str) -> bool {
    let number = name.strip_prefix(NEXT_INDEX).and_then(|rest| rest.strip_suffix(ENDING));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `HEAD` and what git calls like it: `ORIG_HEAD`, `MERGE_HEAD`, `AUTO_MERGE`.
fn is_head(name: &str) -> bool {
    let head = name.strip_suffix(ENDING).filter(|head| !head.is_empty());
    head.is_some_and(|head| head.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
}

/// The locks on refs in this folder; no link is followed.
fn refs_below(common: &Path, folder: &Path, depth: usize, found: &mut Vec<LockFile>) {
    let is_folder = common.join(folder).symlink_metadata().is_ok_and(|it| it.is_dir());
    if depth == 0 || !is_folder {
        return;
    }
    for name in names_in(&common.join(folder)) {
        let path = folder.join(&name);
        if name.ends_with(ENDING) {
            found.extend(LockFile::at(common, path));
        } else {
            refs_below(common, &path, depth - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_says_which_lock_it_met() {
        let check = |refusal: &str, expected| assert_eq!(lock_in(refusal), expected, "{refusal}");
        check("fatal: Unable to create '/p/.git/index.lock': File exists.", Some("/p/.git/index.lock"));
        check(
            "fatal: cannot lock ref 'HEAD': Unable to create '/p/.git/HEAD.lock': File exists.",
            Some("/p/.git/HEAD.lock"),
        );
        check("fatal: Unable to create '/p/.git/index.lock': Permission denied", None);
        check("error: could not write '/p/a': File exists", None);
    }

    #[test]
    fn only_what_git_locks_is_a_lock() {
        let folder = tempfile::tempdir().expect("a folder");
        let git = Git::at(folder.path());
        let own = folder.path().join(".git");
        fs::create_dir_all(own.join("refs/heads/topic")).expect("folders");
        fs::create_dir_all(folder.path().join("elsewhere")).expect("folders");
        let locks = [
            "AUTO_MERGE.lock",
            "HEAD.lock",
            "MERGE_HEAD.lock",
            "index.lock",
            "next-index-2.lock",
            "packed-refs.lock",
            "refs/heads/main.lock",
            "refs/heads/topic/one.lock",
        ];
        let others = [
            ".lock",
            "config.lock",
            "next-index-x.lock",
            "Cargo.lock",
            "refs/heads/main",
            "../elsewhere/a.lock",
        ];
        for name in locks.iter().chain(&others) {
            fs::write(own.join(name), "").expect("a file");
        }
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), own.join("refs/heads/link"))
            .expect("a link");
        std::os::unix::fs::symlink(own.join("config.lock"), own.join("ORIG_HEAD.lock")).expect("a link");
        let mut found: Vec<String> = git.locks().iter().map(|lock| lock.name.display().to_string()).collect();
        found.sort();
        assert_eq!(found, locks);
        assert!(git.locks().iter().all(LockFile::remove));
        assert_eq!(git.locks(), []);
        assert!(others.iter().all(|name| own.join(name).exists()));
    }
}

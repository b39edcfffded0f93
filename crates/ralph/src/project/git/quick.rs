//! Looks at a repository in the least time, for hooks: an agent waits for them.

use std::{
    ffi::OsStr,
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use ralph_sys::{
    paths::is_repository,
    process::{at_once, beginning_at_once},
};

use super::{Change, Git, STATUS, listed::since_commit, text};

impl Git {
    /// The repository that `dir` is in: the nearest folder that looks like the top of one. Git is not asked.
    pub(crate) fn near(dir: &Path) -> Option<Self> {
        let top = dir.ancestors().find(|dir| is_repository(dir))?;
        Some(Self { top: top.to_owned() })
    }

    /// As [`Git::changes`], without a supervisor that watches over git.
    pub(crate) fn changes_at_once(&self) -> io::Result<Vec<Change>> {
        let said = at_once(&self.spec(&STATUS))?;
        if !said.status.success() {
            return Err(io::Error::other(format!("git status failed: {}", text(&said.stderr))));
        }
        Ok(self.listing_in(&said.stdout).changes)
    }

    /// The files that git does not know.
    pub(crate) fn unknown_at_once(&self) -> io::Result<Vec<PathBuf>> {
        let args = ["ls-files", "--others", "--exclude-standard", "-z"];
        let said = at_once(&self.spec(&args))?;
        if !said.status.success() {
            return Err(io::Error::other(format!("git ls-files failed: {}", text(&said.stderr))));
        }
        let names = said.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect())
    }

    /// How the files differ from this commit, as people read it: a summary, then the beginning of the whole.
    pub(crate) fn patch_at_once(&self, commit: &str, max: usize) -> io::Result<String> {
        let args = [
            "diff",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--stat=100",
            "--patch",
            "--end-of-options",
            commit,
            "--",
        ];
        Ok(String::from_utf8_lossy(&beginning_at_once(&self.spec(&args), max)?).into_owned())
    }

    /// As [`Git::changed_since`], without a supervisor that watches over git.
    pub(crate) fn changed_since_at_once(&self, commit: &str) -> io::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for args in since_commit(commit) {
            let said = at_once(&self.spec(&args))?;
            if !said.status.success() {
                return Err(io::Error::other(format!("git diff failed: {}", text(&said.stderr))));
            }
            paths.extend(self.paths_in(&said.stdout));
        }
        Ok(paths)
    }
}

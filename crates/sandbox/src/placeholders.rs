//! Empty folders in the place of protected paths that are not there, so that no process inside makes them. They are
//! made before each process and removed when the run ends. Where git or the agent would stumble over a folder it is a
//! file that says what none would.

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use ralph_core::containment::policy::{OPEN, PINNED, PROTECTED};
use ralph_sys::files::{self, MAX_TEXT_LEN};

use super::own_file;

/// The stand-ins of a project, for one of the sandboxes that need them.
pub(super) struct StandIns {
    project: PathBuf,
    /// Folders for hooks of git.
    hooks: Vec<PathBuf>,
    /// Files with what stands in them.
    files: Vec<(PathBuf, &'static str)>,
    /// Shared with all sandboxes of the project: removing a stand-in uncovers what it covers for the others.
    lock: File,
}

impl StandIns {
    /// Takes part in those of a project; `lock` is a file of the project's own.
    pub(super) fn of(
        project: &Path,
        hooks: Vec<PathBuf>,
        files: Vec<(PathBuf, &'static str)>,
        lock: &Path,
    ) -> io::Result<Self> {
        std::fs::create_dir_all(lock.parent().unwrap_or(lock))?;
        let lock = own_file::append(lock)?;
        lock.lock_shared()?;
        Ok(Self { project: project.to_owned(), hooks, files, lock })
    }

    /// Makes what is missing.
    pub(super) fn make(&self) -> io::Result<()> {
        for path in self.all() {
            if path.symlink_metadata().is_err() && !self.is_below_a_file(&path) && !self.leads_out(&path) {
                fs_err::create_dir_all(&path)?;
            }
        }
        for (path, text) in &self.files {
            match File::options().write(true).create_new(true).open(path) {
                Ok(mut file) => file.write_all(text.as_bytes())?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes those that are still empty, unless another sandbox needs them. One that an earlier run left looks the
    /// same and goes too.
    pub(super) fn remove(&self) {
        if self.lock.try_lock().is_err() {
            return;
        }
        for (path, text) in &self.files {
            if files::read(path, MAX_TEXT_LEN).is_ok_and(|found| found == text.as_bytes()) {
                let _ = std::fs::remove_file(path);
            }
        }
        let pinned = PINNED.into_iter().map(|name| self.project.join(name));
        for path in self.all().rev().chain(pinned) {
            // Anything but an empty folder is not ours and stays.
            let _ = std::fs::remove_dir(&path);
        }
        let _ = self.lock.unlock();
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = PathBuf> + '_ {
        let inside = PROTECTED.into_iter().chain(OPEN).chain([".git"]).map(|name| self.project.join(name));
        inside.chain(self.hooks.iter().cloned())
    }

    /// What a link out of the project leads to is no one's inside, and no one else's to find folders in.
    fn leads_out(&self, path: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        path.starts_with(&self.project)
            && path
                .ancestors()
                .skip(1)
                .find_map(real)
                .zip(real(&self.project))
                .is_none_or(|(it, project)| !it.starts_with(project))
    }

    /// Where the user keeps a file instead of a folder, there is nothing to make.
    fn is_below_a_file(&self, path: &Path) -> bool {
        let above = path.ancestors().skip(1).take_while(|dir| *dir != self.project);
        above.into_iter().any(|dir| dir.exists() && !dir.is_dir())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_and_go_and_leave_the_rest() {
        let root = tempfile::tempdir().expect("a folder");
        let project = root.path();
        std::fs::create_dir_all(project.join(".claude")).expect("a folder");
        std::fs::write(project.join(".claude/settings.json"), "{}").expect("a file");
        std::fs::write(project.join(".codex"), "not a folder").expect("a file");
        let lock = tempfile::NamedTempFile::new().expect("a file");
        let own = project.join("config.worktree");
        let of = || StandIns::of(project, Vec::new(), vec![(own.clone(), "")], lock.path()).expect("a lock");
        let (one, other) = (of(), of());
        one.make().expect("they can be made");
        for path in [".mcp.json", ".ralph-active", ".github/hooks", ".claude/rules", ".ralph/tasks"] {
            assert!(project.join(path).is_dir(), "{path}");
        }
        assert!(own.is_file());
        one.remove();
        assert!(project.join(".mcp.json").is_dir(), "another sandbox needs it");
        drop(one);
        other.remove();
        let mut left: Vec<_> = std::fs::read_dir(project)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        assert_eq!(left, [".claude", ".codex"]);
        assert!(!project.join(".claude/rules").exists());
    }

    #[test]
    fn none_is_made_where_a_link_leads_out_of_the_project() {
        let root = tempfile::tempdir().expect("a folder");
        let (project, outside) = (root.path().join("project"), root.path().join("outside"));
        std::fs::create_dir_all(project.join("within")).expect("a folder");
        std::fs::create_dir(&outside).expect("a folder");
        std::os::unix::fs::symlink(&outside, project.join(".github")).expect("a link");
        std::os::unix::fs::symlink("within", project.join(".claude")).expect("a link");
        let lock = tempfile::NamedTempFile::new().expect("a file");
        let placeholders = StandIns::of(&project, Vec::new(), Vec::new(), lock.path()).expect("a lock");
        placeholders.make().expect("they can be made");
        assert_eq!(std::fs::read_dir(&outside).expect("the folder").count(), 0);
        assert!(project.join("within/rules").is_dir(), "inside the agent could make it");
    }
}

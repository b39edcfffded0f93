//! Where the judges of a project are: outside of it, one for each run that works in it at the same time.

use std::{
    fs::{File, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use ralph_sys::{
    error::{Context, Error, Result},
    paths::{project_dir, state_dir},
};

use super::{checkout::remove, record};

/// What the folder is called; the second one is `judge-2`.
const NAME: &str = "judge";
/// The folder of the lanes of a project.
pub(crate) const LANES: &str = "lanes";
/// As many runs of one project can be judged at once.
const MAX_JUDGES: usize = 9;
/// The file in the folder that is locked.
const LOCK: &str = "lock";

/// Takes the first judge of the project that no process uses. It is free again when the file is closed.
pub(super) fn take(project: &Path) -> Result<(PathBuf, File)> {
    let state = project_dir(project)?;
    let refused = || format!("cannot keep a judge in {}", state.display());
    for number in 1..=MAX_JUDGES {
        let name = if number == 1 { NAME.to_owned() } else { format!("{NAME}-{number}") };
        let folder = state.join(name);
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).context(refused())?;
        if let Some(lock) = lock(&folder).context(refused())? {
            let folder = fs_err::canonicalize(folder).context(refused())?;
            return Ok((folder, lock));
        }
    }
    Err(Error::new(format!("all {MAX_JUDGES} judges of this project are in use"))
        .hint("see which runs there are: ralph status"))
}

/// Takes a folder that is for one time of judging alone.
pub(super) fn take_in(folder: &Path) -> Result<(PathBuf, File)> {
    let refused = || format!("cannot keep a clone in {}", folder.display());
    let lock = lock(folder).context(refused())?;
    let lock = lock.ok_or_else(|| Error::new(format!("{} is in use", folder.display())))?;
    Ok((fs_err::canonicalize(folder).context(refused())?, lock))
}

/// Takes a folder of the project for a lane. Nothing if another process uses it.
pub(super) fn take_lane(folder: &Path) -> Result<Option<(PathBuf, File)>> {
    let refused = || format!("cannot keep a lane in {}", folder.display());
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).context(refused())?;
    let Some(lock) = lock(folder).context(refused())? else { return Ok(None) };
    Ok(Some((fs_err::canonicalize(folder).context(refused())?, lock)))
}

/// Locks a judge, if no other process has.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let path = folder.join(LOCK);
    let file = File::options().create(true).truncate(false).write(true).open(&path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // A process that removed the judge meanwhile removed the file that was opened.
    let is_same =
        path.metadata().is_ok_and(|there| file.metadata().is_ok_and(|here| here.ino() == there.ino()));
    Ok(is_same.then_some(file))
}

/// A judge or a lane that is there.
#[derive(Debug)]
pub(crate) struct Judge {
    folder: PathBuf,
    /// The project, as far as it is known.
    pub(crate) project: Option<PathBuf>,
    /// What it takes on the disk, in bytes, when it was last looked at.
    pub(crate) disk: u64,
    /// When it was last used.
    pub(crate) used: SystemTime,
}

impl Judge {
    /// The judges of one project, or of all.
    pub(crate) fn all(project: Option<&Path>) -> Result<Vec<Self>> {
        let is_judge = |name: &str| name == NAME || is_numbered(name, "judge-");
        Ok(found_in(&states(project)?, &is_judge))
    }

    /// The lanes of one project, or of all.
    pub(crate) fn lanes(project: Option<&Path>) -> Result<Vec<Self>> {
        let folders: Vec<PathBuf> = states(project)?.iter().map(|state| state.join(LANES)).collect();
        Ok(found_in(&folders, &|name| is_numbered(name, "lane-")))
    }

    fn at(folder: PathBuf) -> Option<Self> {
        let record = record::WorkspaceRecord::read(&folder);
        let changed = |name: &str| folder.join(name).metadata().and_then(|file| file.modified()).ok();
        let used = changed(record::FILE).or_else(|| changed(LOCK))?;
        let (project, disk) = record.map_or((None, 0), |record| (Some(record.project), record.disk));
        Some(Self { folder, project, disk, used })
    }

    /// Whether it was not used for that long, or its project is gone.
    pub(crate) fn is_older(&self, age: Duration) -> bool {
        let is_gone = self.project.as_ref().is_some_and(|project| !project.exists());
        is_gone || SystemTime::now().duration_since(self.used).is_ok_and(|passed| age <= passed)
    }

    /// Whether a process uses it.
    pub(crate) fn is_used(&self) -> bool {
        !matches!(lock(&self.folder), Ok(Some(_)))
    }

    /// Removes it. Returns whether no process used it.
    pub(crate) fn remove(&self) -> io::Result<bool> {
        let Some(_lock) = lock(&self.folder)? else { return Ok(false) };
        // The lock goes last: until then no other process begins.
        for entry in fs_err::read_dir(&self.folder)? {
            let path = entry?.path();
            if !path.ends_with(LOCK) {
                remove(&path)?;
            }
        }
        remove(&self.folder)?;
        Ok(true)
    }
}

/// Where ralph keeps what belongs to one project, or to each.
fn states(project: Option<&Path>) -> Result<Vec<PathBuf>> {
    if let Some(project) = project {
        return Ok(vec![project_dir(project)?]);
    }
    let projects = fs_err::read_dir(state_dir()?).into_iter().flatten().flatten();
    Ok(projects.map(|entry| entry.path()).collect())
}

/// What is in these folders under such a name.
fn found_in(folders: &[PathBuf], is_meant: &dyn Fn(&str) -> bool) -> Vec<Judge> {
    let entries = folders.iter().flat_map(|folder| fs_err::read_dir(folder).into_iter().flatten().flatten());
    let meant = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_meant));
    meant.filter_map(|entry| Judge::at(entry.path())).collect()
}

fn is_numbered(name: &str, kind: &str) -> bool {
    name.strip_prefix(kind).is_some_and(|number| number.parse::<u32>().is_ok())
}

/// What a folder takes on the disk.
pub(crate) fn disk(folder: &Path) -> u64 {
    let Ok(metadata) = folder.symlink_metadata() else { return 0 };
    let own = metadata.blocks() * 512;
    if !metadata.is_dir() {
        return own;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    own + entries.map(|entry| disk(&entry.path())).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_for_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = lock(folder.path()).expect("a lock").expect("it is free");
        assert!(lock(folder.path()).expect("a lock").is_none());
        drop(first);
        assert!(lock(folder.path()).expect("a lock").is_some());
    }

    #[test]
    fn what_is_used_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("judge");
        std::fs::create_dir_all(path.join("tree/a")).expect("a folder");
        std::fs::write(path.join("tree/a/x"), vec![1; 100_000]).expect("a file");
        assert!(100_000 <= disk(&path));
        let judge = Judge { folder: path.clone(), project: None, disk: 0, used: SystemTime::now() };
        let held = lock(&path).expect("a lock").expect("it is free");
        assert!(judge.is_used() && !judge.remove().expect("it is tried") && path.join("tree").exists());
        drop(held);
        assert!(judge.remove().expect("it is removed") && !path.exists());
    }

    #[test]
    fn age_and_lost_projects() {
        let judge = |project: &str, hours: u64| Judge {
            folder: PathBuf::new(),
            project: Some(project.into()),
            disk: 0,
            used: SystemTime::now() - Duration::from_hours(hours),
        };
        let week = Duration::from_hours(7 * 24);
        assert!(!judge("/", 1).is_older(week));
        assert!(judge("/", 200).is_older(week));
        assert!(judge("/nowhere/at/all", 1).is_older(week));
    }
}

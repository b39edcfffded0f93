//! Where fleets and their lanes are: in the state folder of the project, where no agent writes.

use std::{
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use ralph_sys::{
    error::{Context, Error, Result},
    paths::project_dir,
};

use crate::journal::run_dir::new_id;

/// The folder of one fleet.
#[derive(Clone, Debug)]
pub(crate) struct FleetDir {
    path: PathBuf,
}

impl FleetDir {
    /// Makes the folder of a new fleet.
    pub(crate) fn create(project: &Path) -> Result<Self> {
        let path = project_dir(project)?.join("fleets").join(new_id());
        let refused = || format!("cannot keep a record of the fleet in {}", path.display());
        for folder in [path.clone(), path.join("answers"), path.join("logs")] {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).context(refused())?;
        }
        Ok(Self { path })
    }

    /// The fleet whose folder this is.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The newest fleet of a project.
    pub(crate) fn newest(project: &Path) -> Result<Self> {
        let folder = project_dir(project)?.join("fleets");
        let entries = fs_err::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let newest = entries.filter(|path| path.join("journal.jsonl").exists()).max();
        newest.map(Self::at).ok_or_else(|| {
            Error::new(format!("there is no fleet of {} yet", project.display()))
                .hint("start one: ralph fleet run \"...\" --best-of 3")
        })
    }

    /// Its id.
    pub(crate) fn id(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// What a lane answers, or the lander, under this lease.
    pub(super) fn answer(&self, kind: &str, lease: u64) -> PathBuf {
        self.path.join("answers").join(format!("{kind}-{lease}.json"))
    }

    /// What the processes of a lane, or of the lander, print.
    pub(super) fn log(&self, who: &str) -> PathBuf {
        self.path.join("logs").join(format!("{who}.log"))
    }

    /// The folder of a lane. It is the same for all fleets of the project.
    pub(crate) fn lane(&self, lane: &str) -> PathBuf {
        let project = self.path.parent().and_then(Path::parent).unwrap_or(&self.path);
        project.join("lanes").join(lane)
    }
}

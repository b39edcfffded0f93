//! The files that belong to the lander: the task list and the log of progress. Lanes write to copies of them.

use std::path::{Path, PathBuf};

use ralph_core::{fleet::FleetStarted, stories::Review};

use crate::project::story_files::{PROGRESS, TASKS};

/// Where they are, relative to the top of the repository.
#[derive(Clone, Debug)]
pub(super) struct OwnFiles {
    pub(super) tasks: PathBuf,
    pub(super) progress: PathBuf,
    pub(super) review: Review,
}

impl OwnFiles {
    /// Those of a fleet that works on stories.
    pub(super) fn of(started: &FleetStarted, prefix: &Path) -> Option<Self> {
        let folder = prefix.join(started.ralph_dir.as_ref()?);
        let skips = started.settings["stories"]["skipReview"].as_bool() == Some(true);
        let review = if skips { Review::Skipped } else { Review::Required };
        Some(Self { tasks: folder.join(TASKS), progress: folder.join(PROGRESS), review })
    }

    /// Both of them.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        vec![self.tasks.clone(), self.progress.clone()]
    }
}

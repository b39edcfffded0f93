//! Where fleets and their lanes are: in the state folder of the project, where no agent writes.

use std::{
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use ralph_sys::{
    error::{Context, Error, Result},
    paths::{project_dir, state_dir},
    process::is_alive,
};
use serde_json::json;

use crate::{
    journal::{
        self,
        run_dir::{JOURNAL, RunDir, new_id},
    },
    settings,
    workspace::{Wishes, place::LANES},
};

/// What the folders of workers on other machines begin with, in the state folder.
pub(super) const FAR: &str = "board-";

/// The folder of one fleet.
#[derive(Clone, Debug)]
pub(crate) struct FleetDir {
    path: PathBuf,
}

impl FleetDir {
    /// Makes the folder of a new fleet.
    pub(crate) fn create(project: &Path) -> Result<Self> {
        Self::create_at(project_dir(project)?.join("fleets").join(new_id()))
    }

    /// Makes the folder of a fleet, or takes the one that is there.
    pub(super) fn create_at(path: PathBuf) -> Result<Self> {
        let refused = || format!("cannot keep a record of the fleet in {}", path.display());
        for folder in [path.clone(), path.join("answers"), path.join("logs"), path.join("receipts")] {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).context(refused())?;
        }
        Ok(Self { path })
    }

    /// Where the copy of the journal of a fleet is that belongs to another machine. That machine chose the id: one that leads
    /// out of the state folder is refused.
    #[cfg(feature = "nats")]
    pub(super) fn mirror(fleet: &str) -> Result<PathBuf> {
        if fleet.is_empty() || !fleet.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return Err(Error::new(format!("{fleet:?} is not the id of a fleet"))
                .hint("on the machine with the project, `ralph fleet status` shows the id"));
        }
        Ok(state_dir()?.join(format!("{FAR}{fleet}")).join("fleets").join(fleet))
    }

    /// Whether it belongs to another machine, and only a copy of its journal is here.
    pub(crate) fn is_mirror(&self) -> bool {
        let project = self.path.parent().and_then(Path::parent).and_then(Path::file_name);
        project.is_some_and(|name| *name.to_string_lossy() == format!("{FAR}{}", self.id()))
    }

    /// The fleet whose folder this is.
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The newest fleet of a project.
    pub(crate) fn newest(project: &Path) -> Result<Self> {
        Self::of_project(project)?.pop().ok_or_else(|| {
            Error::new(format!("there is no fleet of {} yet", project.display()))
                .hint("start one: ralph fleet run \"...\" --best-of 3")
        })
    }

    /// The fleets of a project, oldest first.
    pub(crate) fn of_project(project: &Path) -> Result<Vec<Self>> {
        Ok(fleets_in(&project_dir(project)?))
    }

    /// The fleets of all projects of this user, oldest first.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let projects = fs_err::read_dir(state_dir()?).into_iter().flatten().flatten();
        Ok(projects.flat_map(|project| fleets_in(&project.path())).collect())
    }

    /// Whether the process of this number works on it: the guardian of one that was killed holds the lock for a while. A copy
    /// is locked by who follows it; the process is elsewhere.
    pub(crate) fn is_running(&self, pid: u32) -> bool {
        journal::is_running(&self.journal()) && (self.is_mirror() || is_alive(pid.cast_signed()))
    }

    /// The fleet with this id, or with the only id that begins so, of any project. Nothing if a run is meant.
    pub(crate) fn by_id(id: &str) -> Option<Self> {
        let fleets = Self::all().ok()?.into_iter();
        let mut fleets: Vec<Self> = fleets.filter(|fleet| fleet.id().starts_with(id)).collect();
        if let Some(exact) = fleets.iter().position(|fleet| fleet.id() == id) {
            return Some(fleets.swap_remove(exact));
        }
        let is_run = || RunDir::all().is_ok_and(|runs| runs.iter().any(|run| run.id().starts_with(id)));
        fleets.pop().filter(|_| fleets.is_empty() && !id.is_empty() && !is_run())
    }

    /// The runs of its workers on other machines, as far as they arrived here.
    pub(crate) fn far_runs(&self) -> Vec<RunDir> {
        let begins = format!("{FAR}{}-", self.id());
        let is_far = |run: &RunDir| {
            let folder = run.path().parent().and_then(Path::parent).and_then(Path::file_name);
            folder.is_some_and(|name| name.to_string_lossy().starts_with(&begins))
        };
        RunDir::all().unwrap_or_default().into_iter().filter(is_far).collect()
    }

    /// Its id.
    pub(crate) fn id(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// What the settings of the fleet say about clones.
    pub(super) fn wishes(&self, project: &Path) -> Result<Wishes> {
        let file = self.path.join("settings.json");
        let loaded = settings::load(project, Some(&file), json!({})).map_err(Error::new)?;
        Ok((&loaded.settings.judge_setup()).into())
    }

    /// What a lane answers, or the lander, under this lease.
    pub(super) fn answer(&self, kind: &str, lease: u64) -> PathBuf {
        self.path.join("answers").join(format!("{kind}-{lease}.json"))
    }

    /// The receipts of what landed.
    pub(crate) fn receipts(&self) -> PathBuf {
        self.path.join("receipts")
    }

    /// What the processes of a lane, or of the lander, print.
    pub(super) fn log(&self, who: &str) -> PathBuf {
        self.path.join("logs").join(format!("{who}.log"))
    }

    /// The folder of a lane. It is the same for all fleets of the project.
    pub(crate) fn lane(&self, lane: &str) -> PathBuf {
        let project = self.path.parent().and_then(Path::parent).unwrap_or(&self.path);
        project.join(LANES).join(lane)
    }
}

fn fleets_in(project: &Path) -> Vec<FleetDir> {
    let entries = fs_err::read_dir(project.join("fleets")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.join(JOURNAL).exists()).collect();
    paths.sort();
    paths.into_iter().map(FleetDir::at).collect()
}

/// An item's name as a part of a ref.
pub(super) fn ref_name(item: &str) -> String {
    item.chars().map(|c| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' }).collect()
}

#[cfg(all(test, feature = "nats"))]
mod tests {
    use super::*;

    #[test]
    fn an_id_from_another_machine_never_leads_out_of_the_state_folder() {
        for id in ["", ".", "..", "../../home", "/etc", "a/b", "a\\b", "a b", "a\u{202e}", "a\n"] {
            assert!(FleetDir::mirror(id).is_err(), "{id:?}");
        }
        let path = FleetDir::mirror("20261118-202806-2bc310").expect("an id");
        assert!(path.ends_with("board-20261118-202806-2bc310/fleets/20261118-202806-2bc310"));
    }
}

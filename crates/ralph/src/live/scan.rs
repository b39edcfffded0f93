//! Which runs and fleets there are, looked at again and again.

use std::{collections::BTreeMap, path::PathBuf};

use ralph_core::view::{ShownFleet, ShownRun, overview};
use ralph_sys::error::Result;

use super::LiveRun;
use crate::{
    fleet::{FileLedger, FleetDir},
    journal::run_dir::RunDir,
};

/// As many runs are in a list: the newest. `ralph status --all --json` has all.
const MAX_RUNS: usize = 200;
/// As many turns of each are kept: a list has room for a few dots.
const MAX_LISTED_TURNS: usize = 40;

/// Which runs are looked at.
#[derive(Clone, Debug)]
pub(crate) enum ScanScope {
    /// Those of a project, and those in the lanes of its fleets.
    Project(PathBuf),
    /// Those of all projects.
    All,
}

/// What there is, in the order in which a person looks at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overview {
    pub(crate) runs: Vec<ShownRun>,
    pub(crate) fleets: Vec<ShownFleet>,
}

/// Looks at runs, and reads of each only what is new.
pub(crate) struct Scanner {
    scope: ScanScope,
    is_bound: fn(&RunDir) -> bool,
    runs: BTreeMap<PathBuf, (LiveRun, Option<ShownRun>)>,
}

impl Scanner {
    /// Looks at these; `is_bound` says whether a conversation drives a run.
    pub(crate) fn new(scope: ScanScope, is_bound: fn(&RunDir) -> bool) -> Self {
        Self { scope, is_bound, runs: BTreeMap::new() }
    }

    /// What there is at the moment.
    pub(crate) fn look(&mut self) -> Result<Overview> {
        let fleets = self.fleets()?;
        let mut dirs = self.dirs(&fleets)?;
        dirs.sort_by_key(|dir| std::cmp::Reverse(dir.id()));
        dirs.truncate(MAX_RUNS);
        self.runs.retain(|path, _| dirs.iter().any(|dir| dir.path() == path));
        let mut runs = Vec::new();
        for dir in dirs {
            let fresh = || (LiveRun::new(dir.clone(), self.is_bound), None);
            let (live, shown) = self.runs.entry(dir.path().to_owned()).or_insert_with(fresh);
            // One that is being removed is gone at the next look.
            if live.poll().unwrap_or(false) {
                *shown = live.shown(Vec::new(), None).map(trimmed);
            }
            runs.extend(shown.clone());
        }
        let mut fleets: Vec<ShownFleet> = fleets.iter().filter_map(shown_fleet).collect();
        overview(&mut runs, &mut fleets);
        Ok(Overview { runs, fleets })
    }

    fn fleets(&self) -> Result<Vec<FleetDir>> {
        match &self.scope {
            ScanScope::Project(project) => FleetDir::of_project(project),
            ScanScope::All => FleetDir::all(),
        }
    }

    fn dirs(&self, fleets: &[FleetDir]) -> Result<Vec<RunDir>> {
        let ScanScope::Project(project) = &self.scope else { return RunDir::all() };
        let mut dirs = RunDir::of_project(project)?;
        // All fleets of a project have the same lanes.
        if let Some(fleet) = fleets.last() {
            let lanes = FileLedger::look(fleet).map_or(0, |state| state.started.plan.lanes);
            for lane in 1..=lanes {
                let tree = fleet.lane(&format!("lane-{lane}")).join("tree");
                dirs.extend(RunDir::of_project(&tree).unwrap_or_default());
            }
            dirs.extend(fleet.far_runs());
        }
        Ok(dirs)
    }
}

fn trimmed(mut run: ShownRun) -> ShownRun {
    run.turns.drain(..run.turns.len().saturating_sub(MAX_LISTED_TURNS));
    run
}

/// A fleet at the moment; nothing if its journal cannot be read.
pub(crate) fn shown_fleet(dir: &FleetDir) -> Option<ShownFleet> {
    let state = FileLedger::look(dir).ok()?;
    Some(ShownFleet::of(&dir.id(), &state, dir.is_running(state.pid)))
}

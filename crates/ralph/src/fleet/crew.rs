//! The processes of a fleet as its coordinator sees them: what the run in a lane has spent, and whether it waits.

use std::{ffi::OsString, fs::File, io, path::PathBuf};

use ralph_core::engine::{
    Run,
    entry::Entry,
    event::{Event, Why},
};
use ralph_sys::process::{Aside, mark::Mark};

use super::{FleetDir, LANDER_COMMAND, LANE_COMMAND, claim::Claim};
use crate::journal::{self, run_dir::RunDir};

/// The process of a lane.
pub(super) struct LaneProcess {
    pub(super) process: Aside,
    pub(super) item: String,
    pub(super) lease: u64,
    folder: PathBuf,
    project: PathBuf,
    watched: Option<Watched>,
}

/// The run in a lane, as far as it was read.
pub(super) struct Watched {
    dir: RunDir,
    position: u64,
    run: Option<Run>,
}

/// What the run in a lane says by now.
#[derive(Default)]
pub(super) struct RunNews {
    /// The run, and what it has cost.
    pub(super) spent: Option<(String, f64)>,
    /// It waits for its usage limit until then, in milliseconds since 1970.
    pub(super) waits_until: Option<i64>,
}

impl LaneProcess {
    pub(super) fn start(
        dir: &FleetDir,
        call: (&str, &str, u64),
        prefix: &std::path::Path,
        mark: &Mark,
    ) -> io::Result<Self> {
        Self::start_as(LANE_COMMAND, dir, call, prefix, mark)
    }

    pub(super) fn start_as(
        command: &str,
        dir: &FleetDir,
        (item, lane, lease): (&str, &str, u64),
        prefix: &std::path::Path,
        mark: &Mark,
    ) -> io::Result<Self> {
        let words: [OsString; 5] =
            [command.into(), dir.path().into(), item.into(), lane.into(), lease.to_string().into()];
        let process = Aside::start(&words, log(dir, lane)?, mark)?;
        let folder = dir.lane(lane);
        let project = folder.join("tree").join(prefix);
        Ok(Self { process, item: item.to_owned(), lease, folder, project, watched: None })
    }

    /// Reads on in the record of its run.
    pub(super) fn news(&mut self, is_for: impl Fn(&Claim) -> bool) -> RunNews {
        if self.watched.is_none() {
            let claim = Claim::read(&self.folder).filter(is_for);
            let project = std::fs::canonicalize(&self.project).unwrap_or_else(|_| self.project.clone());
            let dir = claim.and_then(|claim| claim.run(&project));
            self.watched = dir.map(Watched::new);
        }
        self.watched.as_mut().map(Watched::read).unwrap_or_default()
    }

    /// The run in it, once there is one.
    #[cfg(feature = "nats")]
    pub(super) fn run(&mut self, is_for: impl Fn(&Claim) -> bool) -> Option<RunDir> {
        self.news(is_for);
        self.watched.as_ref().map(|watched| watched.dir.clone())
    }
}

impl Watched {
    pub(super) fn new(dir: RunDir) -> Self {
        Self { dir, position: 0, run: None }
    }

    pub(super) fn read(&mut self) -> RunNews {
        let run = &mut self.run;
        let mut take = |entry: Entry| match (run.as_mut(), &entry.event) {
            (Some(run), _) => run.apply(&entry),
            (None, Event::RunStarted(started)) => *run = Some(Run::new((**started).clone())),
            (None, _) => {}
        };
        // What cannot be read now is read the next time.
        if let Ok(position) = journal::read_from(&self.dir.journal(), self.position, &mut take) {
            self.position = position;
        }
        let Some(run) = &self.run else { return RunNews::default() };
        let cost = run.state.spent().usage.cost_usd;
        let waiting = run.memory.waiting.as_ref().filter(|waiting| waiting.why == Why::UsageLimit);
        RunNews {
            spent: cost.map(|cost| (self.dir.id(), cost)),
            waits_until: waiting.map(|waiting| waiting.until_ms),
        }
    }
}

/// Starts the lander for a candidate.
pub(super) fn start_lander(dir: &FleetDir, item: &str, lease: u64, mark: &Mark) -> io::Result<Aside> {
    let words: [OsString; 4] =
        [LANDER_COMMAND.into(), dir.path().into(), item.into(), lease.to_string().into()];
    Aside::start(&words, log(dir, "lander")?, mark)
}

fn log(dir: &FleetDir, who: &str) -> io::Result<File> {
    File::options().create(true).append(true).open(dir.log(who))
}

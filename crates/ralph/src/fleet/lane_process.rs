//! The process of a lane: takes the lane for itself, has the work done, and leaves an answer.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::Args;
use ralph_core::fleet::{FleetStarted, ItemStep};
use ralph_sys::{
    error::{Context, Error, Result},
    process::{Supervisor, Waited, guardian::Guardian, mark::Mark},
};

use super::{
    FileLedger, FleetDir,
    answer::{self, LaneAnswer},
    lane::Lane,
};
use crate::workspace::{Source, Wishes, Workspace, target::TargetBranch};

/// A lane whose last process was killed is free when everything of it has gone.
const FREE_TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How much later a request to stop may come than the end of what was started.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// What to work on.
#[derive(Args, Clone, Debug)]
pub(crate) struct LaneCall {
    /// The folder of the fleet
    pub(crate) fleet: PathBuf,
    /// The item
    pub(crate) item: String,
    /// The lane
    pub(crate) lane: String,
    /// The lease
    pub(crate) lease: u64,
}

/// Does the work of a lane.
pub(crate) fn main(call: &LaneCall) -> Result<u8> {
    let (answer, supervisor) = perform(call, Supervisor::new()?, None)?;
    answer::write(&FleetDir::at(call.fleet.clone()).answer("lane", call.lease), &answer)?;
    supervisor.release();
    Ok(0)
}

/// Does the work; it begins with what `tip` names, if that is not the target.
pub(super) fn perform(
    call: &LaneCall,
    mut supervisor: Supervisor,
    tip: Option<&str>,
) -> Result<(LaneAnswer, Supervisor)> {
    let dir = FleetDir::at(call.fleet.clone());
    let state = FileLedger::look(&dir)?;
    let started = &*state.started;
    let planned = started.plan.item(&call.item);
    let planned = planned.ok_or_else(|| Error::new(format!("there is no item `{}`", call.item)))?;
    let source = Source::find(&mut supervisor, &started.project)?
        .ok_or_else(|| Error::new("the project is not in a git repository any more"))?;
    let target = TargetBranch::new(&source, &started.target);
    let tip = TargetBranch::new(&source, tip.unwrap_or(&started.target));
    let folder = dir.lane(&call.lane);
    let workspace = take(&mut supervisor, started, &folder, &source, &dir.wishes(&started.project)?)?;
    let lock = workspace.lock().try_clone()?.into();
    let mark = Mark::new(&format!("{}-{}", call.lane, dir.id()), &folder);
    supervisor.guarded(Guardian::start(mark, &[lock]).context("cannot start the guardian")?);
    let mut lane = Lane {
        call,
        dir: &dir,
        started,
        planned,
        item: state.item(&call.item),
        left: started.plan.max_cost.map(|most| most - state.cost()),
        spent: state.spent.clone(),
        supervisor,
        source,
        tip,
        target,
        workspace,
        folder,
    };
    // What keeps a lane from working is for a person, and no reason to begin again.
    let answer = match lane.work() {
        Ok(answer) => answer,
        Err(error) => lane.failed(None, error.to_string()),
    };
    let answer = match answer.step {
        // Its git may have been ended before it was itself.
        ItemStep::Failed { lease, .. } if is_asked_to_stop(&mut lane.supervisor) => {
            LaneAnswer { step: ItemStep::Released { lease, died: false }, ..answer }
        }
        _ => answer,
    };
    Ok((answer, lane.supervisor))
}

/// Whether someone ends this process: what it started is ended at the same time, and then nothing that failed says
/// anything. The request may come a moment later.
pub(super) fn is_asked_to_stop(supervisor: &mut Supervisor) -> bool {
    supervisor.wait(Instant::now() + STOP_TIMEOUT, &mut || {}) == Waited::StopRequested
}

fn take(
    supervisor: &mut Supervisor,
    started: &FleetStarted,
    folder: &Path,
    source: &Source,
    wishes: &Wishes,
) -> Result<Workspace> {
    let deadline = Instant::now() + FREE_TIMEOUT;
    loop {
        if let Some(workspace) =
            Workspace::take_lane(&started.project, folder, source.clone(), wishes.clone())?
        {
            return Ok(workspace);
        }
        if deadline < Instant::now() {
            return Err(Error::new(format!("another process works in {}", folder.display())));
        }
        supervisor.wait(Instant::now() + POLL_INTERVAL, &mut || {});
    }
}

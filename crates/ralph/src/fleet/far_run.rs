//! A run that is at work on another machine: whose record arrives here, and whose agent's streams do not.

use ralph_sys::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::answer;
use crate::journal::run_dir::{ELSEWHERE, RunDir};

/// Where a run really is, in a file beside the copy of its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FarRun {
    pub(crate) fleet: String,
    pub(crate) item: String,
    pub(crate) worker: String,
}

/// What a person says to it.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) keep: bool,
    pub(crate) now: bool,
}

impl FarRun {
    /// What is known of a run; nothing if it is one of this machine.
    pub(crate) fn of(run: &RunDir) -> Option<Self> {
        answer::read(&run.path().join(ELSEWHERE))
    }

    /// Refuses what only the machine of a run can do.
    pub(crate) fn refuse(run: &RunDir, typed: &str) -> Result<()> {
        let Some(Self { worker, .. }) = Self::of(run) else { return Ok(()) };
        Err(Error::new(format!("run {} is on the machine of worker {worker}", run.id()))
            .hint(format!("type it there: ralph {typed}")))
    }

    #[cfg(feature = "nats")]
    pub(super) fn write(&self, run: &RunDir) -> Result<()> {
        answer::write(&run.path().join(ELSEWHERE), self)
    }
}

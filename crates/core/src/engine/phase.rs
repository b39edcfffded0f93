//! Where in an iteration a run is.

use super::{
    event::{View, Why},
    outcome::Outcome,
    plan::Plan,
    seen::{claiming_file, standing_claim},
    trial::Trial,
};
use crate::{review::OpinionAbout, stories::Mode};

/// Where in an iteration the run is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Phase {
    Idle,
    Looked(View),
    InTurn,
    Judging(Judging),
    /// A commit was announced and not yet reported.
    Committing(Judging),
    /// The judge decides about what passed in the working tree.
    Trying(Trial),
    /// Files that judge are to be put back before the claim is judged again.
    Restoring(Judging),
    /// A reviewer is to be asked about what is claimed.
    Asking(Asking),
    /// It is being asked.
    InOpinion(Asking),
    /// The judge agreed: what the settings do after a commit is due.
    Delivering(Judging),
    /// A wait is due.
    Pausing(Pause),
    Waiting {
        until_ms: i64,
        why: Why,
    },
    /// A story is to become one for a person.
    HandingOver {
        story: String,
        reason: String,
    },
    Over(Outcome),
}

/// A wait that is due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pause {
    For(u64, Why),
    /// Until the service says that the quota is back, but no shorter than this.
    Quota {
        resets_at: i64,
        at_least_ms: u64,
    },
}

/// The work of a turn on its way through the gates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Judging {
    pub(super) said: Said,
    /// The turn handed a story over to be reviewed.
    pub(super) submitted: bool,
    /// What the turn was to do.
    pub(super) mode: Mode,
    pub(super) work: PendingWork,
    /// Gates before this one have been checked or did not apply.
    pub(super) next_gate: usize,
    pub(super) verdict: Verdict,
    /// There is a commit whose delivery waits for the judge.
    pub(super) delivers: bool,
}

/// A claim that a reviewer is asked about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Asking {
    pub(super) judging: Judging,
    pub(super) about: OpinionAbout,
    /// Answers that could not be read.
    pub(super) unheard: u32,
}

/// What the gates have said so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Verdict {
    #[default]
    Passed,
    /// The loop's own count says that there is more to do: the claim does not hold, the work does.
    Unfinished,
    /// Everything passed, and the agent is asked about what it did to the checks first.
    Questioned,
    Failed,
}

impl Judging {
    /// The same work, to be judged from the beginning.
    pub(super) fn afresh(self) -> Self {
        Self { next_gate: 0, verdict: Verdict::Passed, ..self }
    }

    /// Whether a gate has refused the work, or it does not count for now.
    pub(super) fn has_failed(self) -> bool {
        matches!(self.verdict, Verdict::Failed | Verdict::Questioned)
    }

    /// What the agent says that the loop's own count does not refute.
    pub(super) fn holds(self) -> Said {
        if self.verdict == Verdict::Unfinished { Said::Nothing } else { self.said }
    }
}

/// What the agent says about the task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Said {
    /// That there is more to do, or nothing.
    #[default]
    Nothing,
    /// That it is done.
    Done,
    /// The same by a file, which can be put aside when it is wrong.
    DoneByFile,
    /// That it cannot continue; whatever else it says.
    Blocked,
}

impl Said {
    /// What is claimed after a turn or a look at the directory.
    pub(super) fn of(plan: &Plan, claimed: bool, view: Option<&View>) -> Self {
        match view {
            Some(view) if claiming_file(plan, view).is_some() => Self::DoneByFile,
            Some(view) if standing_claim(plan, view) => Self::Done,
            _ if claimed => Self::Done,
            _ => Self::Nothing,
        }
    }

    /// Whether it is a claim that the gates verify.
    pub(super) fn is_claim(self) -> bool {
        match self {
            Self::Nothing | Self::Blocked => false,
            Self::Done | Self::DoneByFile => true,
        }
    }
}

/// What there is to commit when the gates have passed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum PendingWork {
    /// Nothing: the directory alone made the claim.
    #[default]
    None,
    /// What the turn did.
    Fresh,
    /// What the turn did, changed after the gates had passed: they decide for the second time.
    Changed,
}

impl super::State {
    /// Whether a turn has begun and not ended.
    pub fn is_in_turn(&self) -> bool {
        self.phase == Phase::InTurn
    }
}

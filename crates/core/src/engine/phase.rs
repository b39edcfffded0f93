//! Where in an iteration a run is.

use super::{
    event::{View, Why},
    outcome::Outcome,
};
use crate::stories::Mode;

/// Where in an iteration the run is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Phase {
    Idle,
    Looked(View),
    InTurn,
    Judging(Judging),
    /// A commit was announced and not yet reported.
    Committing(Judging),
    /// A wait is due.
    Pausing(Pause),
    Waiting {
        until_ms: i64,
        why: Why,
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
    pub(super) claimed: bool,
    /// What the turn was to do.
    pub(super) mode: Mode,
    pub(super) work: PendingWork,
    /// Gates before this one have been checked or did not apply.
    pub(super) next_gate: usize,
    pub(super) failed: bool,
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

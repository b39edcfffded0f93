//! What the gates said before the first iteration, so that no agent is blamed for what was broken already.
//!
//! Invariant: no gate is checked for this once a turn has begun, not even after a resume.

use super::{
    event::GateEnded,
    plan::{Gate, Plan, When},
    trial::is_only_for_judge,
};
use crate::verify::rules::Repeats;

/// What the gates said before the first iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// Gates before this one have been checked or do not apply.
    next: usize,
    /// A turn has begun.
    over: bool,
    failed: Vec<Failed>,
}

/// Whether a gate may be checked once more, in the working tree.
fn is_for_baseline(plan: &Plan, gate: &Gate) -> bool {
    gate.repeats == Repeats::Yes && !is_only_for_judge(plan, gate)
}

/// A gate that failed before the first iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Failed {
    gate: usize,
    /// It has passed since.
    mended: bool,
}

impl Baseline {
    /// The gate that is to be checked next, if any is. Only commands that judge turns: the others have nothing to say
    /// before there is one.
    pub(super) fn next(&self, plan: &Plan) -> Option<usize> {
        if self.over || !plan.baseline {
            return None;
        }
        (self.next..plan.gates.len()).find(|&gate| {
            let gate = &plan.gates[gate];
            let judges_turns = match gate.when {
                When::EveryTurn | When::ChangedOrClaimed => true,
                When::Claimed | When::SubmittedOrClaimed => false,
            };
            judges_turns && gate.check.is_command() && is_for_baseline(plan, gate)
        })
    }

    /// Whether a turn has begun.
    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    /// Takes in what a gate said before the first iteration.
    pub(super) fn take(&mut self, ended: &GateEnded) {
        if self.over {
            return;
        }
        self.next = ended.gate.saturating_add(1);
        if ended.failure.is_some() {
            self.failed.push(Failed { gate: ended.gate, mended: false });
        }
    }

    /// What a gate says with what a person changed since, on what the run starts from.
    pub(super) fn taken_again(&mut self, ended: &GateEnded) {
        self.failed.retain(|it| it.gate != ended.gate);
        if ended.failure.is_some() {
            self.failed.push(Failed { gate: ended.gate, mended: false });
        }
    }

    /// A turn begins.
    pub(super) fn close(&mut self) {
        self.over = true;
    }

    /// There are other gates: what the old ones said is of no use.
    pub(super) fn forget(&mut self) {
        *self = Self { over: self.over, ..Self::default() };
    }

    /// A gate was checked after a turn.
    pub(super) fn judged(&mut self, ended: &GateEnded) {
        if ended.failure.is_none() {
            self.failed.iter_mut().filter(|it| it.gate == ended.gate).for_each(|it| it.mended = true);
        }
    }

    /// Whether this gate failed before the first iteration and has not passed since.
    pub fn still_fails(&self, gate: usize) -> bool {
        self.failed.iter().any(|it| it.gate == gate && !it.mended)
    }

    /// The gates that failed before the first iteration, each with whether it has passed since.
    pub fn failed(&self) -> impl Iterator<Item = (usize, bool)> {
        self.failed.iter().map(|it| (it.gate, it.mended))
    }
}

//! What is still to be done when another process goes on with a run.

use super::{
    super::phase::{PendingWork, Phase},
    State,
};
use crate::engine::progress::Progress;

impl State {
    pub(super) fn resumed(&mut self) {
        let has_ended = self.ended.take().is_some();
        (self.stop, self.limited_turns) = (false, 0);
        self.crew.looked_at();
        self.person.go_on();
        self.judge_is_gone();
        self.opinion_resumed();
        self.forget_quota(has_ended);
        match &mut self.phase {
            // Killed between the verdict and its record: no one has seen it yet.
            Phase::Over(_) if !has_ended => {}
            Phase::Over(outcome) if !outcome.is_final() => {
                (self.phase, self.attempt) = (Phase::Idle, 1);
                // A person has looked at it.
                self.progress = Progress::default();
                self.blocks.looked_at();
            }
            // What was seen then may be different by now: a person has perhaps done what was missing.
            Phase::Looked(_) => self.phase = Phase::Idle,
            Phase::Judging(judging) if judging.work == PendingWork::None => self.phase = Phase::Idle,
            // No one knows what happened to the files meanwhile: every gate decides again.
            Phase::Judging(judging) => {
                *judging = judging.afresh();
                self.feedback.clear();
                self.verify_again();
            }
            Phase::Idle
            | Phase::InTurn
            | Phase::Committing(_)
            | Phase::Trying(_)
            | Phase::Restoring(_)
            | Phase::Asking(_)
            | Phase::InOpinion(_)
            | Phase::Delivering(_)
            | Phase::HandingOver { .. }
            | Phase::Pausing(_)
            | Phase::Waiting { .. }
            | Phase::Over(_) => {}
        }
    }
}

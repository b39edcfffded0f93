//! What a person decides between two processes of a run.

use super::{
    super::{edits::EditsTaken, phase::Phase, progress::Progress},
    State,
};
use crate::prompt::Feedback;

impl State {
    /// The next iteration, which is told this; what the directory claims does not count before it.
    pub(in crate::engine) fn send_back(&mut self, feedback: Feedback) {
        self.one_more();
        self.feedback = vec![feedback];
    }

    /// The next iteration; what the directory claims does not count before it.
    pub(in crate::engine) fn one_more(&mut self) {
        (self.phase, self.ended) = (Phase::Idle, None);
        (self.iteration, self.attempt) = (self.spent.begun.saturating_add(1), 1);
        self.refuted = true;
        self.progress = Progress::default();
    }

    /// What the old checks said is of no use where there are others.
    pub(super) fn edits_taken(&mut self, taken: &EditsTaken) {
        if !taken.checks_changed {
            return;
        }
        self.feedback.clear();
        self.addressed.clear();
        self.refuted = false;
        self.baseline.forget();
        self.judge.forget();
        self.progress = Progress::default();
        if let Phase::Judging(judging) = &mut self.phase {
            *judging = judging.afresh();
        }
    }
}

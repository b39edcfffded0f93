//! What follows from what a reviewer says.

use super::{
    super::{event::TurnEnded, outcome::Outcome, phase::Phase, plan::Cause},
    State,
};
use crate::{
    prompt::Feedback,
    review::{MAX_ASKED, prompt::AGAIN},
};

impl State {
    /// A reviewer came to the end of its turn: without a verdict it is asked once more.
    pub(super) fn reviewed(&mut self, turn: &TurnEnded) {
        self.limited_turns = 0;
        self.crew.worked();
        self.feedback.clear();
        let Some(verdict) = &turn.review else {
            self.unheard = self.unheard.saturating_add(1);
            if MAX_ASKED <= self.unheard {
                return self.give_up(Cause::Agent, "the reviewer gave no verdict that ralph can read");
            }
            self.feedback.push(Feedback::appended(AGAIN.to_owned()));
            self.attempt = self.attempt.saturating_add(1);
            self.phase = Phase::Idle;
            return;
        };
        if verdict.is_approval() {
            self.spent.passed = self.spent.passed.saturating_add(1);
            self.crew.was_green();
            self.phase = Phase::Over(Outcome::Done);
        } else {
            let reviewer = self.crew.worker().to_owned();
            self.give_up(Cause::Gate, &format!("{reviewer} {}", verdict.line()));
        }
    }
}

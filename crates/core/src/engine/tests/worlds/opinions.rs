//! What reviewers say in a world.

use ralph_agents::{Failure, FailureKind};

use super::*;
use crate::review::{LookAnswer, ReviewDecision};

impl World {
    pub(super) fn random_opinion(&mut self, about: OpinionAbout) -> OpinionEnded {
        let failed = |kind| TurnEnd::Failed(Failure { kind, message: "no".to_owned() });
        let end = match self.roll(12) {
            0 => failed(FailureKind::Transient),
            1 => failed(FailureKind::Overloaded),
            2 => TurnEnd::Paused { reason: None },
            3 => turn_end("spent"),
            _ => TurnEnd::Finished,
        };
        let verdict = [ReviewDecision::Approve, ReviewDecision::RequestChanges][self.roll(2) as usize];
        let verdict = ReviewVerdict { verdict, summary: None, comments: Vec::new() };
        let fixes = [Fixes::Task, Fixes::Check, Fixes::Unclear][self.roll(3) as usize];
        let is_heard = end == TurnEnd::Finished && 0 < self.roll(4);
        OpinionEnded {
            verdict: Some(verdict).filter(|_| is_heard && about != OpinionAbout::Look),
            look: Some(LookAnswer { fixes, reason: None })
                .filter(|_| is_heard && about == OpinionAbout::Look),
            meddled: self.roll(6) == 0,
            ..OpinionEnded::new(about, end)
        }
    }
}

//! What must hold of a world, worked out from its journal alone.

use super::*;
use crate::verify::finding::Finding;

impl World {
    /// Oracle: before the first turn all that is waited for is there, and nothing that was seen last
    /// stands against a turn.
    pub(super) fn may_start(&self) -> bool {
        let turns = self.journal.iter().filter(|event| matches!(event, Event::TurnEnded(_))).count();
        let seen = self.journal.iter().rev().find_map(|event| match event {
            Event::Looked(view) => Some(view),
            _ => None,
        });
        let Some(view) = seen else { return !self.plan.looks() };
        let is_there = |path: &String| view.files.contains(path);
        let waits = self.plan.pause_file.as_ref().is_some_and(is_there);
        !waits && (0 < turns || self.plan.awaits.iter().all(is_there))
    }

    /// Oracle: since the directory was last looked at or changed, every gate that counts has passed.
    pub(super) fn is_proven(&self) -> bool {
        let mut passed = vec![false; self.plan.gates.len()];
        for event in &self.journal {
            match event {
                Event::Looked(_) | Event::TurnEnded(_) => passed.fill(false),
                Event::GateEnded(ended) => passed[ended.gate] = ended.failure.is_none(),
                Event::OpinionEnded(ended) => {
                    if let OpinionAbout::Review { gate } = ended.about {
                        let is_approval = ended.verdict.as_ref().is_some_and(ReviewVerdict::is_approval);
                        passed[gate] = is_approval && !ended.meddled && ended.end == TurnEnd::Finished;
                    }
                }
                _ => {}
            }
        }
        // What no reviewer approved is for a person.
        let is_told = self.state.needs_person() && self.state.findings().iter().any(Finding::is_opinion);
        let gates = passed.into_iter().zip(&self.plan.gates);
        gates.into_iter().all(|(passed, gate)| passed || gate.check.is_review() && is_told)
    }

    /// Oracle: where the settings want a reviewer to say that the task is fixed, it did, or a person must look.
    pub(super) fn is_looked_at(&self) -> bool {
        let last = self.journal.iter().rev().find_map(|event| match event {
            Event::OpinionEnded(ended) if ended.about == OpinionAbout::Look => Some(ended.look.as_ref()),
            Event::LookForgone { .. } | Event::TurnEnded(_) => Some(None),
            _ => None,
        });
        let is_fine = last.flatten().is_some_and(|answer| answer.fixes == Fixes::Task);
        let is_wanted = self.plan.look == LookWhen::Always && self.plan.on_look == OnLook::Withhold;
        !is_wanted || is_fine || self.state.needs_person()
    }

    /// Oracle: the last turn said that it cannot continue, and no one has looked at the directory since.
    pub(super) fn is_blocked(&self) -> bool {
        let last =
            self.journal.iter().rev().find(|event| matches!(event, Event::Looked(_) | Event::TurnEnded(_)));
        matches!(last, Some(Event::TurnEnded(turn)) if turn.blocked.is_some() && turn.end == TurnEnd::Finished)
    }

    /// Oracle: a turn that endangered the run is its last one, and the run says why.
    pub(super) fn is_safe(&self, outcome: &Outcome) -> bool {
        let mut ends = self.journal.iter().rev().filter_map(|event| match event {
            Event::TurnEnded(ended) => Some(&ended.end),
            _ => None,
        });
        let last = ends.next();
        let is_unsafe = |end: &&TurnEnd| matches!(end, TurnEnd::Tampered { .. } | TurnEnd::Unguarded { .. });
        let is_named = match last {
            Some(TurnEnd::Tampered { .. }) => matches!(outcome, Outcome::Stopped(Stop::Tampered { .. })),
            Some(TurnEnd::Unguarded { .. }) => matches!(outcome, Outcome::Stopped(Stop::Unguarded { .. })),
            _ => true,
        };
        is_named && !ends.any(|end| is_unsafe(&end))
    }

    /// Oracle: between two turns, and before the end, what a turn did to the task list was judged; and what was
    /// broken in the last turn keeps the run from being done.
    pub(super) fn is_judged(&self, outcome: &Outcome) -> bool {
        if !self.plan.judges_tasks() {
            return true;
        }
        let (mut open, mut broken) = (false, false);
        for event in &self.journal {
            match event {
                Event::TurnStarted(_) if open => return false,
                Event::TurnStarted(_) => (open, broken) = (true, false),
                Event::TasksJudged(judged) => (open, broken) = (false, !judged.broken.is_empty()),
                // A list that is in order again without a turn, as the gates have seen.
                Event::Looked(_) => broken = false,
                _ => {}
            }
        }
        let is_done = *outcome == Outcome::Done;
        !open && (!is_done || !broken)
    }
}

//! What a loop counts itself: whether the plan file has tasks, and whether the agent says that all are done.

use super::State;
use crate::{
    claim::Claim,
    engine::{
        event::{TurnEnded, View},
        plan::Plan,
    },
};

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// The last turn said that the task is done.
    claimed: bool,
    /// The plan file has tasks.
    has_tasks: bool,
    /// It has had some since the run began.
    had_tasks: bool,
    last_turn: LastTurn,
}

/// Whether what the last turn did was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastTurn {
    #[default]
    Passed,
    /// What it noted in the plan file may be more than it did, and is not committed.
    Pending,
}

impl Counts {
    pub(super) fn looked(&mut self, view: &View) {
        self.has_tasks = view.plan.is_some_and(|plan| 0 < plan.tasks);
        self.had_tasks |= self.has_tasks;
    }

    pub(super) fn turn_ended(&mut self, turn: &TurnEnded) {
        self.claimed = turn.claimed;
        if let Some(view) = &turn.view {
            self.looked(view);
        }
    }

    pub(super) fn turn_started(&mut self) {
        self.last_turn = LastTurn::Pending;
    }

    pub(super) fn passed(&mut self) {
        self.last_turn = LastTurn::Passed;
    }

    /// Whether what the directory says is no more than notes of a turn that has not passed.
    pub(super) fn is_premature(self, plan: &Plan) -> bool {
        self.last_turn == LastTurn::Pending && plan.reads_plan_file()
    }

    /// Whether a turn that changes nothing says by that that nothing is left to do.
    pub(super) fn is_nothing_left(self, plan: &Plan) -> bool {
        self.has_tasks && plan.claims.contains(&Claim::NothingLeft)
    }
}

impl State {
    /// Whether the last turn said that the task is done.
    pub fn has_claimed(&self) -> bool {
        self.counts.claimed
    }

    /// Whether the plan file has had tasks since the run began.
    pub fn had_tasks(&self) -> bool {
        self.counts.had_tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{
        event::{Event, PlanView, Turn, TurnEnd},
        presets,
    };

    fn seen(tasks: Option<usize>) -> View {
        View { plan: tasks.map(|tasks| PlanView { tasks, open: 0 }), ..View::default() }
    }

    #[test]
    fn tasks_are_remembered_after_they_are_gone() {
        let plan = presets::build("plan.md", vec![]);
        let mut state = State::default();
        for (tasks, expected) in [(None, false), (Some(0), false), (Some(2), true), (Some(0), true)] {
            state.apply(&plan, &Event::Looked(seen(tasks)));
            assert_eq!(state.had_tasks(), expected, "{tasks:?}");
        }
    }

    #[test]
    fn the_last_turn_claims() {
        let plan = presets::run("DONE", vec![]);
        let mut state = State::default();
        assert!(!state.has_claimed());
        for claimed in [true, false] {
            state.apply(&plan, &Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }));
            let ended = TurnEnded { claimed, ..TurnEnded::new(TurnEnd::Finished) };
            state.apply(&plan, &Event::TurnEnded(Box::new(ended)));
            assert_eq!(state.has_claimed(), claimed);
        }
    }

    #[test]
    fn notes_of_a_turn_count_once_it_has_passed() {
        let plan = presets::build("plan.md", vec![]);
        let mut counts = Counts::default();
        assert!(!counts.is_premature(&plan));
        counts.turn_started();
        assert!(counts.is_premature(&plan));
        assert!(!counts.is_premature(&presets::run("DONE", vec![])), "it reads no plan file");
        counts.passed();
        assert!(!counts.is_premature(&plan));
    }
}

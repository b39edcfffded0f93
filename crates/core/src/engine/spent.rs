//! What a run has used. Sums stop at the largest number: a journal may be damaged, and agents report nonsense.

use ralph_agents::Usage;

use super::event::{TurnEnd, TurnEnded};
use crate::engine::budget::is_metered;

/// What the run has used so far, in all its processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tokens and dollars.
    pub usage: Usage,
    /// Of those, what the last iteration that began has used.
    pub iteration: Usage,
    /// The number of that iteration; 0 before the first.
    pub begun: u32,
    /// Turns that came to their end and did not say what they used.
    pub unmetered: u32,
    /// Time of turns, gates and waits.
    pub ms: u64,
    /// Time of waits for usage limits.
    pub quota_ms: u64,
    /// Turns that ended.
    pub turns: u32,
    /// Tool calls.
    pub tools: u64,
    /// Tool calls that failed.
    pub tool_errors: u64,
    /// Iterations that passed their gates.
    pub passed: u32,
    /// Commits that ralph made.
    pub commits: u32,
    /// Turns that there were only because the agent was asked about findings.
    pub asked: AskedTurns,
}

/// What questions have used; part of what the run has used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AskedTurns {
    /// How many.
    pub turns: u32,
    /// Their tokens and dollars.
    pub usage: Usage,
    /// Their time.
    pub ms: u64,
}

impl AskedTurns {
    /// Counts a turn.
    pub(super) fn take(&mut self, turn: &TurnEnded) {
        self.turns = self.turns.saturating_add(1);
        self.usage.add(turn.usage);
        self.ms = self.ms.saturating_add(turn.ms);
    }
}

impl Spent {
    /// Begins to count for an iteration. Not before its first turn starts: what the one before has used may end the run.
    pub(super) fn begin_turn(&mut self, iteration: u32) {
        if self.begun != iteration {
            (self.begun, self.iteration) = (iteration, Usage::default());
        }
    }

    /// Counts a turn.
    pub(super) fn take_turn(&mut self, turn: &TurnEnded) {
        self.turns = self.turns.saturating_add(1);
        self.tools = self.tools.saturating_add(turn.tools);
        self.tool_errors = self.tool_errors.saturating_add(turn.tool_errors);
        self.take_usage(turn.usage);
        let is_unmetered = turn.end == TurnEnd::Finished && !is_metered(&turn.usage);
        self.unmetered = self.unmetered.saturating_add(u32::from(is_unmetered));
        self.take_time(turn.ms);
    }

    /// Counts tokens and dollars.
    pub(super) fn take_usage(&mut self, usage: Usage) {
        self.usage.add(usage);
        self.iteration.add(usage);
    }

    /// Counts time of a turn, a gate or a wait.
    pub(super) fn take_time(&mut self, ms: u64) {
        self.ms = self.ms.saturating_add(ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_turn_that_came_to_its_end_can_be_unmetered() {
        let used = Usage { output: 1, ..Usage::default() };
        for (end, usage, expected) in [
            (TurnEnd::Finished, Usage::default(), 1),
            (TurnEnd::Finished, used, 0),
            (TurnEnd::Interrupted, Usage::default(), 0),
            (TurnEnd::Abandoned, used, 0),
        ] {
            let mut spent = Spent::default();
            spent.take_turn(&TurnEnded { usage, ..TurnEnded::new(end.clone()) });
            assert_eq!(spent.unmetered, expected, "{end:?}, {usage:?}");
        }
    }
}

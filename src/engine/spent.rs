//! What a run has used. Sums stop at the largest number: a journal may be damaged, and agents report nonsense.

use super::event::TurnEnded;
use crate::agent::Usage;

/// What the run has used so far, in all its processes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Tokens and dollars.
    pub usage: Usage,
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
}

impl Spent {
    /// Counts a turn.
    pub(super) fn take_turn(&mut self, turn: &TurnEnded) {
        self.turns = self.turns.saturating_add(1);
        self.tools = self.tools.saturating_add(turn.tools);
        self.tool_errors = self.tool_errors.saturating_add(turn.tool_errors);
        self.usage.add(turn.usage);
        self.take_time(turn.ms);
    }

    /// Counts time of a turn, a gate or a wait.
    pub(super) fn take_time(&mut self, ms: u64) {
        self.ms = self.ms.saturating_add(ms);
    }
}

//! What there is to see of progress: the files before and after a turn.

use ralph_core::engine::event::{Tree, Turn};

use super::Driver;

impl Driver {
    /// The files in short, where somebody wants to know whether they change.
    pub(super) fn tree(&mut self) -> Option<Tree> {
        let repository = self.repository.as_ref().filter(|_| self.ledger.run().plan.stuck_after.is_some())?;
        repository.tree(&mut self.supervisor).ok()
    }

    /// Says once that the next turn is told that nothing comes of the work.
    pub(super) fn warn_of_standstill(&mut self, turn: &Turn) {
        let is_again = self.ledger.run().memory.turn.as_ref();
        let is_again = is_again.is_some_and(|last| last.turn.iteration == turn.iteration);
        if let Some(what) = self.ledger.run().state.repeats().filter(|_| !is_again) {
            let text = format!("there is no progress: {what}; the agent is told to try something else");
            self.ledger.warn(text);
        }
    }
}

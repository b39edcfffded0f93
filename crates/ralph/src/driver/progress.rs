//! What there is to see of progress: the files before and after a turn.

use ralph_core::engine::event::{Tree, Turn};

use super::site::Site;
use crate::project::git::Git;

/// The repository whose files tell whether anything comes of the work, also where ralph does not commit; nothing
/// where nobody wants to know.
pub(super) struct Trees {
    repository: Option<Git>,
}

impl Trees {
    pub(super) fn new(repository: Option<Git>) -> Self {
        Self { repository }
    }

    /// The files in short.
    pub(super) fn now(&self, site: &mut Site) -> Option<Tree> {
        self.repository.as_ref()?.tree(&mut site.supervisor).ok()
    }
}

/// Says once that the next turn is told that nothing comes of the work.
pub(super) fn warn_of_standstill(site: &mut Site, turn: &Turn) {
    let last = site.run().memory.turn.as_ref();
    let is_again = last.is_some_and(|last| last.turn.iteration == turn.iteration);
    if let Some(what) = site.run().state.repeats().filter(|_| !is_again) {
        let text = format!("there is no progress: {what}; the agent is told so");
        site.ledger.warn(text);
    }
}

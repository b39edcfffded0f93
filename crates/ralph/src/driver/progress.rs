//! What there is to see of progress: the files before and after a turn.

use ralph_core::engine::event::{Tree, Turn};

use super::site::Site;
use crate::project::git::Git;

/// The repository whose files tell whether anything comes of the work, also where ralph does not commit.
pub(super) struct Trees {
    repository: Option<Git>,
    /// Whether a rule looks at them.
    watches: bool,
}

impl Trees {
    pub(super) fn new(repository: Option<Git>, watches: bool) -> Self {
        Self { repository, watches }
    }

    /// The repository that the project is in.
    pub(super) fn repository(&self) -> Option<&Git> {
        self.repository.as_ref()
    }

    /// The files in short; nothing where no one wants to know.
    pub(super) fn now(&self, site: &mut Site) -> Option<Tree> {
        self.repository().filter(|_| self.watches)?.tree(&mut site.supervisor).ok()
    }
}

/// Says once that the next turn is told that nothing comes of the work.
pub(super) fn warn_of_standstill(site: &mut Site, turn: &Turn) {
    let last = site.run().memory.turn.as_ref();
    let is_again = last.is_some_and(|last| last.turn.iteration == turn.iteration);
    if let Some(what) = site.run().state.repeats().filter(|_| !is_again) {
        let text = format!("there is no progress: {what}; ralph tells the agent");
        site.ledger.warn(text);
    }
}

//! What there is to see of progress: the files before and after a turn.

use ralph_core::engine::event::{Tree, Turn};

use super::site::Site;
use crate::project::git::{Git, TreeLook};

/// The repository whose files tell whether anything comes of the work, also where ralph does not commit.
///
/// Invariant: a look serves the commit and the turn that follow at once, and nothing else.
pub(super) struct Trees {
    repository: Option<Git>,
    /// Whether a rule looks at them.
    watches: bool,
    /// What the files are like, as long as nothing has run since that is known.
    last: Option<TreeLook>,
}

impl Trees {
    pub(super) fn new(repository: Option<Git>, watches: bool) -> Self {
        Self { repository, watches, last: None }
    }

    /// The repository that the project is in.
    pub(super) fn repository(&self) -> Option<&Git> {
        self.repository.as_ref()
    }

    /// The files in short before a turn; nothing where no one wants to know. Looks only where it is not known what a commit
    /// left, as where a hook may have changed them.
    pub(super) fn before_turn(&mut self, site: &mut Site, head: Option<&String>) -> Option<Tree> {
        let known = self.take().filter(|known| self.watches && known.head.as_ref() == head);
        known.or_else(|| self.look(site)).map(|look| look.tree())
    }

    /// The same after it; the look is kept for a commit that follows.
    pub(super) fn after_turn(&mut self, site: &mut Site) -> Option<Tree> {
        self.last = self.look(site);
        self.last.as_ref().map(TreeLook::tree)
    }

    /// What the files are like after a commit.
    pub(super) fn keep(&mut self, look: Option<TreeLook>) {
        self.last = look;
    }

    /// The last look, if nothing has run since.
    pub(super) fn take(&mut self) -> Option<TreeLook> {
        self.last.take()
    }

    /// Something is about to run.
    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    fn look(&self, site: &mut Site) -> Option<TreeLook> {
        self.repository().filter(|_| self.watches)?.look(&mut site.supervisor).ok()
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

//! The seam behind which logs are kept: a file on one machine, a server for many.

use super::step::{ItemEntry, ItemStep};

/// The logs of all items of a fleet.
///
/// An append names the last entry that its author has seen, no matter who wrote it. It is stored only if that is still
/// the last one: of any number of writers that saw the same, one succeeds. That one rule is the claim, the fencing, the
/// cancelling and the "exactly once".
pub trait Ledger {
    /// Why a log cannot be reached.
    type Error;

    /// The log of an item, oldest first.
    ///
    /// # Errors
    ///
    /// The log cannot be reached.
    fn read(&self, item: &str) -> Result<Vec<ItemEntry>, Self::Error>;

    /// Appends one step if `after` is still the number of the log's last entry.
    ///
    /// # Errors
    ///
    /// The log cannot be reached; no one knows whether the step was stored.
    fn append(&mut self, item: &str, who: &str, step: ItemStep, after: u64) -> Result<Stored, Self::Error>;
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is in the log, with this number.
    At(u64),
    /// Another writer was faster: the log must be read again.
    Overtaken,
}

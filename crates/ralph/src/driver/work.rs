//! Judges a claim by whether any work stands behind it.

use ralph_core::{engine::plan::NoWork, session::NO_WORK};

use super::ledger::Ledger;

/// What the agent is told; nothing if the claim stands.
pub(super) fn judge(ledger: &mut Ledger, is_enough: bool, otherwise: NoWork) -> Option<String> {
    match otherwise {
        _ if is_enough => None,
        NoWork::Reject => Some(NO_WORK.to_owned()),
        NoWork::Accept => None,
        NoWork::Warn => {
            ledger
                .warn("the promise was made without any work, and accepted as the loop was told".to_owned());
            None
        }
    }
}

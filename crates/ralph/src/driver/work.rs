//! Judges a claim by whether any work stands behind it.

use ralph_core::{engine::plan::NoWork, gate_failure::GateFailure, session::NO_WORK};

use super::ledger::Ledger;

/// Why the claim does not count; nothing if it does.
pub(super) fn judge(ledger: &mut Ledger, is_enough: bool, otherwise: NoWork) -> Option<GateFailure> {
    match otherwise {
        _ if is_enough => None,
        NoWork::Reject => Some(GateFailure::refused(NO_WORK.to_owned())),
        NoWork::Accept => None,
        NoWork::Warn => {
            ledger.warn(
                "the promise was made without any work, and accepted because of --on-promise-no-work"
                    .to_owned(),
            );
            None
        }
    }
}

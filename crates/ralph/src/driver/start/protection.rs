//! What keeps the agent from doing harm, and what a person is told when that is little.

use ralph_agents::Permissions;
use ralph_core::setup::Setup;
use ralph_sys::error::Result;

use crate::{
    driver::{hooking::is_guarded, ledger::Ledger},
    settings::guard,
};

/// A list of rules that cannot be read would have the guard refuse everything. Says what is odd about it.
pub(super) fn check_rules(setup: &Setup) -> Result<Vec<String>> {
    if !is_guarded(setup) {
        return Ok(Vec::new());
    }
    let mut warnings = guard::load(&setup.project, &setup.project)?.warnings;
    warnings.extend(guard::ignored_list(&setup.project));
    Ok(warnings)
}

/// Says what is missing.
pub(super) fn warn(ledger: &mut Ledger, setup: &Setup) {
    if !setup.sandbox.level().contains() && setup.agent.permissions == Permissions::Skip {
        ledger.warn(if is_guarded(setup) {
            "the agent is not sandboxed; the guard blocks dangerous commands but is not a security boundary; to contain it: --sandbox"
                .to_owned()
        } else {
            "the agent is not sandboxed, and its own permission rules are switched off; to contain it: --sandbox"
                .to_owned()
        });
    }
}

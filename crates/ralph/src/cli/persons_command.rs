//! Commands that are for the person who judges a run: no process of a run may type them.

use std::env;

use ralph_sys::{
    error::{Error, Result},
    process::{ancestry, guardian::RUN_VARIABLE, variable},
};

use crate::journal::tries;

/// Refuses a command that a process of a run types; that it tried is left for the run to find.
pub(super) fn refuse_inside_run(command: &str) -> Result<()> {
    let own = env::var(RUN_VARIABLE).ok();
    let mut inherited = ancestry().into_iter().filter_map(|pid| variable(pid, RUN_VARIABLE));
    // A process that takes the variable away is still the child of one that has it.
    let Some(run) = own.or_else(|| inherited.next()).filter(|run| !run.is_empty()) else { return Ok(()) };
    // Where nothing can be written it is still refused.
    let _ = tries::leave(&run, command);
    Err(Error::new(format!("`ralph {command}` is for a person, and this is inside run {run}"))
        .hint("type it in a terminal of your own"))
}

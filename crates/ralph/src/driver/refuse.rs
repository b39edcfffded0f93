//! Runs that cannot begin or be resumed, and why.

use std::path::PathBuf;

use ralph_core::{
    engine::{
        Action, Run,
        deadline::closed,
        entry::Entry,
        event::Event,
        exhausted,
        outcome::Outcome,
        plan::{Limits, Plan},
    },
    setup::Setup,
};
use ralph_sys::error::{Error, Result};

use crate::journal::{self, local_time, run_dir::RunDir};

/// A run that is complete has nothing left to do.
pub(super) fn refuse_final(known: &Run, run: &RunDir) -> Result<()> {
    if known.state.is_done_with_findings() {
        let id = run.id();
        return Err(Error::new(format!(
            "run {id} is complete as far as the checks go, and a person must decide"
        ))
        .hint(format!("take it as it is: ralph accept {id}"))
        .hint(format!("send it back: ralph reject {id} \"why\"")));
    }
    if known.state.outcome().is_some_and(Outcome::is_final) {
        return Err(Error::new(format!("run {} is complete; there is nothing to resume", run.id())));
    }
    Ok(())
}

/// Only the agent itself can continue its conversation.
pub(super) fn refuse_conversation(known: &Run, run: &RunDir) -> Result<()> {
    if known.started.setup.session.as_ref().is_some_and(|session| session.id.is_some()) {
        return Err(Error::new(format!("run {} lives inside a conversation with an agent", run.id()))
            .hint("start it again there: /ralph-loop"));
    }
    Ok(())
}

/// A run that is at a limit ends again at once unless the limit is raised.
pub(super) fn refuse_exhausted(known: &Run, limits: Limits, run: &RunDir) -> Result<()> {
    if known.state.outcome().is_none() {
        // It was killed before it could say so; now it does.
        return Ok(());
    }
    let mut resumed = known.clone();
    resumed.apply(&Entry { at: journal::now(), event: Event::RunResumed { pid: 0, limits } });
    let Run { plan, state, .. } = &resumed;
    let now = journal::now();
    let limit = match resumed.next(now) {
        Action::Finish(Outcome::Exhausted { limit }) => limit,
        // It looks first, and then ends for the same reason.
        Action::Look if matches!(known.state.outcome(), Some(Outcome::Exhausted { .. })) => {
            let closed = || closed(plan, state, now.as_millisecond());
            let Some(limit) = exhausted(plan, state).or_else(closed) else { return Ok(()) };
            limit
        }
        _ => return Ok(()),
    };
    Err(Error::new(format!("the run is at its limit of {}", limit.name())).hint(format!(
        "raise it: ralph resume {} {}",
        run.id(),
        limit.raised(plan, state.spent())
    )))
}

/// A run that was to end before it begins does nothing.
pub(super) fn refuse_late(plan: &Plan) -> Result<()> {
    let now = journal::now();
    match plan.limits.until_ms.filter(|until_ms| *until_ms <= now.as_millisecond()) {
        Some(until_ms) => Err(Error::new(format!(
            "the run was to end at {}, which has passed",
            local_time::shown(until_ms)
        ))
        .hint("name a later moment: --until 07:00 means the next 07:00")),
        None => Ok(()),
    }
}

/// The record is text, so the names in it must be.
pub(super) fn check_names(setup: &Setup) -> Result<()> {
    let names = std::iter::once(setup.project.as_path())
        .chain(setup.prompt.path())
        .chain(setup.settings.keys().map(PathBuf::as_path));
    match names.into_iter().find(|path| path.to_str().is_none()) {
        Some(path) => Err(Error::new(format!("`{}` is not a name in UTF-8", path.display()))
            .hint("rename it, or call it by a link with another name")),
        None => Ok(()),
    }
}

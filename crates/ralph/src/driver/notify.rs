//! Tells the user's own program when a run ends, waits, or needs a person.

use std::time::Duration;

use ralph_core::engine::{Run, State, outcome::Outcome};
use ralph_sys::{
    calls::{refusal, succeeded},
    process::{Sink, Spec},
    watch,
};
use serde_json::json;

use super::site::Site;
use crate::report::summary;

/// A notification is a moment's work; a program that hangs must not hold the night.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(30);
/// As much as is kept of what the program complains about.
const MAX_OUTPUT_LEN: usize = 4096;

/// Why a person may want to know.
#[derive(Clone, Copy, Debug)]
pub(super) enum NotifyReason {
    Done,
    Failed,
    Limit,
    Waiting,
    NeedsPerson,
}

impl NotifyReason {
    /// What the end of a run is an occasion for; a user who ended it knows.
    pub(super) fn of(outcome: &Outcome, state: &State) -> Option<Self> {
        match outcome {
            Outcome::Done if state.needs_person() => Some(Self::NeedsPerson),
            Outcome::Done => Some(Self::Done),
            Outcome::Stopped(_) => Some(Self::NeedsPerson),
            Outcome::Exhausted { .. } => Some(Self::Limit),
            Outcome::Unready { .. } | Outcome::GaveUp { .. } => Some(Self::Failed),
            Outcome::Interrupted => None,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Limit => "limit",
            Self::Waiting => "waiting",
            Self::NeedsPerson => "needs_person",
        }
    }
}

/// Runs the program of the settings, with what happened as JSON on its standard input.
pub(super) fn notify(site: &mut Site, occasion: NotifyReason, text: &str, exit_code: Option<u8>) {
    let Some(command) = site.setup.notify.clone() else { return };
    let Run { plan, state, memory, .. } = site.run();
    let spent = state.spent();
    let event = json!({
        "event": occasion.word(),
        "run": site.dir.id(),
        "mode": plan.preset,
        "project": site.setup.project,
        "text": text,
        "exit_code": exit_code,
        "iteration": memory.turn.as_ref().map(|last| last.turn.iteration),
        "cost_usd": spent.usage.cost_usd,
        "ms": spent.ms,
        "commits": spent.commits,
    });
    let spec = Spec::shell(&command, &site.setup.project)
        .input(format!("{event}\n"))
        .prints(Sink::Null, Sink::Pipe { copy: None })
        .within(NOTIFY_TIMEOUT);
    let problem = match site.supervisor.capture(spec, MAX_OUTPUT_LEN) {
        Ok(captured) if succeeded(&captured) => return,
        Ok(captured) if captured.ended.cause == Some(watch::Cause::Timeout) => {
            format!("it took more than {} s", NOTIFY_TIMEOUT.as_secs())
        }
        Ok(captured) => refusal(&captured),
        Err(error) => error.to_string(),
    };
    let text = format!("the notify command failed: {problem}");
    match exit_code {
        // The record is closed, and may belong to another process by now.
        Some(_) => site.ledger.show_warning(text),
        None => site.ledger.warn(text),
    }
}

/// Tells how the run ended.
pub(super) fn notify_end(site: &mut Site, outcome: &Outcome, exit_code: u8) {
    let Run { plan, state, .. } = site.run();
    let text = [vec![summary::outcome(outcome, plan, state)], summary::findings(state)].concat().join("; ");
    if let Some(occasion) = NotifyReason::of(outcome, state) {
        notify(site, occasion, &text, Some(exit_code));
    }
}

//! What a loop that starts its agent again and again says about that, for the terminal and for the bus.

use crate::engine::{
    Action, State, Wait, decide,
    event::{TurnEnd, TurnEnded, Why},
    outcome::{Exhausted, Outcome},
    plan::{OnFailure, Plan},
};

/// Something to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub weight: Weight,
    /// What there is to say.
    pub text: String,
}

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// As expected.
    Info,
    /// Not as expected; the loop goes on.
    Warning,
    /// The loop has ended without its end.
    Error,
}

impl Weight {
    /// The type of such a message.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
        }
    }
}

/// What follows from the end of a turn, in a loop that a failing agent does not end. `state` has taken it in.
pub fn of_turn(plan: &Plan, state: &State, turn: &TurnEnded) -> Option<Note> {
    if plan.failures.agent != OnFailure::Ignore {
        return None;
    }
    let (weight, how) = match (&turn.end, turn.code) {
        (TurnEnd::Finished, _) => (Weight::Info, "Agent exited with code 0, but it is not done".to_owned()),
        (TurnEnd::Failed(_), Some(code)) if code != 0 => {
            (Weight::Warning, format!("Agent failed with exit code {code}"))
        }
        (TurnEnd::Failed(failure), _) => (Weight::Warning, format!("Agent failed: {}", failure.message)),
        (
            TurnEnd::Paused { .. }
            | TurnEnd::OverBudget { .. }
            | TurnEnd::Unguarded { .. }
            | TurnEnd::Interrupted
            | TurnEnd::Abandoned,
            _,
        ) => return None,
    };
    let goes_on = match decide(plan, state) {
        Action::Look | Action::RunTurn(_) | Action::AwaitFiles(_) => true,
        Action::StartWait(Wait::For(_, why)) => why == Why::Rest,
        Action::StartWait(Wait::ForQuota { .. })
        | Action::WaitUntil(_)
        | Action::AbandonTurn
        | Action::RunBaseline(_)
        | Action::RunGate(_)
        | Action::JudgeTasks
        | Action::Commit
        | Action::Finish(_) => false,
    };
    let (next, of) = (state.position().0, plan.limits.iterations);
    match (goes_on, weight) {
        (true, _) if next <= of => {
            Some(Note { weight, text: format!("{how}, restarting (attempt {next}/{of})") })
        }
        // The end of the loop says the rest.
        (true, _) | (false, Weight::Warning) => Some(Note { weight, text: how }),
        (false, Weight::Info | Weight::Error) => None,
    }
}

/// How such a loop ended; nothing when it is done, which others say.
pub fn of_end(plan: &Plan, outcome: &Outcome) -> Option<Note> {
    let (weight, text) = match outcome {
        Outcome::Done => return None,
        Outcome::Exhausted { limit: Exhausted::Iterations } => {
            (Weight::Error, format!("Attempt {}: Max restarts exceeded, stopping", plan.limits.iterations))
        }
        Outcome::Exhausted { limit } => {
            (Weight::Error, format!("The limit of {} is reached, stopping", limit.name()))
        }
        Outcome::Paused { reason } => {
            (Weight::Info, format!("Wait-without-restart signal detected: {reason}"))
        }
        Outcome::Interrupted => (Weight::Info, "Stopped by a signal".to_owned()),
        Outcome::Unready { reason } => (Weight::Error, reason.clone()),
        Outcome::GaveUp { reason, .. } => (Weight::Error, format!("Gave up: {reason}")),
    };
    Some(Note { weight, text })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{
            event::{Event, Turn, View},
            presets,
        },
        stories::Mode,
    };
    use ralph_agents::{Failure, FailureKind, Usage};

    #[track_caller]
    fn check(
        plan: &Plan,
        iteration: u32,
        end: TurnEnd,
        code: Option<i32>,
        files: &[&str],
        expected: Option<&str>,
    ) {
        let mut state = State::default();
        let turn = Turn { iteration, attempt: 1, mode: Mode::Work, ..Turn::default() };
        state.apply(plan, &Event::TurnStarted(turn));
        let turn = TurnEnded {
            end,
            claimed: false,
            view: Some(View {
                files: files.iter().map(|file| (*file).to_owned()).collect(),
                ..View::default()
            }),
            code,
            ms: 0,
            usage: Usage::default(),
            tools: 0,
            tool_errors: 0,
            leftovers: vec![],
            denials: vec![],
            session: None,
            hooks: None,
            tree: None,
        };
        state.apply(plan, &Event::TurnEnded(Box::new(turn.clone())));
        let note = of_turn(plan, &state, &turn);
        assert_eq!(note.map(|note| format!("{}: {}", note.weight.kind(), note.text)).as_deref(), expected);
    }

    #[test]
    fn every_attempt_is_counted() {
        let task = presets::task("DONE", "WAIT", vec![]);
        let failed = |message: &str| {
            TurnEnd::Failed(Failure { kind: FailureKind::Transient, message: message.to_owned() })
        };
        let restarting = "WARNING: Agent failed with exit code 1, restarting (attempt 2/100)";
        check(&task, 1, failed("x"), Some(1), &[], Some(restarting));
        let idle = "WARNING: Agent failed: printed nothing for 5m, restarting (attempt 8/100)";
        check(&task, 7, failed("printed nothing for 5m"), None, &[], Some(idle));
        let again = "INFO: Agent exited with code 0, but it is not done, restarting (attempt 3/100)";
        check(&task, 2, TurnEnd::Finished, Some(0), &[], Some(again));
        check(&task, 100, failed("x"), Some(1), &[], Some("WARNING: Agent failed with exit code 1"));
        check(&task, 1, failed("x"), Some(1), &["DONE"], Some("WARNING: Agent failed with exit code 1"));
        check(&task, 1, TurnEnd::Finished, Some(0), &["DONE"], None);
        check(&task, 1, TurnEnd::Paused { reason: None }, Some(42), &[], None);
        // Other loops have other words.
        check(&presets::run("DONE", vec![]), 1, failed("x"), Some(1), &[], None);
        let end = of_end(&task, &Outcome::Exhausted { limit: Exhausted::Iterations }).expect("words");
        assert_eq!((end.weight, &*end.text), (Weight::Error, "Attempt 100: Max restarts exceeded, stopping"));
    }
}

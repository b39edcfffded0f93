//! What a loop that starts its agent again and again says about that, for the terminal and for the bus.

use crate::engine::{
    Action, State, Wait, decide,
    event::{TurnEnd, TurnEnded, Why},
    outcome::{Exhausted, Outcome},
    plan::{OnFailure, Plan},
    stop::Stop,
};

/// Something to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How much it matters.
    pub weight: NoteSeverity,
    /// What there is to say.
    pub text: String,
}

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteSeverity {
    /// As expected.
    Info,
    /// Not as expected; the loop goes on.
    Warning,
    /// The loop has ended without its end.
    Error,
}

impl NoteSeverity {
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
        (TurnEnd::Finished, _) => {
            (NoteSeverity::Info, "Agent exited with code 0, but it is not done".to_owned())
        }
        (TurnEnd::Failed(_), Some(code)) if code != 0 => {
            (NoteSeverity::Warning, format!("Agent failed with exit code {code}"))
        }
        (TurnEnd::Failed(failure), _) => {
            (NoteSeverity::Warning, format!("Agent failed: {}", failure.message))
        }
        (
            TurnEnd::Paused { .. }
            | TurnEnd::OverBudget { .. }
            | TurnEnd::Tampered { .. }
            | TurnEnd::Unguarded { .. }
            | TurnEnd::Interrupted
            | TurnEnd::Abandoned,
            _,
        ) => return None,
    };
    let goes_on = match decide(plan, state) {
        Action::Look | Action::RunTurn(_) | Action::AwaitFiles(_) | Action::Hold => true,
        Action::StartWait(Wait::For(_, why)) => why == Why::Rest,
        Action::StartWait(Wait::ForQuota { .. })
        | Action::WaitUntil(_)
        | Action::AbandonTurn
        | Action::RunBaseline(_)
        | Action::RunGate(_)
        | Action::JudgeTasks
        | Action::PutAside(_)
        | Action::HandOver { .. }
        | Action::BringJudge
        | Action::RunInJudge(_)
        | Action::TakeBase
        | Action::Examine
        | Action::PutBack(_)
        | Action::AskOpinion(_)
        | Action::AbandonOpinion
        | Action::ForgoLook(_)
        | Action::Deliver
        | Action::Commit
        | Action::Finish(_) => false,
    };
    let (next, of) = (state.position().0, plan.limits.max_iterations);
    match (goes_on, weight) {
        (true, _) if next <= of => {
            Some(Note { weight, text: format!("{how}, restarting (attempt {next}/{of})") })
        }
        // The end of the loop says the rest.
        (true, _) | (false, NoteSeverity::Warning) => Some(Note { weight, text: how }),
        (false, NoteSeverity::Info | NoteSeverity::Error) => None,
    }
}

/// How such a loop ended; nothing when it is done, which others say.
pub fn of_end(plan: &Plan, outcome: &Outcome) -> Option<Note> {
    let (weight, text) = match outcome {
        Outcome::Done => return None,
        Outcome::Exhausted { limit: Exhausted::MaxIterations } => (
            NoteSeverity::Error,
            format!("Attempt {}: Max restarts exceeded, stopping", plan.limits.max_iterations),
        ),
        Outcome::Exhausted { limit } => {
            (NoteSeverity::Error, format!("The limit of {} is reached, stopping", limit.name()))
        }
        Outcome::Stopped(stop) => of_stop(stop),
        Outcome::Interrupted => (NoteSeverity::Info, "Stopped by a signal".to_owned()),
        Outcome::Unready { reason } => (NoteSeverity::Error, reason.clone()),
        Outcome::GaveUp { reason, .. } => (NoteSeverity::Error, format!("Gave up: {reason}")),
    };
    Some(Note { weight, text })
}

fn of_stop(stop: &Stop) -> (NoteSeverity, String) {
    let reason = stop.reason();
    match stop {
        Stop::AgentWaits { .. } | Stop::Paused { .. } => {
            (NoteSeverity::Info, format!("Wait-without-restart signal detected: {reason}"))
        }
        Stop::Quota { .. } | Stop::NoAgentLeft { .. } | Stop::NoStory { .. } | Stop::Blocked { .. } => {
            (NoteSeverity::Warning, format!("Stopped: {reason}"))
        }
        Stop::Stuck(_)
        | Stop::Tampered { .. }
        | Stop::Unguarded { .. }
        | Stop::ProjectGone { .. }
        | Stop::NotJudged { .. }
        | Stop::OtherBranch { .. } => (NoteSeverity::Error, format!("Stopped: {reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{
            event::{Event, Turn, View},
            presets,
            stop::Standstill,
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
            review: None,
            undone: Vec::new(),
            untold: Vec::new(),
            blocked: None,
            reason: None,
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
            model: None,
            quota: Vec::new(),
            last_lines: Vec::new(),
            denials: vec![],
            session: None,
            hooks: None,
            tree: None,
            branch: None,
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
        // Its own words say more than a code that says that all is well.
        let polite = "WARNING: Agent failed: no quota, restarting (attempt 2/100)";
        check(&task, 1, failed("no quota"), Some(0), &[], Some(polite));
        let again = "INFO: Agent exited with code 0, but it is not done, restarting (attempt 3/100)";
        check(&task, 2, TurnEnd::Finished, Some(0), &[], Some(again));
        check(&task, 100, failed("x"), Some(1), &[], Some("WARNING: Agent failed with exit code 1"));
        check(&task, 1, failed("x"), Some(1), &["DONE"], Some("WARNING: Agent failed with exit code 1"));
        check(&task, 1, TurnEnd::Finished, Some(0), &["DONE"], None);
        check(&task, 1, TurnEnd::Paused { reason: None }, Some(42), &[], None);
        // Other loops have other words.
        check(&presets::run("DONE", vec![]), 1, failed("x"), Some(1), &[], None);
        let end = of_end(&task, &Outcome::Exhausted { limit: Exhausted::MaxIterations }).expect("words");
        assert_eq!(
            (end.weight, &*end.text),
            (NoteSeverity::Error, "Attempt 100: Max restarts exceeded, stopping")
        );
    }

    #[test]
    fn only_a_wait_is_called_one() {
        #[track_caller]
        fn check(stop: Stop, expected: &str) {
            let plan = presets::task("DONE", "WAIT", vec![]);
            let note = of_end(&plan, &Outcome::Stopped(stop)).expect("words");
            assert_eq!(format!("{}: {}", note.weight.kind(), note.text), expected);
        }
        let (reason, changed) = (|| "no access".to_owned(), || vec![".mcp.json".to_owned()]);
        check(
            Stop::AgentWaits { reason: Some(reason()), file: None },
            "INFO: Wait-without-restart signal detected: the agent waits: no access",
        );
        check(Stop::Paused { reason: reason() }, "INFO: Wait-without-restart signal detected: no access");
        check(
            Stop::Tampered { changed: changed() },
            "ERROR: Stopped: protected files were changed: .mcp.json",
        );
        check(
            Stop::Unguarded { changed: changed(), unjudged: vec![] },
            "ERROR: Stopped: the turn changed files that can remove ralph's guard: .mcp.json",
        );
        check(
            Stop::Stuck(Standstill { since: 2, gate: None, failure: None }),
            "ERROR: Stopped: no progress since iteration 2: the files, the guardrails and the task are as they were before, \
             even after ralph told the agent",
        );
        check(Stop::ProjectGone { project: "/p".into() }, "ERROR: Stopped: the project folder /p is gone");
        check(
            Stop::Quota { message: reason() },
            "WARNING: Stopped: the usage limit lasts longer than ralph may wait: no access",
        );
        check(Stop::NoStory { reason: reason() }, "WARNING: Stopped: no access");
        check(Stop::Blocked { reason: reason() }, "WARNING: Stopped: the agent is blocked: no access");
    }
}

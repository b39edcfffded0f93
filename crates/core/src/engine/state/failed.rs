//! What follows when the agent itself fails: it is tried again, waited for, or given up on.

use ralph_agents::{Failure, FailureKind};

use super::{
    super::{
        event::{TurnEnd, TurnEnded, Why},
        outcome::Outcome,
        phase::{Pause, Phase},
        plan::{Cause, OnFailure, Plan},
        roles::{AgentRole, TurnOf},
        stop::Stop,
    },
    State, pause,
};
use crate::engine::{budget, progress::Progress};

/// A quota that is refused this often without one finished turn between is not a wait, it is a wall.
const LIMITED_TURNS_IN_A_ROW: u32 = 20;

/// The longest rest before a retry.
const MAX_RETRY_DELAY_MS: u64 = 5 * 60 * 1000;

/// The longest rest before ralph asks whether a quota is back, where no one says when it will be.
const MAX_PROBE_MS: u64 = 60 * 60 * 1000;

impl State {
    pub(super) fn fail(&mut self, plan: &Plan, cause: Cause, reason: &str, retry_delay_ms: u64) {
        if cause == Cause::Gate && self.crew.was_red(&plan.roles) {
            // Who works from here on has not stood still yet.
            self.progress = Progress::default();
        }
        match plan.failures.of(cause) {
            OnFailure::Retry { retries } if retries < self.attempt => self.give_up(cause, reason),
            OnFailure::Retry { .. } => {
                self.attempt = self.attempt.saturating_add(1);
                self.phase = pause(retry_delay_ms, Why::Retry);
            }
            OnFailure::Ignore | OnFailure::Continue => self.onward(plan),
        }
    }

    pub(super) fn give_up(&mut self, cause: Cause, reason: &str) {
        self.phase = Phase::Over(Outcome::GaveUp { cause, reason: reason.to_owned() });
    }

    pub(super) fn turn_failed(&mut self, plan: &Plan, turn: &TurnEnded, failure: &Failure) {
        if self.is_stood_in_for(plan, failure) {
            return;
        }
        match failure.kind {
            FailureKind::Permanent => self.give_up(Cause::Agent, &failure.message),
            // The agent kept to a limit on cost, ours or the user's own. If it was the user's, the turn is judged as it is.
            FailureKind::AgentBudget => {
                match budget::reached(&plan.limits, &self.spent.usage, &self.spent.iteration) {
                    Some(limit) => self.phase = Phase::Over(Outcome::Exhausted { limit }),
                    None => self.judge(plan, turn),
                }
            }
            FailureKind::Limited { resets_at } => self.limited(plan, resets_at, &failure.message),
            FailureKind::Transient | FailureKind::Overloaded => {
                if plan.failures.agent == OnFailure::Ignore {
                    return self.judge(plan, turn);
                }
                let delay_ms = plan
                    .failures
                    .retry_delay_ms
                    .saturating_mul(patience(self.attempt, failure.kind))
                    .min(MAX_RETRY_DELAY_MS);
                self.fail(plan, Cause::Agent, &failure.message, delay_ms);
            }
        }
    }

    /// Whether another agent has the same attempt next, now or when the first of them is back.
    fn is_stood_in_for(&mut self, plan: &Plan, failure: &Failure) -> bool {
        let (roles, role) = (&plan.roles, AgentRole::from(self.mode));
        if roles.order(role, self.crew.step()).len() < 2 || !self.crew.failed(failure) {
            return false;
        }
        match self.crew.choose(roles, role, self.crew.at_ms) {
            Some(TurnOf::Agent(_)) => self.phase = Phase::Idle,
            // The agent that comes back first is this one, and there are rules for that.
            Some(TurnOf::NotBefore(_))
                if failure.kind == FailureKind::Overloaded && self.crew.is_first_back(roles, role) =>
            {
                self.crew.keep_worker();
                return false;
            }
            Some(TurnOf::NotBefore(back_ms)) => {
                let message = self.crew.excuses(roles, role);
                self.limited(plan, Some(back_ms.saturating_add(999) / 1000), &message);
            }
            Some(TurnOf::NoOne) | None => {
                let message = self.crew.excuses(roles, role);
                self.phase = Phase::Over(Outcome::Stopped(Stop::NoAgentLeft { message }));
            }
        }
        true
    }

    /// The quota is used up: no attempt and no iteration is.
    fn limited(&mut self, plan: &Plan, resets_at: Option<i64>, message: &str) {
        self.limited_turns = self.limited_turns.saturating_add(1);
        let has_patience =
            self.spent.quota_ms < plan.limits.max_wait_ms && self.limited_turns <= LIMITED_TURNS_IN_A_ROW;
        let delay = |times: u64| plan.failures.retry_delay_ms.saturating_mul(times);
        self.phase = match resets_at {
            _ if !has_patience => Phase::Over(Outcome::Stopped(Stop::Quota { message: message.to_owned() })),
            Some(resets_at) => {
                // A moment that has passed is a clock that differs; when it refuses again, it is something else.
                let again = self.limited_turns.saturating_sub(1);
                let at_least_ms = if again == 0 { 0 } else { delay(10 * doubled(again)) };
                Phase::Pausing(Pause::Quota { resets_at, at_least_ms: at_least_ms.min(MAX_RETRY_DELAY_MS) })
            }
            // No one says when, so ralph asks now and then; a refused request costs nothing.
            None => {
                let ms = delay(60 * doubled(self.limited_turns)).min(MAX_PROBE_MS);
                Phase::Pausing(Pause::For(ms, Why::UsageLimit))
            }
        };
    }
}

/// How many times the first delay: doubles with each attempt, and an overloaded service gets ten times more
/// than an agent that stumbled.
fn patience(attempt: u32, kind: FailureKind) -> u64 {
    match kind {
        FailureKind::Overloaded | FailureKind::Limited { .. } => 10 * doubled(attempt),
        FailureKind::Transient | FailureKind::AgentBudget | FailureKind::Permanent => doubled(attempt),
    }
}

/// 1, 2, 4, 8 and so on.
fn doubled(nth: u32) -> u64 {
    1_u64 << nth.saturating_sub(1).min(16)
}

/// Why a turn that ended so stops the run, whatever it claims.
pub(super) fn unsafe_end(end: &TurnEnd) -> Option<Stop> {
    match end {
        TurnEnd::Tampered { changed } => Some(Stop::Tampered { changed: changed.clone() }),
        TurnEnd::Unguarded { changed, unjudged } => {
            Some(Stop::Unguarded { changed: changed.clone(), unjudged: unjudged.clone() })
        }
        TurnEnd::Finished
        | TurnEnd::Failed(_)
        | TurnEnd::Paused { .. }
        | TurnEnd::OverBudget { .. }
        | TurnEnd::Interrupted
        | TurnEnd::Abandoned => None,
    }
}

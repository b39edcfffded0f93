//! What may still begin: nothing at or after the moment that the run is to end at, and nothing in a usage window of which
//! less is left than is to be left.
//!
//! Pure: the moment comes in as an argument. What has begun is not ended here, and what came to its end is judged and
//! committed however late it is.

use ralph_agents::QuotaWindow;

use super::{
    Action, State,
    outcome::{Exhausted, Outcome},
    plan::Plan,
};
use crate::review::OpinionAbout;

/// The action, or the end of the run where that would begin something too late. `now` is in milliseconds since 1970.
pub(super) fn keep_to(plan: &Plan, state: &State, action: Action, now: i64) -> Action {
    let begins_at = match &action {
        Action::AskOpinion(order) => return keep_opinion_to(plan, order.about, action, now),
        Action::RunTurn(_) | Action::RunBaseline(_) | Action::AwaitFiles(_) | Action::Hold => now,
        // After a wait there is a turn. One that comes too late is not waited for.
        Action::StartWait(wait) => wait.until(now, 0).0,
        Action::WaitUntil(until_ms) => now.max(*until_ms),
        Action::Look
        | Action::AbandonTurn
        | Action::JudgeTasks
        | Action::RunGate(_)
        | Action::BringJudge
        | Action::RunInJudge(_)
        | Action::TakeBase
        | Action::Examine
        | Action::PutBack(_)
        | Action::AbandonOpinion
        | Action::ForgoLook(_)
        | Action::Deliver
        | Action::PutAside(_)
        | Action::HandOver { .. }
        | Action::Commit
        | Action::Finish(_) => return action,
    };
    match closed(plan, state, begins_at) {
        Some(limit) => Action::Finish(state.without_answer(plan, limit)),
        None => action,
    }
}

/// The same for a reviewer. Whose quota is known is who worked, so only the end of the run counts.
fn keep_opinion_to(plan: &Plan, about: OpinionAbout, action: Action, now: i64) -> Action {
    if plan.limits.until_ms.is_none_or(|until| now < until) {
        return action;
    }
    match about {
        OpinionAbout::Review { .. } => Action::Finish(Outcome::Exhausted { limit: Exhausted::Until }),
        OpinionAbout::Look => Action::ForgoLook(Exhausted::Until.forgone()),
    }
}

/// The limit because of which nothing may begin at this moment, in milliseconds since 1970.
pub fn closed(plan: &Plan, state: &State, at: i64) -> Option<Exhausted> {
    if plan.limits.until_ms.is_some_and(|until| until <= at) {
        return Some(Exhausted::Until);
    }
    let is_over =
        |window: &&QuotaWindow| window.resets_at.is_some_and(|reset| reset.saturating_mul(1000) <= at);
    let counted = state.quota.iter().filter(|window| !is_over(window));
    is_spent(plan.limits.leave_quota, counted).then_some(Exhausted::LeaveQuota)
}

/// Whether no more is left of one of these windows than is to be left.
pub fn is_spent<'a>(leave_quota: Option<u32>, windows: impl IntoIterator<Item = &'a QuotaWindow>) -> bool {
    let Some(leave) = leave_quota else { return false };
    windows.into_iter().any(|window| 100 <= window.used.saturating_add(leave))
}

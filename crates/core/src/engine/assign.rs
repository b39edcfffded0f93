//! Who performs what was decided: pure, the moment comes in as an argument.

use super::{
    Action, State, Wait,
    outcome::Outcome,
    patience_left,
    plan::{Check, Plan},
    roles::TurnOf,
    stop::Stop,
};
use crate::review::OpinionAbout;

/// The action with who performs it, or the wait or the end where no agent can. `now` is in milliseconds since 1970.
pub(super) fn assign(plan: &Plan, state: &State, action: Action, now: i64) -> Action {
    match action {
        Action::RunTurn(mut order) => {
            let names = plan.roles.order(order.mode.into(), state.crew.step());
            match state.crew.choose(&plan.roles, order.mode.into(), now) {
                None => Action::RunTurn(order),
                Some(TurnOf::Agent(chosen)) => {
                    order.chosen = Some(chosen);
                    Action::RunTurn(order)
                }
                Some(TurnOf::NotBefore(back_ms)) => wait(plan, state, &names, back_ms),
                Some(TurnOf::NoOne) => no_agent_left(plan, state, &names),
            }
        }
        Action::AskOpinion(mut order) => {
            let names = plan.reviewers(order.about);
            match (state.crew.choose_of(&plan.roles, &names, now), order.about) {
                (Some(TurnOf::Agent(agent)), _) => {
                    order.chosen = Some(agent);
                    Action::AskOpinion(order)
                }
                (None, OpinionAbout::Review { .. }) => Action::AskOpinion(order),
                (None, OpinionAbout::Look) => Action::ForgoLook("no agent has the role review".to_owned()),
                (Some(TurnOf::NotBefore(_) | TurnOf::NoOne), OpinionAbout::Look) => {
                    Action::ForgoLook(state.crew.excuses_of(&plan.roles, &names))
                }
                (Some(TurnOf::NotBefore(back_ms)), OpinionAbout::Review { .. }) => {
                    wait(plan, state, &names, back_ms)
                }
                (Some(TurnOf::NoOne), OpinionAbout::Review { .. }) => no_agent_left(plan, state, &names),
            }
        }
        other => other,
    }
}

/// Waits for who is back first, as long as the run may wait.
fn wait(plan: &Plan, state: &State, names: &[&str], back_ms: i64) -> Action {
    match patience_left(plan, state) {
        0 => {
            let message = state.crew.excuses_of(&plan.roles, names);
            Action::Finish(Outcome::Stopped(Stop::Quota { message }))
        }
        at_most_ms => {
            let resets_at = back_ms.saturating_add(999) / 1000;
            Action::StartWait(Wait::ForQuota { resets_at, at_least_ms: 0, at_most_ms })
        }
    }
}

fn no_agent_left(plan: &Plan, state: &State, names: &[&str]) -> Action {
    let message = state.crew.excuses_of(&plan.roles, names);
    Action::Finish(Outcome::Stopped(Stop::NoAgentLeft { message }))
}

impl Plan {
    /// Who is asked about a claim, in the order in which they stand in for each other.
    pub(super) fn reviewers(&self, about: OpinionAbout) -> Vec<&str> {
        let names = match about {
            OpinionAbout::Review { gate } => match self.gates.get(gate).map(|gate| &gate.check) {
                Some(Check::Review { by, .. }) => Some(by),
                Some(_) | None => None,
            },
            OpinionAbout::Look => Some(&self.roles.review),
        };
        names.into_iter().flatten().map(String::as_str).collect()
    }
}

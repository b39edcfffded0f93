//! Who has the turn that is due, or what follows where nobody can have it.
//!
//! Pure: the moment comes in as an argument. What is known of the agents is folded from the record, so a resumed run
//! chooses as the first process would have done.

use super::{Action, State, Wait, outcome::Outcome, patience_left, plan::Plan, roles::TurnOf, stop::Stop};

/// The action with who performs it, or the wait or the end where nobody can. `now` is in milliseconds since 1970.
pub(super) fn assign(plan: &Plan, state: &State, action: Action, now: i64) -> Action {
    let Action::RunTurn(mut order) = action else { return action };
    let (role, crew) = (order.mode.into(), &state.crew);
    match crew.choose(&plan.roles, role, now) {
        None => Action::RunTurn(order),
        Some(TurnOf::Agent(chosen)) => {
            order.chosen = Some(chosen);
            Action::RunTurn(order)
        }
        Some(TurnOf::NotBefore(back_ms)) => match patience_left(plan, state) {
            0 => Action::Finish(Outcome::Stopped(Stop::Quota { message: crew.excuses(&plan.roles, role) })),
            at_most_ms => {
                let resets_at = back_ms.saturating_add(999) / 1000;
                Action::StartWait(Wait::ForQuota { resets_at, at_least_ms: 0, at_most_ms })
            }
        },
        Some(TurnOf::Nobody) => {
            Action::Finish(Outcome::Stopped(Stop::NobodyLeft { message: crew.excuses(&plan.roles, role) }))
        }
    }
}

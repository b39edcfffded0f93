//! What the files of a project say to the rules: that the task is done, that the agent waits, that something is
//! wrong.

use super::{
    event::{PlanView, TurnEnd, TurnEnded, View},
    plan::Plan,
    stop::Stop,
};
use crate::claim::Claim;

/// What the agent waits for after a turn, if it does.
pub(super) fn paused(plan: &Plan, turn: &TurnEnded) -> Option<Stop> {
    let file = turn.view.as_ref().and_then(|view| pause_file(plan, view));
    match &turn.end {
        TurnEnd::Paused { reason } => Some(Stop::AgentWaits { reason: reason.clone(), file }),
        _ => file.map(waits_by),
    }
}

/// Whether the files alone say that the agent waits.
pub(super) fn marked_as_paused(plan: &Plan, view: &View) -> Option<Stop> {
    pause_file(plan, view).map(waits_by)
}

fn waits_by(file: String) -> Stop {
    Stop::AgentWaits { reason: None, file: Some(file) }
}

/// The file that means that the agent waits, if it is there.
fn pause_file(plan: &Plan, view: &View) -> Option<String> {
    plan.pause_file.clone().filter(|path| view.files.contains(path))
}

/// A file that the agent should write and that is a folder.
pub(super) fn misplaced(plan: &Plan, view: &View) -> Option<String> {
    plan.claims.iter().find_map(|claim| match claim {
        Claim::File { path } if view.folders.contains(path) => Some(format!("{path} is a directory")),
        Claim::File { .. }
        | Claim::Tag { .. }
        | Claim::StoriesApproved
        | Claim::PlanSettled
        | Claim::NothingLeft
        | Claim::TurnEnd => None,
    })
}

impl Plan {
    /// Whether a file says that the task is done.
    pub fn is_claimed_by_file(&self, view: &View) -> bool {
        claiming_file(self, view).is_some()
    }
}

/// The file that says that the task is done, if it is there.
pub(super) fn claiming_file<'a>(plan: &'a Plan, view: &View) -> Option<&'a str> {
    plan.claims.iter().find_map(|claim| match claim {
        Claim::File { path } => view.files.contains(path).then_some(path.as_str()),
        Claim::Tag { .. }
        | Claim::StoriesApproved
        | Claim::PlanSettled
        | Claim::NothingLeft
        | Claim::TurnEnd => None,
    })
}

/// Whether the directory alone says that the task is done.
pub(super) fn standing_claim(plan: &Plan, view: &View) -> bool {
    plan.claims.iter().any(|claim| match claim {
        Claim::File { path } => view.files.contains(path),
        Claim::StoriesApproved => view.stories.as_ref().is_some_and(|stories| stories.all_approved),
        Claim::PlanSettled => view.plan.is_some_and(PlanView::is_settled),
        Claim::Tag { .. } | Claim::NothingLeft | Claim::TurnEnd => false,
    })
}

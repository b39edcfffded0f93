//! What the files of a project say to the rules: that the task is done, that the agent waits, that something is
//! wrong.

use super::{
    event::{TurnEnd, TurnEnded, View},
    plan::Plan,
};
use crate::claim::Claim;

/// Why a run stands still whose hooks have vanished, or could have.
pub(super) fn unguarded(changed: &[String]) -> String {
    if changed.is_empty() {
        return "the agent used tools, but ralph's hook that guards them was never called".to_owned();
    }
    format!("the turn changed what can take ralph's guard away: {}", changed.join(", "))
}

/// What the agent waits for, if it does.
pub(super) fn paused(plan: &Plan, turn: &TurnEnded) -> Option<String> {
    match &turn.end {
        TurnEnd::Paused { reason } => {
            Some(reason.clone().unwrap_or_else(|| "the agent waits for someone outside".to_owned()))
        }
        _ => turn.view.as_ref().and_then(|view| marked_as_paused(plan, view)),
    }
}

/// What the file says that means that the agent waits, if it is there.
pub(super) fn marked_as_paused(plan: &Plan, view: &View) -> Option<String> {
    let path = plan.pause_file.as_ref().filter(|path| view.files.contains(path))?;
    Some(format!("the agent waits for someone outside: {path} says so"))
}

/// A file that the agent should write and that is a folder.
pub(super) fn misplaced(plan: &Plan, view: &View) -> Option<String> {
    plan.claims.iter().find_map(|claim| match claim {
        Claim::File { path } if view.folders.contains(path) => Some(format!("{path} is a directory")),
        Claim::File { .. } | Claim::Tag { .. } | Claim::StoriesApproved | Claim::TurnEnd => None,
    })
}

/// Whether the directory alone says that the task is done.
pub(super) fn standing_claim(plan: &Plan, view: &View) -> bool {
    plan.claims.iter().any(|claim| match claim {
        Claim::File { path } => view.files.contains(path),
        Claim::StoriesApproved => view.stories.as_ref().is_some_and(|stories| stories.all_approved),
        Claim::Tag { .. } | Claim::TurnEnd => false,
    })
}

//! What follows when the agent says that it cannot continue: a person has to look, perhaps after a second opinion.

use super::{
    super::{
        event::TurnEnded,
        outcome::Outcome,
        phase::Phase,
        plan::{OnBlocked, Plan, Work},
        stop::Stop,
    },
    State,
};
use crate::{fail_action::FailAction, prompt::Feedback};

/// What is known of agents that cannot continue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    /// What the last judged turn said.
    reason: Option<String>,
    /// Another turn is asked about it.
    doubted: Option<Doubt>,
    /// Stories that became ones for a person, each with the reason.
    handed_over: Vec<(String, String)>,
}

/// A second opinion that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Doubt {
    /// About this story, or about the task where there are none.
    story: Option<String>,
}

impl Blocks {
    /// A person has looked: what was said of the task may be different by now. Stories stay with the person.
    pub(super) fn looked_at(&mut self) {
        (self.reason, self.doubted) = (None, None);
    }
}

impl State {
    /// Takes in whether the turn says that it cannot continue.
    pub(super) fn hears_blocked(&mut self, turn: &TurnEnded) -> bool {
        self.blocks.reason.clone_from(&turn.blocked);
        if turn.blocked.is_none() {
            self.blocks.doubted = None;
        }
        turn.blocked.is_some()
    }

    /// The agent cannot continue, and its work is judged and committed.
    pub(super) fn is_blocked(&mut self, plan: &Plan) {
        let reason = self.blocks.reason.clone().unwrap_or_default();
        let doubt = Some(Doubt { story: self.story.clone() });
        let is_new = self.blocks.doubted != doubt;
        if plan.blocked == OnBlocked::Confirm && is_new && self.iteration < plan.limits.max_iterations {
            self.blocks.doubted = doubt;
            let prepended = FailAction::Prepend;
            self.feedback.push(Feedback { action: prepended, ..Feedback::appended(question(&reason)) });
            return self.onward(plan);
        }
        self.blocks.doubted = None;
        self.phase = match (plan.work, self.story.clone()) {
            (Work::Stories, Some(story)) => Phase::HandingOver { story, reason },
            (Work::Stories, None) | (Work::Prompt, _) => {
                Phase::Over(Outcome::Stopped(Stop::Blocked { reason }))
            }
        };
    }

    /// A story is one for a person from now on; the others are worked on.
    pub(super) fn story_handed_over(&mut self, plan: &Plan, story: &str, reason: &str) {
        self.blocks.handed_over.retain(|(known, _)| known != story);
        self.blocks.handed_over.push((story.to_owned(), reason.to_owned()));
        if matches!(self.phase, Phase::HandingOver { .. }) {
            self.onward(plan);
        }
    }

    /// Why the run stops when no story can be worked on.
    pub(in crate::engine) fn without_story(&self, reason: &str, for_people: &[String]) -> Stop {
        let open = self.blocks.handed_over.iter().filter(|(story, _)| for_people.contains(story));
        let lacks: Vec<String> = open.map(|(story, reason)| format!("{story}: {reason}")).collect();
        match lacks.as_slice() {
            [] => Stop::NoStory { reason: reason.to_owned() },
            lacks => Stop::Blocked { reason: lacks.join("; ") },
        }
    }
}

/// What the turn is told that is asked whether it is really so.
fn question(reason: &str) -> String {
    format!(
        "The last iteration said that it cannot continue: {reason}\nLook at that first, with fresh eyes. If there is an \
         honest way to continue, take it. If there is none, say again that you are blocked, and what you need."
    )
}

//! What reviewers are asked about a claim, and what they said about the last one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ReviewVerdict;

/// What a reviewer is asked about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum OpinionAbout {
    /// Whether the change is good as it is: a guardrail.
    Review {
        /// Which gate of the plan.
        gate: usize,
    },
    /// Whether it fixes the task, or only what checks it.
    Look,
}

/// What a claimed change fixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fixes {
    /// What the task asks for.
    Task,
    /// Only what checks it, or that instead of some of the task.
    Check,
    /// The reviewer cannot tell.
    Unclear,
}

/// Whether a change fixes the task, as a reviewer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LookAnswer {
    /// What it fixes.
    pub fixes: Fixes,
    /// Why, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

impl LookAnswer {
    /// After the reviewer's name, in a sentence without a full stop.
    pub fn words(&self) -> String {
        let what = match self.fixes {
            Fixes::Task => "says that the change fixes the task",
            Fixes::Check => "says that the change fixes the check and not the task",
            Fixes::Unclear => "cannot tell whether the change fixes the task or the check",
        };
        self.reason.as_ref().map_or_else(|| what.to_owned(), |reason| format!("{what}: {reason}"))
    }
}

/// What a reviewer said about the last claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// What it was asked.
    pub about: OpinionAbout,
    /// Who was asked, by name; nothing where no one could be.
    pub agent: Option<String>,
    /// What it said.
    pub said: OpinionSaid,
    /// How long its turn took.
    pub ms: u64,
}

/// What a reviewer said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpinionSaid {
    /// Whether the change is good as it is.
    Verdict(ReviewVerdict),
    /// What it fixes.
    Look(LookAnswer),
    /// Nothing that ralph can read, for this reason.
    Nothing(String),
}

impl Opinion {
    /// In one line, without a full stop.
    pub fn line(&self) -> String {
        let who = self.agent.as_deref().unwrap_or("the reviewer");
        match (&self.said, self.about) {
            (OpinionSaid::Verdict(verdict), _) => format!("review: {who} {}", verdict.line()),
            (OpinionSaid::Look(answer), _) => format!("look: {who} {}", answer.words()),
            (OpinionSaid::Nothing(why), OpinionAbout::Review { .. }) => format!("review: none: {why}"),
            (OpinionSaid::Nothing(why), OpinionAbout::Look) => format!("look: none: {why}"),
        }
    }

    /// What a receipt calls it.
    pub fn kind(&self) -> &'static str {
        match self.about {
            OpinionAbout::Review { .. } => "review",
            OpinionAbout::Look => "look",
        }
    }

    /// Whether the reviewer approves.
    pub fn is_approval(&self) -> bool {
        matches!(&self.said, OpinionSaid::Verdict(verdict) if verdict.is_approval())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_opinion_is_one_line() {
        let verdict =
            |words: &str| OpinionSaid::Verdict(super::super::verdict(words, "").expect("a verdict"));
        let look = |fixes, reason: Option<&str>| {
            OpinionSaid::Look(LookAnswer { fixes, reason: reason.map(str::to_owned) })
        };
        let nothing = || OpinionSaid::Nothing("it said nothing".to_owned());
        let (review, narrow) = (OpinionAbout::Review { gate: 0 }, OpinionAbout::Look);
        for (about, said, expected, kind, approves) in [
            (review, verdict(r#"{"verdict": "approve"}"#), "review: second approves", "review", true),
            (
                review,
                verdict(r#"{"verdict": "reject", "summary": "no"}"#),
                "review: second requests changes: no",
                "review",
                false,
            ),
            (review, nothing(), "review: none: it said nothing", "review", false),
            (
                narrow,
                look(Fixes::Task, None),
                "look: second says that the change fixes the task",
                "look",
                false,
            ),
            (
                narrow,
                look(Fixes::Check, Some("it skips a test")),
                "look: second says that the change fixes the check and not the task: it skips a test",
                "look",
                false,
            ),
            (
                narrow,
                look(Fixes::Unclear, None),
                "look: second cannot tell whether the change fixes the task or the check",
                "look",
                false,
            ),
            (narrow, nothing(), "look: none: it said nothing", "look", false),
        ] {
            let opinion = Opinion { about, agent: Some("second".to_owned()), said, ms: 0 };
            assert_eq!((opinion.line().as_str(), opinion.kind()), (expected, kind));
            assert_eq!(opinion.is_approval(), approves, "{expected}");
        }
    }
}

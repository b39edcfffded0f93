//! How turns end.

use ralph_agents::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::outcome::Exhausted;

/// What is said of a turn that has no end of its own.
pub const CUT_OFF: &str = "ralph was killed while it ran";

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum TurnEnd {
    /// The agent did what it does.
    Finished,
    /// The agent crashed, timed out, or said nothing at all.
    Failed(Failure),
    /// The agent waits for a person or for another process, and is not to be restarted.
    Paused {
        /// What it said about that.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
    },
    /// It used up a budget, and ralph ended it.
    OverBudget {
        /// Which one.
        limit: Exhausted,
    },
    /// It changed protected files that its sandbox cannot protect.
    Tampered {
        /// Those files, relative to the project.
        changed: Vec<String>,
    },
    /// The agent used tools and the hook that guards them did not run, or the turn changed files that can remove it.
    Unguarded {
        /// Those files, relative to the project.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        changed: Vec<String>,
        /// Calls that ran without a judgement: tool and id.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        unjudged: Vec<String>,
    },
    /// The user ended it.
    Interrupted,
    /// Ralph died while it ran.
    Abandoned,
}

impl TurnEnd {
    /// What went wrong with the agent itself, for people.
    pub fn problem(&self) -> Option<String> {
        Some(match self {
            Self::Finished => return None,
            Self::Failed(failure) => failure.message.clone(),
            Self::Paused { reason: Some(reason) } => format!("it waits: {reason}"),
            Self::Paused { reason: None } => "it waits for a person".to_owned(),
            Self::OverBudget { limit } => format!("it was ended at its limit of {}", limit.name()),
            Self::Tampered { changed } => format!("it changed protected files: {}", changed.join(", ")),
            Self::Unguarded { changed, .. } if !changed.is_empty() => {
                format!("it changed files that can remove ralph's guard: {}", changed.join(", "))
            }
            Self::Unguarded { unjudged, .. } if !unjudged.is_empty() => {
                format!("it used tools that ralph's guard has not checked: {}", unjudged.join(", "))
            }
            Self::Unguarded { .. } => "it used tools, and ralph's hook was never called".to_owned(),
            Self::Interrupted => "it was ended by the user".to_owned(),
            Self::Abandoned => CUT_OFF.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use ralph_agents::FailureKind;

    use super::*;

    #[test]
    fn problems_are_told_in_words() {
        let unguarded = |changed: &[&str], unjudged: &[&str]| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            TurnEnd::Unguarded { changed: names(changed), unjudged: names(unjudged) }
        };
        let failure = Failure { kind: FailureKind::Transient, message: "no network".to_owned() };
        for (end, expected) in [
            (TurnEnd::Failed(failure), "no network"),
            (TurnEnd::Paused { reason: Some("for a key".to_owned()) }, "it waits: for a key"),
            (TurnEnd::Paused { reason: None }, "it waits for a person"),
            (TurnEnd::OverBudget { limit: Exhausted::MaxCost }, "it was ended at its limit of cost"),
            (
                TurnEnd::Tampered { changed: vec!["a".to_owned(), "b".to_owned()] },
                "it changed protected files: a, b",
            ),
            (unguarded(&["a"], &["Bash"]), "it changed files that can remove ralph's guard: a"),
            (unguarded(&[], &["Bash"]), "it used tools that ralph's guard has not checked: Bash"),
            (unguarded(&[], &[]), "it used tools, and ralph's hook was never called"),
            (TurnEnd::Interrupted, "it was ended by the user"),
            (TurnEnd::Abandoned, CUT_OFF),
        ] {
            assert_eq!(end.problem().as_deref(), Some(expected));
        }
        assert_eq!(TurnEnd::Finished.problem(), None);
    }
}

//! How turns end.

use ralph_agents::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::outcome::Exhausted;

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

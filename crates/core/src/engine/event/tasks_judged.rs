//! What a turn did to the task list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stories::{DroppedCriterion, Undone};

/// What a turn did to the task list and to the files that it may not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TasksJudged {
    /// The run whose turn it was, if that run ended before it could be judged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run: Option<String>,
    /// What was not allowed, one sentence each; the next turn is told.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub broken: Vec<String>,
    /// What was put back.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub undone: Vec<Undone>,
    /// Stories whose submission was taken back because it did not pass its checks, or no one ran them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub taken_back: Vec<String>,
    /// Stories that ralph approved because there had been enough reviews.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub capped: Vec<String>,
    /// Acceptance criteria that were given up when a story was split: allowed, but shown.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub dropped: Vec<DroppedCriterion>,
    /// What a review changed beside the files of the loop: its approval does not count.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub review_changed: Vec<String>,
}

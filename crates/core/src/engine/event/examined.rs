//! What was found about a claim that the judge agrees with, and what ralph did about it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verify::{check_note::CheckNote, finding::Finding};

/// What was done to the judgement of what was claimed, all of it at once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examined {
    /// What a person would want to know before the claim counts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub findings: Vec<Finding>,
    /// What else was seen.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<CheckNote>,
    /// Where the difference of the changed checks is, relative to the folder of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub diff: Option<String>,
    /// How long it took, guardrails not included.
    pub ms: u64,
}

/// Files that judge, as they were when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PutBack {
    /// Relative to the top of the repository.
    pub files: Vec<String>,
    /// Those that could not be put back, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub failed: Vec<String>,
    /// Where what was there is kept, relative to the folder of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kept: Option<String>,
}

//! What a person changed between two processes of a run, as part of what the run starts from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GateEnded;

/// Claims are compared with this from here on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BaseMoved {
    /// A commit in the judge's own store; nothing where what judges was copied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
    /// The checks that the person changed.
    pub files: Vec<String>,
    /// What guardrails said with them on what the run starts from, in the judge.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub tests: Vec<GateEnded>,
    /// How long it took, without the guardrails.
    pub ms: u64,
}

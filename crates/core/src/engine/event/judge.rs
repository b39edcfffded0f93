//! What happens in the judge.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::GateEnded;
use crate::verify::caveat::Caveat;

/// The judge has what it decides about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeReady {
    /// The commit that is checked out there.
    pub commit: String,
    /// How long that took, preparation included.
    pub ms: u64,
    /// What weakens the judgement.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub caveats: Vec<Caveat>,
    /// What was installed there.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub prepared: Vec<PreparedStep>,
}

/// One step of preparation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreparedStep {
    /// What the shell ran.
    pub command: String,
    /// How long it took.
    pub ms: u64,
    /// Whether it worked.
    pub passed: bool,
}

/// Why the judge does not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JudgeFailure {
    /// The commit cannot be fetched: no one knows what it is.
    NotFetched,
    /// There is no place for it on this machine.
    NoPlace,
}

/// What a gate found in the judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeGateEnded {
    /// What it found.
    #[serde(flatten)]
    pub ended: GateEnded,
    /// What seems to be missing in the judge, if it failed there; one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub differs: Vec<String>,
}

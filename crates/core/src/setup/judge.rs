//! How the judge of a run is set up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verify::rules::{ChecksSetup, SeenAt};

/// How the judge of a run is set up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct JudgeSetup {
    /// The commands that prepare it; nothing means that they are detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Vec<String>>,
    /// More that survives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// Patterns of ignored files that are copied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub carry: Vec<String>,
    /// Where it is seen.
    pub at: SeenAt,
    /// What it may take on the disk, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_disk: Option<u64>,
    /// Why there is none, though the settings want one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_place: Option<String>,
    /// Which files are checks.
    #[serde(flatten)]
    pub checks: ChecksSetup,
}

//! What follows when a rule matches.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What follows when a rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The call must not run.
    Block,
    /// The call may run, and the user is told.
    Warn,
}

//! A run that an agent started for a part of its task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A run that an agent started for a part of its task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChildRun {
    /// Its id.
    pub run: String,
    /// What it does, in a few words.
    pub title: String,
}

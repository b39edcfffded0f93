//! A person said something to the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person said to the run while it was on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteSaid {
    /// Its number, from 1.
    pub note: u32,
    /// What the next turn is told.
    pub text: String,
    /// Every following turn is told, not only the next.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub keep: bool,
    /// The turn that was on its way was ended for it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub now: bool,
    /// Which request of a person it was; the run takes each once.
    pub request: u64,
}

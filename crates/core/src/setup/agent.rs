//! Who does the work, how it is told what to do, and what it costs.

use std::collections::BTreeMap;

use ralph_agents::Permissions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who does the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentSetup {
    /// The program, as the user wrote it.
    pub command: String,
    /// Its flags, split.
    pub flags: Vec<String>,
    /// More variables for its environment.
    pub env: BTreeMap<String, String>,
    /// How the prompt reaches it.
    pub prompt_via: PromptVia,
    /// Who decides what it may do.
    pub permissions: Permissions,
}

/// How the prompt reaches the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptVia {
    /// On standard input: no limit, no quoting.
    #[default]
    Stdin,
    /// As the last argument, at most 128 KiB on Linux.
    Argument,
}

impl PromptVia {
    /// Every way with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("stdin", Self::Stdin), ("argument", Self::Argument)];
}

/// What a model costs, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// Tokens in.
    pub input: f64,
    /// Tokens in that came from the cache; without it, they cost what the others do.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cached: Option<f64>,
    /// Tokens out.
    pub output: f64,
}

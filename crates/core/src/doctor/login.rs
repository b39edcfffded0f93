//! Whether an agent is logged in.

use std::path::PathBuf;

use serde::Serialize;

/// Whether an agent is logged in, as far as files and variables tell. What is secret is named, never shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state")]
pub enum Login {
    /// By a key in this variable.
    Key {
        /// Its name.
        variable: String,
    },
    /// By this file.
    File {
        /// Where it is.
        path: PathBuf,
    },
    /// In none of the ways that there are.
    Missing,
    /// No one can tell from outside.
    Unknown {
        /// Why not.
        why: String,
    },
}

impl Login {
    /// What to type to log in to an agent.
    pub fn command(agent: &str) -> &str {
        match agent {
            "claude" => "claude auth login",
            "codex" => "codex login",
            "amp" => "amp login",
            "opencode" => "opencode auth login",
            "copilot" => "copilot login",
            // They ask when they are started.
            other => other,
        }
    }
}

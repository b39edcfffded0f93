//! The issue that a run works on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An issue, as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IssueSetup {
    /// The repository that has it: `owner/name`.
    pub repository: String,
    /// Its number there.
    pub number: u64,
    /// Its title, in a harmless line.
    pub title: String,
    /// Where people read it.
    pub url: String,
    /// What the agent is told of it: harmless, and between marks. Never the user's own words.
    pub text: String,
}

impl IssueSetup {
    /// A prompt of the user's, with the issue behind it.
    pub fn behind(issue: Option<&Self>, prompt: String) -> String {
        match issue {
            Some(issue) => format!("{prompt}\n\n{}", issue.text),
            None => prompt,
        }
    }
}

//! A second opinion: what a reviewer is asked about a change, and what its answer says.
//!
//! Invariant: an answer is data only. Nothing in it is run, and nothing but the reviewer's own words is read.

mod opinion;
pub mod prompt;
mod read;
#[cfg(test)]
mod tests;

pub use opinion::{Fixes, LookAnswer, Opinion, OpinionAbout, OpinionSaid};
pub use read::{look, verdict};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often a reviewer is asked for one verdict.
pub const MAX_ASKED: u32 = 2;

/// How often a reviewer may ask for changes at a claim, unless the settings say otherwise.
pub const ROUNDS: u32 = 3;

/// As many comments are kept of one verdict.
pub(crate) const MAX_COMMENTS: usize = 50;

/// The change that is reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRange {
    /// As the user named it, or how it was found.
    pub name: String,
    /// The commit before it.
    pub from: String,
    /// Its last commit.
    pub to: String,
}

/// What a reviewer says about a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewVerdict {
    /// Whether the change is good as it is.
    pub verdict: ReviewDecision,
    /// The whole in a few words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<String>,
    /// What there is to say about single places.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub comments: Vec<ReviewComment>,
}

/// Whether a change is good as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewDecision {
    /// It is.
    Approve,
    /// It is not.
    RequestChanges,
}

/// What a reviewer says about one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewComment {
    /// The file, as the reviewer names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<String>,
    /// The line in it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u32>,
    /// How much it matters.
    pub severity: CommentSeverity,
    /// What is the matter.
    pub text: String,
}

/// How much a comment matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommentSeverity {
    /// Worth knowing.
    Note,
    /// Better otherwise.
    Minor,
    /// Wrong.
    Major,
    /// So wrong that the change must not stay as it is.
    Blocker,
}

impl CommentSeverity {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Blocker => "blocker",
        }
    }
}

impl ReviewVerdict {
    /// Whether the change is good as it is.
    pub fn is_approval(&self) -> bool {
        self.verdict == ReviewDecision::Approve
    }

    /// The verdict in one line, without a full stop.
    pub fn line(&self) -> String {
        let what = match self.verdict {
            ReviewDecision::Approve => "approves",
            ReviewDecision::RequestChanges => "requests changes",
        };
        let comments = match self.comments.len() {
            0 => String::new(),
            1 => " (1 comment)".to_owned(),
            several => format!(" ({several} comments)"),
        };
        let summary = self.summary.as_ref().map(|summary| format!(": {summary}")).unwrap_or_default();
        format!("{what}{comments}{summary}")
    }

    /// What the agent is told whose work it is about.
    pub fn feedback(&self, reviewer: &str) -> String {
        let mut text = format!(
            "All checks pass, but the reviewer ({reviewer}) asks for changes. Your claim does not count yet. Address every \
             comment, or say in your last message why one is wrong, then say again that you are done."
        );
        if let Some(summary) = &self.summary {
            text.push_str("\n\n");
            text.push_str(summary);
        }
        for comment in &self.comments {
            text.push_str("\n- ");
            text.push_str(&comment.line());
        }
        text
    }
}

impl ReviewComment {
    /// The comment in one line: where, how much it matters, what is the matter.
    pub fn line(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            (None, _) => String::new(),
        };
        format!("{place}{}: {}", self.severity.name(), self.text)
    }
}

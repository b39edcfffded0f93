//! How an attempt to commit ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an attempt to commit ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum CommitEnd {
    /// A commit was made.
    Made {
        /// Its short id.
        commit: String,
        /// Its first line.
        subject: String,
        /// Files that the turn changed in it, or in commits of its own, and that the loop has no business with.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        beyond: Vec<String>,
    },
    /// The agent had committed everything itself.
    Already {
        /// Files in these commits that the loop has no business with.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        beyond: Vec<String>,
    },
    /// There was nothing to commit.
    Nothing,
    /// The settings do not ask for a commit.
    NotWanted,
    /// The files are no longer those that passed the gates. The gates decide again.
    Changed {
        /// How that came about; records of version 0.1 do not say.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cause: Option<ChangeCause>,
    },
    /// The SCM refused.
    Failed {
        /// The end of what it printed.
        output: String,
    },
}

impl CommitEnd {
    /// Files that were committed and that the loop has no business with.
    pub fn beyond(&self) -> &[String] {
        match self {
            Self::Made { beyond, .. } | Self::Already { beyond } => beyond,
            Self::Nothing | Self::NotWanted | Self::Changed { .. } | Self::Failed { .. } => &[],
        }
    }
}

/// How files came to change between the gates and the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeCause {
    /// They changed while the agent was asked for a message. It is not asked any more in this run.
    AgentAsked,
    /// Ralph died after it had announced the commit, so no one knows what happened to them meanwhile.
    RalphDied,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_says_what_is_beyond_the_loop() {
        let beyond = vec!["src/a.rs".to_owned()];
        let made =
            CommitEnd::Made { commit: "c".to_owned(), subject: "s".to_owned(), beyond: beyond.clone() };
        assert_eq!(made.beyond(), beyond);
        assert_eq!(CommitEnd::Already { beyond: beyond.clone() }.beyond(), beyond);
        assert!(CommitEnd::Nothing.beyond().is_empty());
    }
}

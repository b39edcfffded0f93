//! What is said about a claim beside findings: changes to what judges that are nothing to ask about.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{caveat::listed, changed_check::ChangedCheck};

/// A line of the summary. It is shown, and nothing follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "note", rename_all = "kebab-case")]
pub enum CheckNote {
    /// Checks changed, and those that the run began with pass on the new code.
    OldChecksPass {
        /// Which.
        files: Vec<ChangedCheck>,
    },
    /// Checks changed with the code, so that those that the run began with do not fit it; none of them got weaker.
    NotComparable {
        /// Which.
        files: Vec<ChangedCheck>,
        /// Why.
        why: String,
    },
    /// The settings say that these may change.
    MayChange {
        /// Which.
        files: Vec<ChangedCheck>,
    },
    /// These tests are new or changed, and the guardrails pass with them on the code that the run began with.
    Unproven {
        /// Which.
        files: Vec<ChangedCheck>,
    },
}

impl CheckNote {
    /// The files that it is about.
    pub fn checks(&self) -> &[ChangedCheck] {
        match self {
            Self::OldChecksPass { files }
            | Self::NotComparable { files, .. }
            | Self::MayChange { files }
            | Self::Unproven { files } => files,
        }
    }
}

impl fmt::Display for CheckNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.checks().iter().map(|check| check.file.clone()).collect();
        let names = listed(&names);
        match self {
            Self::OldChecksPass { .. } => {
                write!(out, "checks changed, and the old ones pass on the new code: {names}")
            }
            Self::NotComparable { why, .. } => {
                write!(out, "checks changed with the code (not-comparable: {why}): {names}")
            }
            Self::MayChange { .. } => {
                write!(out, "checks changed that the settings allow to change: {names}")
            }
            Self::Unproven { .. } => {
                write!(
                    out,
                    "the new tests pass without the change: they prove nothing about it (unproven): {names}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ralph_checks::protected::Role;

    use super::*;
    use crate::verify::changed_check::FileChange;

    #[test]
    fn every_note_is_one_line_that_names_the_files() {
        let check = |file| ChangedCheck::new(file, Role::Test, FileChange::Changed);
        let files = || vec![check("a.py"), check("b.py")];
        for (note, expected) in [
            (
                CheckNote::OldChecksPass { files: files() },
                "checks changed, and the old ones pass on the new code: a.py, b.py",
            ),
            (
                CheckNote::NotComparable { files: files(), why: "no guardrail runs them".to_owned() },
                "checks changed with the code (not-comparable: no guardrail runs them): a.py, b.py",
            ),
            (
                CheckNote::MayChange { files: files() },
                "checks changed that the settings allow to change: a.py, b.py",
            ),
            (
                CheckNote::Unproven { files: files() },
                "the new tests pass without the change: they prove nothing about it (unproven): a.py, b.py",
            ),
        ] {
            assert_eq!(note.to_string(), expected);
        }
    }
}

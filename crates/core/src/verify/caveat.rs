//! What weakens a judgement and is not the agent's doing: something about the place.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many names a sentence lists.
const MAX_NAMES: usize = 5;

/// Something about the place that weakens the judgement. It is shown, and never held against the agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "caveat", rename_all = "kebab-case")]
pub enum Caveat {
    /// The guardrails ran in the working tree.
    JudgedInPlace {
        /// Why they did.
        why: String,
    },
    /// The checks could not be compared with those that the run began with.
    ChecksNotCompared {
        /// Why they could not.
        why: String,
    },
    /// The judge is not at the project's path.
    OtherPath {
        /// Why it is not.
        why: String,
    },
    /// Files that were not committed before the run lie over the commit.
    UncommittedBase {
        /// Relative to the top of the repository.
        files: Vec<String>,
    },
    /// Submodules that are empty in the judge.
    SubmodulesMissing {
        /// Relative to the top of the repository.
        paths: Vec<String>,
    },
    /// Files of Git LFS whose content the project does not have.
    LfsMissing {
        /// Relative to the top of the repository.
        files: Vec<String>,
    },
    /// Files whose content is only on the remote of a partial clone.
    ObjectsMissing {
        /// Relative to the top of the repository.
        files: Vec<String>,
    },
    /// The project has only a part of the repository's files, and so has the judge.
    SparseCheckout,
    /// Branches and tags are missing: only the commit could be fetched.
    RefsMissing,
    /// Files that git changes by a program when it writes them are as they were committed.
    FiltersNotRun {
        /// As `.gitattributes` calls them.
        filters: Vec<String>,
    },
}

impl Caveat {
    /// The name that settings, records and documentation use.
    pub fn name(&self) -> &'static str {
        match self {
            Self::JudgedInPlace { .. } => "judged-in-place",
            Self::ChecksNotCompared { .. } => "checks-not-compared",
            Self::OtherPath { .. } => "other-path",
            Self::UncommittedBase { .. } => "uncommitted-base",
            Self::SubmodulesMissing { .. } => "submodules-missing",
            Self::LfsMissing { .. } => "lfs-missing",
            Self::ObjectsMissing { .. } => "objects-missing",
            Self::SparseCheckout => "sparse-checkout",
            Self::RefsMissing => "refs-missing",
            Self::FiltersNotRun { .. } => "filters-not-run",
        }
    }
}

impl fmt::Display for Caveat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::JudgedInPlace { why } => write!(out, "the guardrails ran in the working tree: {why}"),
            Self::ChecksNotCompared { why } => {
                write!(out, "the checks were not compared with those that the run began with: {why}")
            }
            Self::OtherPath { why } => write!(out, "the judge is not at the project's path: {why}"),
            Self::UncommittedBase { files } => {
                write!(out, "files that were not committed before the run are included: {}", listed(files))
            }
            Self::SubmodulesMissing { paths } => {
                write!(out, "submodules are empty in the judge: {}", listed(paths))
            }
            Self::LfsMissing { files } => {
                write!(out, "the project does not have the content of LFS files: {}", listed(files))
            }
            Self::ObjectsMissing { files } => {
                write!(out, "the partial clone does not have the content of files: {}", listed(files))
            }
            Self::SparseCheckout => write!(out, "the judge has the same sparse checkout as the project"),
            Self::RefsMissing => write!(out, "only the commit could be fetched, without branches and tags"),
            Self::FiltersNotRun { filters } => {
                write!(out, "git filters do not run in the judge: {}", listed(filters))
            }
        }
    }
}

/// The first names, and how many more there are.
pub fn listed(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_record() {
        for caveat in [
            Caveat::JudgedInPlace { why: "x".to_owned() },
            Caveat::ChecksNotCompared { why: "x".to_owned() },
            Caveat::OtherPath { why: "x".to_owned() },
            Caveat::UncommittedBase { files: vec!["a".to_owned()] },
            Caveat::SubmodulesMissing { paths: vec!["a".to_owned()] },
            Caveat::LfsMissing { files: vec!["a".to_owned()] },
            Caveat::ObjectsMissing { files: vec!["a".to_owned()] },
            Caveat::SparseCheckout,
            Caveat::RefsMissing,
            Caveat::FiltersNotRun { filters: vec!["a".to_owned()] },
        ] {
            let json = serde_json::to_value(&caveat).expect("JSON");
            assert_eq!(json["caveat"], caveat.name());
            assert_eq!(serde_json::from_value::<Caveat>(json).expect("a caveat"), caveat);
        }
    }

    #[test]
    fn a_sentence_names_what_is_the_matter() {
        let names = || vec!["a".to_owned(), "b".to_owned()];
        for (caveat, words) in [
            (Caveat::JudgedInPlace { why: "no git".to_owned() }, "in the working tree: no git"),
            (Caveat::OtherPath { why: "no mounts".to_owned() }, "not at the project's path: no mounts"),
            (Caveat::UncommittedBase { files: names() }, "not committed before the run are included: a, b"),
            (Caveat::SubmodulesMissing { paths: names() }, "submodules are empty in the judge: a, b"),
            (Caveat::RefsMissing, "without branches and tags"),
        ] {
            assert!(caveat.to_string().ends_with(words), "{caveat}");
        }
    }

    #[test]
    fn a_sentence_lists_a_few_names() {
        let names: Vec<String> = (1..=7).map(|number| format!("f{number}")).collect();
        assert_eq!(listed(&names[..2]), "f1, f2");
        assert_eq!(listed(&names), "f1, f2, f3, f4, f5 and 2 more");
    }
}

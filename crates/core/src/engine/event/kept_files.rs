//! The files before a turn that must not change any.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The files before a turn that must not change any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptFiles {
    /// A tree of the repository with everything that git does not ignore.
    pub tree: String,
    /// The branch that was checked out; nothing where HEAD was a commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The commit; nothing where there was none yet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<String>,
}

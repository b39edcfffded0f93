//! What a person is told once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person is told once in a run, however many processes that has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "topic", rename_all = "snake_case")]
pub enum Topic {
    /// A settings file is not what it was when the run started.
    SettingsChanged {
        /// Which.
        file: String,
    },
    /// The agent does not say what it uses, and there is a budget.
    Unmetered,
    /// The agent does not report what its tokens cost, and there is a limit on cost: none, or an estimated one.
    Unpriced,
    /// The agent does not say how much of the usage limit is used, and some of it is to be left.
    UnknownQuota,
    /// The agent runs a tool when the hook before it fails.
    OpenHooks,
    /// The first lines of the record carry no hash chain.
    Unchained,
}

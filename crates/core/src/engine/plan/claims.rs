//! What follows what the agent says: that it is done without any work, or that it cannot continue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a promise that no work stands behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoWork {
    /// It does not count.
    #[default]
    Reject,
    /// It counts.
    Accept,
    /// It counts, with a warning in the record.
    Warn,
}

impl NoWork {
    /// Every choice with the name that flags use.
    pub const NAMES: [(&str, Self); 3] =
        [("reject", Self::Reject), ("accept", Self::Accept), ("warn", Self::Warn)];
}

/// What follows when the agent says that it cannot continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnBlocked {
    /// A person has to look.
    #[default]
    Stop,
    /// One more turn, with fresh context, is told the reason first; if it says the same, a person has to look.
    Confirm,
}

impl OnBlocked {
    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("stop", Self::Stop), ("confirm", Self::Confirm)];

    /// Whether it need not be recorded.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    pub(super) fn is_stop(&self) -> bool {
        *self == Self::Stop
    }
}

//! What becomes of the processes of a run: how long they may take, and what they leave behind.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// What happens to processes that an agent leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// They are ended after the turn.
    #[default]
    Kill,
    /// They go on.
    Keep,
}

impl Leftovers {
    /// Every choice with the name that settings use.
    pub const NAMES: [(&str, Self); 2] = [("kill", Self::Kill), ("keep", Self::Keep)];

    /// Whether they go on.
    pub fn are_kept(self) -> bool {
        self == Self::Keep
    }

    /// Reads the name, or what version 0.1 wrote: whether they are kept.
    pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Kept(bool),
            Named(Leftovers),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Kept(true) => Self::Keep,
            Written::Kept(false) => Self::Kill,
            Written::Named(leftovers) => leftovers,
        })
    }
}

/// When a process has had enough time; nothing means never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Timeouts {
    /// For one turn.
    #[serde(alias = "turn_ms")]
    pub iteration_timeout_ms: Option<u64>,
    /// For a turn that prints nothing.
    #[serde(alias = "idle_ms")]
    pub idle_timeout_ms: Option<u64>,
    /// For the first event of a turn.
    #[serde(default)]
    pub start_timeout_ms: Option<u64>,
    /// For one gate.
    #[serde(alias = "gate_ms")]
    pub gate_timeout_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn journals_of_old_say_whether_they_are_kept() {
        for (written, is_kept) in
            [(json!("keep"), true), (json!("kill"), false), (json!(true), true), (json!(false), false)]
        {
            let read = Leftovers::read(&written).expect("a choice");
            assert_eq!(read.are_kept(), is_kept, "{written}");
        }
        assert!(Leftovers::read(Value::from("later")).is_err());
    }
}

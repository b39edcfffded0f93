//! What the failure of a guardrail does to the next prompt.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the message of a failed guardrail goes in the next prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE", try_from = "String")]
pub enum FailAction {
    /// After the prompt.
    #[default]
    Append,
    /// Before the prompt.
    Prepend,
    /// In place of the prompt.
    Replace,
}

impl FailAction {
    /// Every action with the name that settings use.
    pub const NAMES: [(&str, Self); 3] =
        [("APPEND", Self::Append), ("PREPEND", Self::Prepend), ("REPLACE", Self::Replace)];
}

impl FromStr for FailAction {
    type Err = String;

    /// Accepts the names in any case.
    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::NAMES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, action)| action).ok_or_else(|| "expected APPEND, PREPEND or REPLACE".to_owned())
    }
}

impl TryFrom<String> for FailAction {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_written_in_upper_case() {
        for (name, action) in FailAction::NAMES {
            assert_eq!(name.to_lowercase().parse(), Ok(action));
            let json = serde_json::to_string(&action).expect("an enum serializes");
            assert_eq!(json, format!("\"{name}\""));
            assert_eq!(serde_json::from_str::<FailAction>(&json).expect("a known name"), action);
        }
        assert!("MAYBE".parse::<FailAction>().is_err());
        assert!("".parse::<FailAction>().is_err());
    }
}

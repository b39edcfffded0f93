//! What an agent inside a sandbox asks the ralph outside for: a run that does a part of its task.
//!
//! Invariant: nothing in a request widens what the caller itself may do. The sandbox, the settings and the task are
//! the caller's; a prompt comes as text, because the ralph outside reads files that the caller must not see.

use serde::{Deserialize, Serialize};

/// The most bytes of a request: 4 MiB.
pub const MAX_REQUEST_LEN: u64 = 4_194_304;

/// A run that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// What its agent shall do.
    pub prompt: String,
    /// Flags as they are typed; the process that starts the run looks whether the caller may give them.
    pub flags: Vec<String>,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The run has begun.
    Began {
        /// Its id.
        run: String,
    },
    /// It has not.
    Refused {
        /// Why not.
        why: String,
    },
}

/// Whether this can be the name of a request: it becomes the name of a file.
pub fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_nothing_else() {
        assert!(serde_json::from_str::<JobRequest>(r#"{"prompt":"x","flags":[]}"#).is_ok());
        assert!(serde_json::from_str::<JobRequest>(r#"{"prompt":"x","flags":[],"sandbox":"none"}"#).is_err());
    }

    #[test]
    fn names_are_names_of_files() {
        assert!(is_name("a1-B"));
        for name in ["", "../x", "a/b", "a.json", &"x".repeat(65), "ä"] {
            assert!(!is_name(name), "{name}");
        }
    }
}

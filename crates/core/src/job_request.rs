//! What an agent inside a sandbox asks the ralph outside for: a run that does a part of its task.
//!
//! Invariant: nothing in a request widens what the caller itself may do. The sandbox, the settings and the task are
//! the caller's; a prompt comes as text, because the ralph outside reads files that the caller must not see.

use serde::{Deserialize, Serialize};

/// Flags with a value that a caller inside may set.
const WITH_VALUE: [&str; 13] = [
    "agent",
    "retries",
    "iteration-timeout",
    "idle-timeout",
    "gate-timeout",
    "max-cost",
    "max-tokens",
    "max-iteration-cost",
    "max-iteration-tokens",
    "max-time",
    "limit-exit-code",
    "color",
    "output",
];

/// Flags without one.
const SWITCHES: [&str; 6] =
    ["verbose", "quiet", "timestamps", "stream-agent-output", "no-stream-agent-output", "no-baseline"];

/// The most bytes of a request.
pub const MAX_REQUEST_LEN: u64 = 4 * 1024 * 1024;

/// A run that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRequest {
    /// What its agent shall do.
    pub prompt: String,
    /// The flags, each with its value if it has one.
    pub flags: Vec<(String, Option<String>)>,
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

impl JobRequest {
    /// The flags as words of a command line. `own_agent` is what the caller itself runs as.
    pub fn words(&self, own_agent: &str) -> Result<Vec<String>, String> {
        if self.prompt.trim().is_empty() {
            return Err("the prompt is empty".to_owned());
        }
        self.flags.iter().map(|flag| word(flag, own_agent)).collect()
    }
}

fn word((name, value): &(String, Option<String>), own_agent: &str) -> Result<String, String> {
    match value {
        None if SWITCHES.contains(&name.as_str()) => Ok(format!("--{name}")),
        // Ralph looks at an agent's program before it is contained, so it must not be one that the caller wrote.
        Some(agent) if name == "agent" && agent.contains('/') && agent != own_agent => {
            Err("inside a sandbox --agent takes the name of a program, not its path".to_owned())
        }
        Some(value) if WITH_VALUE.contains(&name.as_str()) && !value.contains('\0') => {
            Ok(format!("--{name}={value}"))
        }
        _ => Err(format!("--{name} cannot be given inside a sandbox")),
    }
}

/// Whether this can be the name of a request: it becomes the name of a file.
pub fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(flags: &[(&str, Option<&str>)]) -> Result<Vec<String>, String> {
        let flags =
            flags.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
        JobRequest { prompt: "Do it.".to_owned(), flags }.words("./own")
    }

    #[test]
    fn flags_become_words_that_are_flags() {
        let given = [("agent", Some("codex")), ("retries", Some("--no-sandbox")), ("quiet", None)];
        assert_eq!(
            words(&given),
            Ok(["--agent=codex", "--retries=--no-sandbox", "--quiet"].map(str::to_owned).to_vec())
        );
        assert_eq!(words(&[("agent", Some("./own"))]), Ok(vec!["--agent=./own".to_owned()]));
    }

    #[test]
    fn nothing_widens_what_the_caller_may_do() {
        for flag in [
            ("sandbox", Some("none")),
            ("no-sandbox", None),
            ("config", Some("mine.json")),
            ("prompt-file", Some("/etc/shadow")),
            ("as", Some("x")),
            ("agent", None),
            ("agent", Some("./claude")),
            ("quiet", Some("--no-sandbox")),
            ("agent", Some("a\0b")),
        ] {
            assert!(words(&[flag]).is_err(), "{flag:?}");
        }
        let request = JobRequest { prompt: " \n".to_owned(), flags: Vec::new() };
        assert!(request.words("x").is_err());
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

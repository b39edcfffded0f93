//! Versions of programs, and which ones of the agents ralph was tried with.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The versions that the adapters were measured on.
const KNOWN: &str = include_str!("known_versions.json");
/// The versions that last passed the conformance suite; `cargo xtask agents` writes them.
const GREEN: &str = include_str!("green_versions.json");

/// The oldest and the newest version of an agent that ralph was tried with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Older ones may speak another language.
    pub oldest: Version,
    /// Newer ones are expected to work.
    pub newest: Version,
}

/// Returns the versions of an agent that ralph was tried with.
pub fn tried(agent: &str) -> Option<Tried> {
    let known: BTreeMap<String, Tried> = serde_json::from_str(KNOWN).unwrap_or_default();
    let green: BTreeMap<String, Green> = serde_json::from_str(GREEN).unwrap_or_default();
    let Tried { oldest, newest } = known.get(agent).cloned()?;
    let newest = green.get(agent).map_or(newest.clone(), |green| newest.max(green.version.clone()));
    Some(Tried { oldest, newest })
}

#[derive(Deserialize)]
struct Green {
    version: Version,
}

/// Numbers with dots between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version(Vec<u64>);

impl Version {
    /// Finds the first version in what a program says about itself.
    pub fn find_in(text: &str) -> Option<Self> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let words = text.split(|c| !is_part(c)).map(|word| word.trim_start_matches('v').trim_matches('.'));
        words.filter(|word| word.contains('.')).find_map(|word| word.parse().ok())
    }
}

impl FromStr for Version {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<_, _> = text.split('.').map(str::parse).collect();
        numbers.map(Self).map_err(|_| format!("{text:?} is not a version"))
    }
}

impl TryFrom<String> for Version {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(u64::to_string).collect();
        f.write_str(&numbers.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AGENTS;

    #[test]
    fn every_agent_was_tried() {
        for agent in AGENTS {
            let tried = tried(agent).expect(agent);
            assert!(tried.oldest <= tried.newest, "{agent}");
        }
        assert_eq!(tried("another"), None);
    }

    #[test]
    fn what_passed_the_suite_was_tried() {
        let green: BTreeMap<String, Green> = serde_json::from_str(GREEN).expect("the file of xtask");
        assert!(!green.is_empty());
        for (agent, green) in green {
            assert!(green.version <= tried(&agent).expect("a known agent").newest, "{agent}");
        }
    }

    #[test]
    fn versions_are_found_in_what_programs_say() {
        let cases = [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0", Some("0.166.0")),
            ("0.0.1790142911-g12ab34 (released 2026-11-01)", Some("0.0.1790142911")),
            ("GitHub Copilot CLI 1.0.102.\nCommit: abc", Some("1.0.102")),
            ("git version 2.47.3", Some("2.47.3")),
            ("git version 2.39.5 (Apple Git-154)", Some("2.39.5")),
            ("v0.73.1", Some("0.73.1")),
            ("1.2.x", None),
            ("no 7 version", None),
            ("99999999999999999999999.1", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Version::find_in(text).map(String::from).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn versions_are_compared_by_number() {
        let version = |text: &str| text.parse::<Version>().expect("a version");
        assert!(version("2.9") < version("2.26"));
        assert!(version("2.26") <= version("2.26.0"));
        assert!(version("2.1.197") < version("2.1.325"));
        assert!(version("0.166.0") < version("1.0"));
    }
}

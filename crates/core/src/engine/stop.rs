//! Why a run stopped although it is neither done nor at a limit: a person has to do something first.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Stop {
    /// The agent waits for a person or for another process, and is not to be restarted.
    AgentWaits {
        /// What it said that it waits for.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<String>,
        /// The file that says so, relative to the project.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        file: Option<String>,
    },
    /// The iterations get nowhere.
    Stuck(Standstill),
    /// The usage limit lasts longer than ralph may wait.
    Quota {
        /// What the agent said about it.
        message: String,
    },
    /// Several agents could do the work, and none of them can before a person acts.
    #[serde(rename = "nobody_left")]
    NoAgentLeft {
        /// What is the matter with each.
        message: String,
    },
    /// A turn changed protected files that its sandbox cannot protect.
    Tampered {
        /// Those files, relative to the project.
        changed: Vec<String>,
    },
    /// The agent used tools and the hook that guards them did not run, or the turn changed files that can remove it.
    Unguarded {
        /// Those files, relative to the project.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        changed: Vec<String>,
        /// Calls that ran without a judgement: tool and id.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        unjudged: Vec<String>,
    },
    /// No story can be worked on.
    NoStory {
        /// Why not.
        reason: String,
    },
    /// The folder of the project is not there any more.
    ProjectGone {
        /// Where it was.
        project: PathBuf,
    },
    /// The agent says that it cannot do the work.
    Blocked {
        /// What it lacks.
        reason: String,
    },
    /// The judge could not have what is claimed, so no one knows whether it is done.
    NotJudged {
        /// Why not.
        reason: String,
    },
    /// Two turns in a row left another branch checked out than the run's.
    OtherBranch {
        /// Where the run began.
        expected: String,
        /// Where the last turn ended.
        found: String,
    },
    /// Any of these, in a record of version 0.1: there the reason is only a sentence.
    Paused {
        /// The sentence.
        reason: String,
    },
}

/// Iterations that get nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Standstill {
    /// The first iteration without progress.
    pub since: u32,
    /// The check that fails in the same way each time; nothing when everything is as it was before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gate: Option<String>,
    /// The last failure of a check.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub failure: Option<LastFailure>,
}

/// The last failure of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastFailure {
    /// Where its output is, relative to the project.
    pub log: String,
    /// The last lines of its output.
    pub output: Vec<String>,
}

impl Stop {
    /// What `ralph` exits with.
    pub const EXIT_CODE: u8 = 6;

    /// The reason for people: lower case, without a full stop.
    pub fn reason(&self) -> String {
        match self {
            Self::AgentWaits { reason: Some(reason), .. } => format!("the agent waits: {reason}"),
            Self::AgentWaits { reason: None, file: Some(file) } => {
                format!("the agent waits: {file} is there")
            }
            Self::AgentWaits { reason: None, file: None } => "the agent waits for a person".to_owned(),
            Self::Stuck(standstill) => standstill.reason(),
            Self::Quota { message } => format!("the usage limit lasts longer than ralph may wait: {message}"),
            Self::NoAgentLeft { message } => format!("no agent can work: {message}"),
            Self::Tampered { changed } => format!("protected files were changed: {}", changed.join(", ")),
            Self::Unguarded { changed, .. } if !changed.is_empty() => {
                format!("the turn changed files that can remove ralph's guard: {}", changed.join(", "))
            }
            Self::Unguarded { unjudged, .. } if !unjudged.is_empty() => {
                format!("tools ran that ralph's guard has not checked: {}", unjudged.join(", "))
            }
            Self::Unguarded { .. } => {
                "the agent used tools, but ralph's hook that guards them was never called".to_owned()
            }
            Self::ProjectGone { project } => format!("the project folder {} is gone", project.display()),
            Self::Blocked { reason } => format!("the agent is blocked: {reason}"),
            Self::NotJudged { reason } => format!("the claim was not judged: {reason}"),
            Self::OtherBranch { expected, found } => {
                format!("the agent works on `{found}`, and the run is for `{expected}`")
            }
            Self::NoStory { reason } | Self::Paused { reason } => reason.clone(),
        }
    }

    /// Whether the agent itself asked for it: in a task, its file or message must be cleared before a resume.
    pub fn is_wait(&self) -> bool {
        match self {
            // Most of those were.
            Self::AgentWaits { .. } | Self::Paused { .. } => true,
            Self::Stuck(_)
            | Self::Quota { .. }
            | Self::NoAgentLeft { .. }
            | Self::Tampered { .. }
            | Self::Unguarded { .. }
            | Self::NoStory { .. }
            | Self::ProjectGone { .. }
            | Self::Blocked { .. }
            | Self::NotJudged { .. }
            | Self::OtherBranch { .. } => false,
        }
    }

    /// Reads a reason; that of version 0.1 has no kind.
    pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Known(Stop),
            Sentence { reason: String },
        }
        Ok(match Form::deserialize(deserializer)? {
            Form::Known(stop) => stop,
            Form::Sentence { reason } => Self::Paused { reason },
        })
    }
}

impl Standstill {
    /// What repeats.
    pub fn what(&self) -> String {
        match &self.gate {
            Some(gate) => format!("`{gate}` fails in the same way each time"),
            None => "the files, the guardrails and the task are as they were before".to_owned(),
        }
    }

    fn reason(&self) -> String {
        let told = format!(
            "no progress since iteration {}: {}, even after ralph told the agent",
            self.since,
            self.what()
        );
        match &self.failure {
            Some(LastFailure { log, output }) if output.is_empty() => {
                format!("{told}; it printed nothing ({log})")
            }
            Some(LastFailure { log, output }) => {
                format!("{told}; the end of what it printed ({log}):\n   {}", output.join("\n   "))
            }
            None => told,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::engine::outcome::Outcome;

    #[track_caller]
    fn check(stop: Stop, recorded: Value, reason: &str) {
        assert_eq!(stop.reason(), reason);
        let outcome = Outcome::Stopped(stop);
        assert_eq!(serde_json::to_value(&outcome).expect("JSON"), recorded);
        assert_eq!(serde_json::from_value::<Outcome>(recorded).expect("an outcome"), outcome);
    }

    #[test]
    fn every_reason_has_its_record_and_its_words() {
        let waits = |reason: Option<&str>, file: Option<&str>| Stop::AgentWaits {
            reason: reason.map(str::to_owned),
            file: file.map(str::to_owned),
        };
        check(
            waits(None, None),
            json!({"outcome": "stopped", "why": "agent_waits"}),
            "the agent waits for a person",
        );
        check(
            waits(Some("for the review"), Some("WAIT")),
            json!({"outcome": "stopped", "why": "agent_waits", "reason": "for the review", "file": "WAIT"}),
            "the agent waits: for the review",
        );
        check(
            waits(None, Some("WAIT")),
            json!({"outcome": "stopped", "why": "agent_waits", "file": "WAIT"}),
            "the agent waits: WAIT is there",
        );
        check(
            Stop::Quota { message: "come back on Monday".to_owned() },
            json!({"outcome": "stopped", "why": "quota", "message": "come back on Monday"}),
            "the usage limit lasts longer than ralph may wait: come back on Monday",
        );
        check(
            Stop::NoAgentLeft { message: "main cannot work: no".to_owned() },
            json!({"outcome": "stopped", "why": "nobody_left", "message": "main cannot work: no"}),
            "no agent can work: main cannot work: no",
        );
        let changed = vec![".mcp.json".to_owned(), ".claude/settings.json".to_owned()];
        check(
            Stop::Tampered { changed: changed.clone() },
            json!({"outcome": "stopped", "why": "tampered", "changed": changed}),
            "protected files were changed: .mcp.json, .claude/settings.json",
        );
        check(
            Stop::Unguarded { changed: changed.clone(), unjudged: vec![] },
            json!({"outcome": "stopped", "why": "unguarded", "changed": changed}),
            "the turn changed files that can remove ralph's guard: .mcp.json, .claude/settings.json",
        );
        check(
            Stop::Unguarded { changed: vec![], unjudged: vec!["Bash (t1)".to_owned()] },
            json!({"outcome": "stopped", "why": "unguarded", "unjudged": ["Bash (t1)"]}),
            "tools ran that ralph's guard has not checked: Bash (t1)",
        );
        check(
            Stop::Unguarded { changed: vec![], unjudged: vec![] },
            json!({"outcome": "stopped", "why": "unguarded"}),
            "the agent used tools, but ralph's hook that guards them was never called",
        );
        check(
            Stop::NoStory { reason: "there are no stories".to_owned() },
            json!({"outcome": "stopped", "why": "no_story", "reason": "there are no stories"}),
            "there are no stories",
        );
        check(
            Stop::ProjectGone { project: "/p".into() },
            json!({"outcome": "stopped", "why": "project_gone", "project": "/p"}),
            "the project folder /p is gone",
        );
        check(
            Stop::Blocked { reason: "no access to the database".to_owned() },
            json!({"outcome": "stopped", "why": "blocked", "reason": "no access to the database"}),
            "the agent is blocked: no access to the database",
        );
    }

    #[test]
    fn a_standstill_says_what_repeats_and_where_to_look() {
        let standstill = |gate: Option<&str>, failure| {
            Stop::Stuck(Standstill { since: 3, gate: gate.map(str::to_owned), failure })
        };
        check(
            standstill(None, None),
            json!({"outcome": "stopped", "why": "stuck", "since": 3}),
            "no progress since iteration 3: the files, the guardrails and the task are as they were before, even after \
             ralph told the agent",
        );
        let printed = |output: &[&str]| {
            Some(LastFailure {
                log: "a.log".to_owned(),
                output: output.iter().map(|it| (*it).to_owned()).collect(),
            })
        };
        check(
            standstill(Some("make test"), printed(&["one", "two"])),
            json!({"outcome": "stopped", "why": "stuck", "since": 3, "gate": "make test",
                "failure": {"log": "a.log", "output": ["one", "two"]}}),
            "no progress since iteration 3: `make test` fails in the same way each time, even after \
             ralph told the agent; the end of what it printed (a.log):\n   one\n   two",
        );
        check(
            standstill(Some("make test"), printed(&[])),
            json!({"outcome": "stopped", "why": "stuck", "since": 3, "gate": "make test",
                "failure": {"log": "a.log", "output": []}}),
            "no progress since iteration 3: `make test` fails in the same way each time, even after \
             ralph told the agent; it printed nothing (a.log)",
        );
    }

    #[test]
    fn the_sentences_of_version_0_1_are_kept() {
        let recorded = json!({"outcome": "paused", "reason": "the agent waits for someone outside"});
        let outcome: Outcome = serde_json::from_value(recorded).expect("an outcome");
        let reason = "the agent waits for someone outside";
        assert_eq!(outcome, Outcome::Stopped(Stop::Paused { reason: reason.to_owned() }));
        check(
            Stop::Paused { reason: reason.to_owned() },
            json!({"outcome": "stopped", "why": "paused", "reason": reason}),
            reason,
        );
    }
}

//! What a receipt says: an in-toto statement about a commit and its tree.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use ralph_checks::counts::Counts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::envelope::Unreadable;

/// The type of every statement.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// The type of what this version says; a number that grows when the meaning of a key changes.
pub const PREDICATE_TYPE: &str = "urn:ralph-loop:receipt:v1";

/// A receipt without its envelope: an in-toto Statement v1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Statement {
    /// Always `https://in-toto.io/Statement/v1`.
    #[serde(rename = "_type")]
    pub kind: String,
    /// What it is about: the commit and the tree that the run ended with, or its record where there is no repository.
    pub subject: Vec<Subject>,
    /// Always `urn:ralph-loop:receipt:v1`.
    pub predicate_type: String,
    /// What the run says.
    pub predicate: Predicate,
}

/// Something that a statement is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// What it is: `commit`, `tree` or `record`.
    pub name: String,
    /// By algorithm: `gitCommit`, `gitTree` or `sha256`.
    pub digest: BTreeMap<String, String>,
}

/// What a run says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Predicate {
    /// Which run it was, and how it ended.
    pub run: RunFacts,
    /// What it started from; nothing without a commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Revision>,
    /// What it ended with; nothing without a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Revision>,
    /// How many files of the tree were not committed when it ended.
    #[serde(default)]
    pub uncommitted: u64,
    /// The SHA-256 of the resolved rules of the run.
    pub plan: String,
    /// Every guardrail, as it ended last.
    pub guardrails: Vec<GuardrailFacts>,
    /// The checks of the project, before and after; nothing without a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protected: Option<ProtectedFacts>,
    /// What was done to the judgement.
    pub findings: Vec<Remark>,
    /// A person looked at the findings and accepts the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Acceptance>,
    /// What reviewers said about what was claimed last: `review`, `look`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opinions: Vec<Remark>,
    /// What weakens the judgement and is not the agent's doing.
    pub caveats: Vec<Remark>,
    /// What kept the agent from doing harm.
    pub containment: ContainmentFacts,
    /// Who worked.
    pub agents: Vec<AgentFacts>,
    /// What that took.
    pub spent: SpentFacts,
    /// What made the receipt.
    pub tools: ToolFacts,
    /// The record of the run, as it was when the receipt was made.
    pub journal: JournalFacts,
}

/// Which run it was, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunFacts {
    /// Its id.
    pub id: String,
    /// The kind of loop.
    pub preset: String,
    /// When it began.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub began: Timestamp,
    /// When it ended.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub ended: Timestamp,
    /// How it ended: `done`, `exhausted`, `stopped`, `interrupted`, `unready` or `gave_up`.
    pub outcome: String,
    /// What `ralph` exited with.
    pub exit_code: u8,
}

/// A commit and its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Revision {
    /// Its id.
    pub commit: String,
    /// The id of its tree; of what was in the working tree, where files were not committed.
    pub tree: String,
}

/// A guardrail, as it ended last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GuardrailFacts {
    /// What it is.
    pub kind: GuardrailSource,
    /// The command, or what ralph checks itself; without paths of the machine. Nothing for a hidden one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The SHA-256 of the whole command; nothing for what ralph checks itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// It may run only once for the same files: no one runs it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// How it ended in the working tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_project: Option<RunEnding>,
    /// How it ended in a clean clone of the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_judge: Option<RunEnding>,
    /// The tests that ran before the first turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests_before: Option<TestCounts>,
}

/// Whose check it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuardrailSource {
    /// A command of the settings.
    Command,
    /// A command that the agent must not know.
    Hidden,
    /// What ralph checks itself.
    Rule,
    /// A reviewer's verdict.
    Review,
}

impl GuardrailSource {
    /// Whether it is a command, which others can run.
    pub fn is_command(self) -> bool {
        match self {
            Self::Command | Self::Hidden => true,
            Self::Rule | Self::Review => false,
        }
    }
}

/// How a guardrail ended at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RunEnding {
    /// Whether it passed.
    pub passed: bool,
    /// What it exited with; nothing when a signal or a limit ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// The SHA-256 of what it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_sha256: Option<String>,
    /// The tests that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
}

/// How many tests there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestCounts {
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Skipped.
    pub skipped: u64,
}

impl From<Counts> for TestCounts {
    fn from(counts: Counts) -> Self {
        let Counts { passed, failed, skipped } = counts;
        Self { passed, failed, skipped }
    }
}

/// The checks of the project, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProtectedFacts {
    /// How many files of the base are checks.
    pub files: u64,
    /// The SHA-256 of the list of their paths and ids in the base.
    pub base: String,
    /// The same in the result: equal when no check was changed, added or removed.
    pub result: String,
}

/// A finding, an opinion or a caveat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    /// Its name, as records and documentation have it.
    pub kind: String,
    /// The same for people.
    pub text: String,
}

/// What a person decided. Who it was, the signature says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// When.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub at: Timestamp,
    /// Why, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What kept the agent from doing harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainmentFacts {
    /// The kind of sandbox; `none` without one.
    pub sandbox: String,
    /// Whether guardrails ran inside it.
    pub gates_inside: bool,
    /// Whether ralph's hooks judged tool calls before they ran.
    pub guard: bool,
    /// How many tool calls they refused.
    pub refused: u64,
    /// Whom processes inside talked to.
    pub hosts: BTreeSet<String>,
    /// Whom they wanted to talk to and could not.
    pub hosts_refused: BTreeSet<String>,
    /// Whether processes of the run could reach the key that signs receipts, or its agent.
    pub key_reachable: bool,
}

/// An agent of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentFacts {
    /// Its program.
    pub name: String,
    /// What the settings call it, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The models that answered, where it says so.
    pub models: BTreeSet<String>,
    /// What it was started for.
    pub roles: BTreeSet<String>,
}

/// What a run took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SpentFacts {
    /// Iterations that began.
    pub iterations: u32,
    /// Turns that ended.
    pub turns: u32,
    /// Time of turns, guardrails and waits.
    pub ms: u64,
    /// Tokens in and out, as far as the agent says it.
    pub tokens: u64,
    /// In US dollars, as far as the agent says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// What made the receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ToolFacts {
    /// The version of ralph.
    pub ralph: String,
    /// The SHA-256 of its program, where that can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ralph_sha256: Option<String>,
    /// The version of git, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<String>,
    /// The system and the processor that ralph was built for.
    pub platform: String,
}

/// The record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JournalFacts {
    /// How many lines it had.
    pub lines: u64,
    /// How many of them carry no hash chain, because version 0.1 wrote them.
    #[serde(default)]
    pub unchained: u64,
    /// The head of the chain: what the last line carries.
    pub chain: String,
    /// The SHA-256 of all lines.
    pub sha256: String,
}

impl Statement {
    /// Reads a statement of this version.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Types {
            #[serde(rename = "_type")]
            kind: String,
            predicate_type: String,
        }
        let unreadable =
            |error: serde_json::Error| Unreadable::Broken(format!("it is not a receipt of ralph: {error}"));
        let types: Types = serde_json::from_slice(bytes).map_err(unreadable)?;
        if types.kind != STATEMENT_TYPE || types.predicate_type != PREDICATE_TYPE {
            let text = format!("it is a `{}`, which this ralph does not know", types.predicate_type);
            return Err(Unreadable::Unknown(text));
        }
        serde_json::from_slice(bytes).map_err(unreadable)
    }

    /// What the subject of this name is, by this algorithm.
    pub fn digest(&self, name: &str, algorithm: &str) -> Option<&str> {
        let subject = self.subject.iter().find(|subject| subject.name == name)?;
        subject.digest.get(algorithm).map(String::as_str)
    }
}

impl GuardrailFacts {
    /// What decides about it: the clean clone where it ran there.
    pub fn ending(&self) -> Option<&RunEnding> {
        self.in_judge.as_ref().or(self.in_project.as_ref())
    }

    /// Whether it passed everywhere it ran, and ran.
    pub fn passed(&self) -> bool {
        let mut endings = [&self.in_project, &self.in_judge].into_iter().flatten().peekable();
        endings.peek().is_some() && endings.all(|ending| ending.passed)
    }

    /// What people call it.
    pub fn name(&self) -> String {
        match (&self.command, &self.sha256) {
            (Some(command), _) => command.clone(),
            (None, Some(sha256)) => format!("hidden guardrail {}", sha256.get(..16).unwrap_or(sha256)),
            (None, None) => "hidden guardrail".to_owned(),
        }
    }
}

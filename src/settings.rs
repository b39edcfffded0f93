//! The settings of a run: what they are, their defaults, and how files and flags make them.
//!
//! Invariant: as JSON they are a settings file again, which says the same.

mod error;
mod fields;
mod json;
mod load;
mod node;
mod read;
mod value;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::agent::Permissions;
use crate::fail_action::FailAction;
use crate::setup::{PromptVia, Scm};

pub(crate) use load::{Inspected, LOCAL_FILE, Loaded, PROJECT_FILE, inspect, load};

/// Everything that settings decide.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settings {
    /// How many iterations there may be; nothing means the preset's own default.
    pub(crate) maximum_iterations: Option<u32>,
    /// What the agent answers when it is done.
    pub(crate) completion_response: String,
    /// How much of a guardrail's output goes into a prompt, in characters.
    pub(crate) output_truncate_chars: usize,
    /// Whether the agent's output is shown while it works.
    pub(crate) stream_agent_output: bool,
    /// Whether prompts begin with the number of the iteration.
    pub(crate) include_iteration_count_in_prompt: bool,
    /// The agent.
    pub(crate) agent: AgentSettings,
    /// The commands that must succeed before anything counts as done.
    pub(crate) guardrails: Vec<Guardrail>,
    /// What is done with the changes when the guardrails pass.
    pub(crate) scm: Option<Scm>,
    /// How often a failed iteration is tried again.
    pub(crate) retries: u32,
    /// How long to wait before the first retry; doubles with each one.
    #[serde(serialize_with = "seconds")]
    pub(crate) retry_delay: Duration,
    /// Where a run ends without being done.
    pub(crate) limits: Limits,
    /// What happens to processes that an agent leaves behind.
    pub(crate) leftovers: Leftovers,
    /// How things look on the terminal.
    pub(crate) output: Output,
    /// How long the records of old runs are kept; nothing means for good.
    #[serde(serialize_with = "seconds_or_off")]
    pub(crate) retention: Option<Duration>,
}

impl Default for Settings {
    /// There is no default agent: its command is empty.
    fn default() -> Self {
        Self {
            maximum_iterations: None,
            completion_response: "DONE".to_owned(),
            output_truncate_chars: 5_000,
            stream_agent_output: true,
            include_iteration_count_in_prompt: false,
            agent: AgentSettings::default(),
            guardrails: Vec::new(),
            scm: None,
            retries: 3,
            retry_delay: Duration::from_secs(1),
            limits: Limits::default(),
            leftovers: Leftovers::Kill,
            output: Output::default(),
            retention: None,
        }
    }
}

/// Which agent is run, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentSettings {
    /// The program.
    pub(crate) command: String,
    /// The user's arguments, already split; as JSON each is quoted, so that it stays whole.
    #[serde(serialize_with = "quoted")]
    pub(crate) flags: Vec<String>,
    /// Variables that are added to its environment.
    pub(crate) env: BTreeMap<String, String>,
    /// How the prompt reaches it, for agents that ralph does not know.
    pub(crate) prompt_via: PromptVia,
    /// Who decides what it may do; nothing means that it depends on what protects the run.
    pub(crate) permissions: Option<Permissions>,
}

/// A command that judges the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Guardrail {
    /// What the shell runs.
    pub(crate) command: String,
    /// What its failure does to the next prompt.
    pub(crate) fail_action: FailAction,
    /// What the agent is told when it fails.
    pub(crate) hint: Option<String>,
}

/// Where things end without being done. Nothing means no limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Limits {
    /// How long one turn of the agent may take.
    #[serde(serialize_with = "seconds_or_off")]
    pub(crate) iteration_timeout: Option<Duration>,
    /// How long the agent may be silent.
    #[serde(serialize_with = "seconds_or_off")]
    pub(crate) idle_timeout: Option<Duration>,
    /// How long one guardrail may take.
    #[serde(serialize_with = "seconds_or_off")]
    pub(crate) gate_timeout: Option<Duration>,
    /// How long the run may take.
    #[serde(serialize_with = "seconds_or_off")]
    pub(crate) total_time: Option<Duration>,
    /// How long to wait for a quota to come back.
    #[serde(serialize_with = "seconds_or_off")]
    pub(crate) max_wait: Option<Duration>,
    /// What the run may cost, in US dollars.
    pub(crate) max_cost_usd: Option<f64>,
    /// How many tokens the run may use, in and out.
    pub(crate) max_tokens: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            iteration_timeout: None,
            idle_timeout: Some(Duration::from_mins(30)),
            gate_timeout: None,
            total_time: None,
            max_wait: None,
            max_cost_usd: None,
            max_tokens: None,
        }
    }
}

/// What happens to processes that an agent leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Leftovers {
    /// They are ended after the turn.
    #[default]
    Kill,
    /// They go on.
    Keep,
}

impl Leftovers {
    /// Every choice with the name that settings use.
    pub(crate) const NAMES: [(&str, Self); 2] = [("kill", Self::Kill), ("keep", Self::Keep)];
}

/// How things look on the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Emoji, or `[OK]` and `[ERR]`; nothing means what the locale can show.
    pub(crate) emoji: Option<bool>,
    /// When there is colour.
    pub(crate) color: ColorWhen,
    /// Whether each line begins with the time.
    pub(crate) timestamps: bool,
    /// How many lines of a tool's output are shown.
    pub(crate) max_lines: usize,
    /// How many characters of a tool's output are shown.
    pub(crate) max_chars: usize,
}

impl Default for Output {
    fn default() -> Self {
        Self { emoji: None, color: ColorWhen::Auto, timestamps: false, max_lines: 5, max_chars: 500 }
    }
}

/// When there is colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

impl ColorWhen {
    /// Every choice with the name that settings use.
    pub(crate) const NAMES: [(&str, Self); 3] =
        [("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    match duration.subsec_nanos() {
        0 => serializer.serialize_u64(duration.as_secs()),
        _ => serializer.serialize_f64(duration.as_secs_f64()),
    }
}

/// Off is zero, because null would mean the default.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn seconds_or_off<S: Serializer>(limit: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    seconds(&limit.unwrap_or_default(), serializer)
}

fn quoted<S: Serializer>(flags: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(flags.iter().map(|flag| shell_words::quote(flag)))
}

#[cfg(test)]
mod tests;

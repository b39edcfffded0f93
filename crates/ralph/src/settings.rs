//! The settings of a run: what they are, their defaults, and how files and flags make them.
//!
//! Invariant: as JSON they are a settings file again, which says the same. What stands above a field is what
//! the reference and people's editors say about its key, through the schema.

mod error;
pub(crate) mod flags;
pub(crate) mod guard;
mod json;
mod layers;
mod limits;
mod load;
mod loops;
mod read;
mod reviews;
mod roles;
mod sandbox;
mod schema;
pub(crate) mod value;
mod verify;

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ValueEnum;
use ralph_agents::Permissions;
use ralph_core::engine::plan::{Check, Gate, OnBlocked, When};
use ralph_core::fail_action::FailAction;
use ralph_core::setup::Price;
use ralph_core::setup::{Guard, Leftovers, PromptVia, Scm};
use ralph_core::verify::rules::{GuardrailKind, Repeats, RunsWhere};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{hidden, term::ColorWhen};

pub(crate) use error::SettingsError;
pub(crate) use limits::Limits;
pub(crate) use load::{
    Inspected, LOCAL_FILE, Loaded, PROJECT_FILE, ReadFile, inspect, load, load_with, of_bytes,
};
pub(crate) use loops::{BuildSettings, FleetSettings, PlanSettings, StoriesSettings, TaskSettings};
#[cfg(test)]
pub(crate) use read::{keys, renamed};
pub(crate) use reviews::ReviewOf;
pub(crate) use roles::{NamedAgent, RolesSettings, TypedAgents};
pub(crate) use sandbox::SandboxSettings;
pub(crate) use schema::schema;
pub(crate) use verify::{JudgeSettings, VerifySettings};

/// Everything that settings decide.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct Settings {
    /// How many iterations there may be. Without it, the command decides: `ralph run` takes 10.
    #[schemars(range(min = 1))]
    pub(crate) maximum_iterations: Option<u32>,
    /// What the agent writes in a `<response>` tag when it is done.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) completion_response: String,
    /// Whether ralph adds a paragraph on how to finish if the prompt has none: `auto`, or `off`.
    #[schemars(schema_with = "schema::contract")]
    pub(crate) contract: Contract,
    /// What happens when the agent says that it cannot continue: `stop`, or `confirm`, which asks one more turn first.
    #[schemars(schema_with = "schema::blocked")]
    pub(crate) blocked: OnBlocked,
    /// How many characters of a guardrail's output go into a prompt.
    pub(crate) output_truncate_chars: usize,
    /// What else of a guardrail's output goes into a prompt.
    pub(crate) prompt: PromptSettings,
    /// Show the agent's output while it works.
    pub(crate) stream_agent_output: bool,
    /// Begin prompts with `Iteration 3 of 10, 7 remaining.`
    pub(crate) include_iteration_count_in_prompt: bool,
    /// The agent that does the work.
    pub(crate) agent: AgentSettings,
    /// Several agents by name; `agent` is the one called `main`. Each has the keys of `agent`, and `maxCost` and `maxTokens`.
    #[schemars(schema_with = "schema::agents")]
    pub(crate) agents: BTreeMap<String, NamedAgent>,
    /// Which of `agents` does what.
    pub(crate) roles: RolesSettings,
    /// The commands that must succeed before anything counts as done, in the order in which they run.
    pub(crate) guardrails: Vec<Guardrail>,
    /// Commands that judge and that the agent must not know; no file of a project has them.
    #[serde(skip)]
    pub(crate) hidden: Vec<String>,
    /// Environment variables for guardrails. They override ralph's own, `NO_COLOR=1` and `TERM=dumb`.
    #[schemars(schema_with = "schema::variables")]
    pub(crate) guardrail_env: BTreeMap<String, String>,
    /// Run the guardrails once before the first iteration, so that the agent knows which ones already fail.
    pub(crate) baseline: bool,
    /// What is done with the changes when all guardrails pass. Without it, nothing is.
    pub(crate) scm: Option<Scm>,
    /// How often a failed iteration is tried again.
    pub(crate) retries: u32,
    /// How long to wait before the first retry. It doubles with each retry.
    #[serde(serialize_with = "seconds")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) retry_delay: Duration,
    /// Where a run ends without being done. `0` switches a limit off.
    pub(crate) limits: Limits,
    /// What a million tokens cost, in US dollars, by the beginning of a model's name (or the agent's): for agents that
    /// report tokens and no cost.
    #[schemars(schema_with = "schema::prices")]
    pub(crate) prices: BTreeMap<String, Price>,
    /// What happens to processes that the agent leaves behind after a turn.
    #[schemars(schema_with = "schema::leftovers")]
    pub(crate) leftovers: Leftovers,
    /// Whether ralph's guard checks the agent's tool calls before they run, in agents that have hooks.
    #[schemars(schema_with = "schema::guard")]
    pub(crate) guard: Guard,
    /// How `ralph plan` works.
    pub(crate) plan: PlanSettings,
    /// How `ralph build` works, and where it and `ralph plan` find things.
    pub(crate) build: BuildSettings,
    /// How `ralph stories` works.
    pub(crate) stories: StoriesSettings,
    /// How `ralph fleet` works.
    pub(crate) fleet: FleetSettings,
    /// Where ralph reports that a run ended, waits for a usage limit, or needs you: `desktop`, `ntfy:TOPIC`, `slack:URL`,
    /// `webhook:URL` (a URL may be `$NAME`, a variable), or a shell command, with the event as JSON on its standard input.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) notify: Option<String>,
    /// The address where you look at runs, such as that of `ralph serve`. It is part of every notification.
    #[schemars(regex(pattern = r"^\s*https?://\S+\s*$"))]
    pub(crate) notify_link: Option<String>,
    /// Keep the machine awake while turns run, if that needs no password.
    pub(crate) keep_awake: bool,
    /// How `ralph task` keeps an agent going.
    pub(crate) task: TaskSettings,
    /// What contains the agent and what it starts: a level, or an object.
    #[schemars(schema_with = "schema::sandbox")]
    pub(crate) sandbox: SandboxSettings,
    /// How claims are verified in a clean clone of the project.
    pub(crate) verify: VerifySettings,
    /// The clones in which claims are verified.
    pub(crate) judge: JudgeSettings,
    /// How things look on the terminal.
    pub(crate) output: Output,
    /// How long ralph keeps the records of old runs. `0` keeps them forever.
    #[serde(serialize_with = "seconds_or_off")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) retention: Option<Duration>,
}

impl Default for Settings {
    /// There is no default agent: its command is empty.
    fn default() -> Self {
        Self {
            maximum_iterations: None,
            completion_response: "DONE".to_owned(),
            contract: Contract::Auto,
            blocked: OnBlocked::Stop,
            output_truncate_chars: 5_000,
            prompt: PromptSettings::default(),
            stream_agent_output: true,
            include_iteration_count_in_prompt: false,
            agent: AgentSettings::default(),
            agents: BTreeMap::new(),
            roles: RolesSettings::default(),
            guardrails: Vec::new(),
            hidden: Vec::new(),
            guardrail_env: BTreeMap::new(),
            baseline: true,
            scm: None,
            retries: 3,
            retry_delay: Duration::from_secs(1),
            limits: Limits::default(),
            prices: BTreeMap::new(),
            leftovers: Leftovers::Kill,
            guard: Guard::On,
            plan: PlanSettings::default(),
            build: BuildSettings::default(),
            stories: StoriesSettings::default(),
            fleet: FleetSettings::default(),
            notify: None,
            notify_link: None,
            keep_awake: true,
            task: TaskSettings::default(),
            sandbox: SandboxSettings::default(),
            verify: VerifySettings::default(),
            judge: JudgeSettings::default(),
            output: Output::default(),
            retention: None,
        }
    }
}

impl Settings {
    /// The guardrails as gates of a plan.
    pub(crate) fn gates(&self, when: When) -> Vec<Gate> {
        let gate = |guardrail: &Guardrail| Gate {
            check: Check::Command { command: guardrail.command.clone() },
            when,
            fail_action: guardrail.fail_action,
            hint: guardrail.hint.clone(),
            runs_where: guardrail.runs_where,
            repeats: if guardrail.repeat { Repeats::Yes } else { Repeats::No },
            kind: guardrail.kind,
            junit: guardrail.junit.clone(),
        };
        // Only in the judge, where what it leaves behind is thrown away.
        let hidden = self.hidden.iter().map(|command| Gate {
            runs_where: RunsWhere::Judge,
            ..Gate::new(Check::Hidden { name: hidden::name(command) }, when)
        });
        self.commands().map(gate).chain(hidden).chain(self.reviews()).collect()
    }
}

/// What a prompt has of a guardrail's output beside its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct PromptSettings {
    /// How many of the last lines go into the prompt, if the beginning is not all of the output.
    pub(crate) tail: usize,
}

impl Default for PromptSettings {
    fn default() -> Self {
        Self { tail: 20 }
    }
}

/// Which agent is run, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct AgentSettings {
    /// The agent's program: `claude`, `codex`, `amp`, or any other. Some layer must name it.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) command: String,
    /// The model. Without it, the agent chooses.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) model: Option<String>,
    /// Arguments for the agent. Ralph splits each string as a shell would.
    // Already split here; as JSON each is quoted, so that it stays whole.
    #[serde(serialize_with = "quoted")]
    #[schemars(schema_with = "schema::flags")]
    pub(crate) flags: Vec<String>,
    /// Variables to add to the agent's environment.
    #[schemars(schema_with = "schema::variables")]
    pub(crate) env: BTreeMap<String, String>,
    /// How the prompt reaches an agent that ralph does not know.
    #[schemars(schema_with = "schema::prompt_via")]
    pub(crate) prompt_via: PromptVia,
    /// `agent`: the agent's own permission rules; `skip`: no permission prompts. Without it, `skip` if a sandbox or
    /// the guard protects the run, otherwise `agent`.
    #[schemars(schema_with = "schema::permissions")]
    pub(crate) permissions: Option<Permissions>,
}

/// A command that judges the work, or an agent that reviews it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("anyOf" = schema::guardrail_forms()))]
pub(crate) struct Guardrail {
    /// What the shell runs. Any exit code but 0 is a failure.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[schemars(default, regex(pattern = r"\S"))]
    pub(crate) command: String,
    /// Instead of a command: the agent that must approve a claim, by its name in `agents`, or `review` for the agents
    /// with that role. If it asks for changes, the working agent gets them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) review: Option<String>,
    /// What a review is about; `claim` is the only value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(default, schema_with = "schema::review_of")]
    pub(crate) of: Option<ReviewOf>,
    /// How often a review may ask for changes before a person decides. Without it, 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub(crate) rounds: Option<u32>,
    /// Where the output of a failure goes: after the next prompt, before it, or in its place.
    #[schemars(default, schema_with = "schema::fail_action")]
    pub(crate) fail_action: FailAction,
    /// What to tell the agent when this guardrail fails.
    pub(crate) hint: Option<String>,
    /// Where it runs: in the working tree and in the judge (`both`), only in the `judge`, only in the `project`.
    #[serde(rename = "where", skip_serializing_if = "RunsWhere::is_both")]
    #[schemars(default, schema_with = "schema::runs_where", extend("default" = RunsWhere::default()))]
    pub(crate) runs_where: RunsWhere,
    /// Whether it may run more than once for the same files. `false` for what deploys, or costs money each time.
    #[serde(skip_serializing_if = "Clone::clone")]
    #[schemars(default, extend("default" = true))]
    pub(crate) repeat: bool,
    /// Whether it runs tests, or only reads the code (`lint`). Without it, ralph guesses from the command.
    #[schemars(default, schema_with = "schema::guardrail_kind")]
    pub(crate) kind: Option<GuardrailKind>,
    /// The file with a `JUnit` report that it writes, relative to the project. Its tests are counted there instead of in
    /// its output.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) junit: Option<String>,
}

impl Default for Guardrail {
    /// There is no default command.
    fn default() -> Self {
        Self {
            command: String::new(),
            review: None,
            of: None,
            rounds: None,
            fail_action: FailAction::default(),
            hint: None,
            runs_where: RunsWhere::default(),
            repeat: true,
            kind: None,
            junit: None,
        }
    }
}

/// Whether an agent is told how to finish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Contract {
    /// Add it unless the prompt says how to finish
    #[default]
    Auto,
    /// Never add it
    Off,
}

impl Contract {
    /// Every choice with the name that settings use.
    pub(crate) const NAMES: [(&str, Self); 2] = [("auto", Self::Auto), ("off", Self::Off)];
}

/// How things look on the terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct Output {
    /// Emoji, or `[OK]` and `[ERR]`. Without it, what the locale can show.
    pub(crate) emoji: Option<bool>,
    /// When to use color. `auto`: on a terminal, unless `NO_COLOR` is set.
    #[schemars(schema_with = "schema::color")]
    pub(crate) color: ColorWhen,
    /// Begin each line with the time.
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

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    match duration.subsec_nanos() {
        0 => serializer.serialize_u64(duration.as_secs()),
        _ => serializer.serialize_f64(duration.as_secs_f64()),
    }
}

/// Off is zero, because null would mean the default.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
pub(crate) fn seconds_or_off<S: Serializer>(
    limit: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    seconds(&limit.unwrap_or_default(), serializer)
}

/// Off is zero here too.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn or_zero<T: Copy + Default + Serialize, S: Serializer>(
    limit: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    limit.unwrap_or_default().serialize(serializer)
}

fn quoted<S: Serializer>(flags: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(flags.iter().map(|flag| shell_words::quote(flag)))
}

#[cfg(test)]
mod tests;

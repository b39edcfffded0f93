//! The flags that several commands share, each written once: clap reads them here, and as JSON they are a layer of
//! settings. A caller inside a sandbox hands the words of `LoopFlags` to the ralph outside, which reads them again.
//!
//! Invariant: what can be handed over is what `LoopFlags` has; nothing else is read. So nothing that widens what the
//! caller may do belongs there: see `cli::safety_args`.

use std::{ffi::OsString, time::Duration};

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum, parser::ValueSource};
use ralph_core::{duration::parse_typed_duration, until::Until};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{Contract, seconds_or_off, value::percent};
use crate::term::ColorWhen;

/// The flags of a loop.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct LoopFlags {
    #[command(flatten)]
    pub(crate) settings: SettingFlags,

    /// Exit with this code when a limit is reached [default: 1; 0 in `plan` and `build`]
    #[arg(long, value_name = "CODE")]
    pub(crate) limit_exit_code: Option<u8>,

    /// Exit with this code when the run is done with findings [default: 7]
    #[arg(long, value_name = "CODE")]
    pub(crate) finding_exit_code: Option<u8>,

    #[command(flatten)]
    pub(crate) display: DisplayFlags,
}

/// Flags that stand for settings: as JSON they are a layer of these.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SettingFlags {
    #[command(flatten)]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) agent: AgentFlags,

    #[command(flatten)]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) roles: RoleFlags,

    /// Add a paragraph on how to finish if the prompt has none [default: auto]
    #[arg(long, value_name = "WHEN")]
    #[serde(skip_serializing_if = "is_unset")]
    contract: Option<Contract>,

    /// Try a failed iteration again this many times [default: 3]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "is_unset")]
    retries: Option<u32>,

    #[command(flatten)]
    #[serde(skip_serializing_if = "is_unset")]
    limits: LimitFlags,

    /// Do not run the guardrails before the first iteration [default: they run]
    #[arg(long)]
    #[serde(rename = "baseline", serialize_with = "off", skip_serializing_if = "is_unset")]
    no_baseline: bool,

    #[command(flatten)]
    #[serde(skip_serializing_if = "is_unset")]
    stream_agent_output: StreamFlags,
}

/// Which agent.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentFlags {
    /// Run this agent: a name from the settings, claude, codex, amp, gemini, opencode, qwen, copilot, pi, or any
    /// program that reads a prompt [default: those of the settings]
    #[arg(id = "agent", short = 'a', long = "agent", value_name = "NAME|COMMAND")]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) command: Option<String>,

    /// Have the agent use this model [default: the agent's own choice]
    #[arg(long)]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) model: Option<String>,
}

/// Who reviews.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleFlags {
    /// Review with this agent: a name from the settings, or a command [default: those of the settings]
    #[arg(long, value_name = "NAME")]
    #[serde(rename = "review", serialize_with = "one", skip_serializing_if = "is_unset")]
    pub(crate) reviewer: Option<String>,
}

/// Where things end without being done.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LimitFlags {
    /// End a turn of the agent after this time, such as 30m [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration)]
    #[serde(serialize_with = "seconds_or_off", skip_serializing_if = "is_unset")]
    iteration_timeout: Option<Duration>,

    /// End a turn of the agent that prints nothing for this time [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration)]
    #[serde(serialize_with = "seconds_or_off", skip_serializing_if = "is_unset")]
    idle_timeout: Option<Duration>,

    /// End a turn of the agent that has not begun after this time [default: 2m]
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration)]
    #[serde(serialize_with = "seconds_or_off", skip_serializing_if = "is_unset")]
    start_timeout: Option<Duration>,

    /// End a guardrail after this time, and a commit or push with its hooks [default: 30m]
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration)]
    #[serde(serialize_with = "seconds_or_off", skip_serializing_if = "is_unset")]
    gate_timeout: Option<Duration>,

    #[command(flatten)]
    #[serde(flatten)]
    budget: BudgetFlags,
}

/// What a run may use before it ends.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BudgetFlags {
    /// End when this much was spent, in US dollars [default: 0, no limit]
    ///
    /// Ralph checks budgets between turns, and during a turn if the agent reports its use then.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) max_cost: Option<f64>,

    /// End when this many tokens were used, in and out [default: 0, no limit]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) max_tokens: Option<u64>,

    /// End when one iteration has cost this much, in US dollars [default: 0, no limit]
    #[arg(long, value_name = "USD", value_parser = dollars)]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) max_iteration_cost: Option<f64>,

    /// End when one iteration has used this many tokens, in and out [default: 0, no limit]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) max_iteration_tokens: Option<u64>,

    /// End after this time of work and waiting, such as 8h [default: 0, no limit]
    #[arg(long, value_name = "DURATION", value_parser = parse_typed_duration)]
    #[serde(serialize_with = "seconds_or_off", skip_serializing_if = "is_unset")]
    pub(crate) max_time: Option<Duration>,

    /// End at this time, such as 07:00 (the next time that clocks show it) or 2026-11-18T07:00 [default: 0, no limit]
    #[arg(long, value_name = "TIME", value_parser = moment)]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) until: Option<String>,

    /// Leave this much of every usage limit for other work, in percent [default: 0, no limit]
    ///
    /// When the agent reports that no more is left, no turn begins and a running turn ends. Claude Code and Codex
    /// report it for subscriptions.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    #[serde(skip_serializing_if = "is_unset")]
    pub(crate) leave_quota: Option<u32>,
}

/// How many iterations there may be; as JSON a layer of settings.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct IterationFlags {
    /// End after this many iterations [default: 10; 15 in `stories`]
    #[arg(short, long, visible_alias = "maximum-iterations", value_name = "N")]
    #[serde(rename = "maximumIterations", skip_serializing_if = "is_unset")]
    pub(crate) max_iterations: Option<u32>,
}

/// The guardrails of a loop; as JSON a layer of settings.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct GuardrailFlags {
    /// Check the work with this shell command; may be given several times [default: those of the settings]
    #[arg(short, long, value_name = "COMMAND")]
    #[serde(rename = "guardrails", serialize_with = "commands", skip_serializing_if = "is_unset")]
    pub(crate) guardrail: Vec<String>,
}

/// Whether there must be guardrails.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GuardedFlag {
    /// Check with the guardrails of the settings, and refuse to start if there are none
    #[arg(long = "guardrails")]
    pub(crate) is_guarded: bool,
}

/// Whether the agent's output is shown: two flags for one setting.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(into = "bool")]
pub(crate) struct StreamFlags {
    /// Show what the agent does [default: it is shown]
    #[arg(long, overrides_with = "no_stream_agent_output")]
    stream_agent_output: bool,

    /// Show only what ralph does
    #[arg(long)]
    no_stream_agent_output: bool,
}

impl From<StreamFlags> for bool {
    fn from(flags: StreamFlags) -> Self {
        !flags.no_stream_agent_output
    }
}

/// How a run is shown.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub(crate) struct DisplayFlags {
    /// Print every step, and why
    #[arg(short = 'V', long, help_heading = "Output")]
    pub(crate) verbose: bool,

    /// Print only warnings, errors and the summary
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub(crate) quiet: bool,

    /// When to use color [default: auto]
    #[arg(long, value_name = "WHEN", help_heading = "Output")]
    pub(crate) color: Option<ColorWhen>,

    /// Begin each line with the time
    #[arg(long, help_heading = "Output")]
    pub(crate) timestamps: bool,

    /// What to print on standard output
    #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
    pub(crate) output: OutputFormat,
}

/// What is printed on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// A summary for people
    #[default]
    Human,
    /// The events of the run as JSON lines
    Json,
}

impl LoopFlags {
    /// The flags that were typed, as words of a command line.
    pub(crate) fn words(typed: &ArgMatches) -> Vec<OsString> {
        let command = Self::augment_args(Command::default());
        let is_typed =
            |arg: &&Arg| typed.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        command.get_arguments().filter(is_typed).filter_map(|arg| word(arg, typed)).collect()
    }

    /// The flags of a caller inside a sandbox that works as `own_agent`, if it may give them.
    pub(crate) fn words_of_caller(given: &[String], own_agent: &str) -> Result<Vec<OsString>, String> {
        let command = Self::augment_args(Command::default().no_binary_name(true).disable_help_flag(true));
        let refused = |error: clap::Error| {
            let why = error.to_string();
            let why = why.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
            format!("inside a sandbox: {why}")
        };
        let typed = command.try_get_matches_from(given).map_err(refused)?;
        let flags = Self::from_arg_matches(&typed).map_err(refused)?;
        // Ralph looks at an agent's program before it is contained, so it must not be one that the caller wrote.
        let SettingFlags { agent, roles, .. } = &flags.settings;
        let is_path = |it: &&String| it.contains('/') && *it != own_agent;
        for (flag, given) in [("--agent", &agent.command), ("--reviewer", &roles.reviewer)] {
            if given.as_ref().is_some_and(|it| is_path(&it)) {
                return Err(format!("inside a sandbox {flag} takes the name of a program, not its path"));
            }
        }
        match given.iter().find(|word| word.contains('\0')) {
            Some(word) => Err(format!("inside a sandbox: {word:?} is not a flag")),
            None => Ok(Self::words(&typed)),
        }
    }
}

/// A flag with its value as one word, so that no value can be taken for a flag.
fn word(arg: &Arg, typed: &ArgMatches) -> Option<OsString> {
    let mut word = OsString::from(format!("--{}", arg.get_long()?));
    if !matches!(arg.get_action(), ArgAction::SetTrue) {
        word.push("=");
        word.push(typed.get_raw(arg.get_id().as_str())?.next_back()?);
    }
    Some(word)
}

/// What flags say, as a layer of settings; only those that were given.
pub(crate) fn layer(flags: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(flags) {
        Ok(Value::Object(members)) => members,
        // Flags are structures of plain values.
        Ok(_) | Err(_) => Map::new(),
    }
}

/// Whether a flag was not given.
pub(crate) fn is_unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads an amount of US dollars.
pub(crate) fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse().ok();
    let amount = amount.filter(|amount: &f64| amount.is_finite() && 0.0 <= *amount);
    amount.ok_or_else(|| "expected a number such as 2.50".to_owned())
}

/// A moment as it was written, if it is one.
fn moment(text: &str) -> Result<String, String> {
    Until::parse(text).map(|until| until.map_or_else(|| "0".to_owned(), |until| until.to_string()))
}

/// Each command as the settings have it.
fn commands<S: Serializer>(commands: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(commands.iter().map(|command| json!({"command": command})))
}

/// One name as a list.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
fn one<S: Serializer>(name: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(name)
}

/// A flag `--no-…` as the setting that it switches off.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn off<S: Serializer>(is_given: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(!is_given)
}

#[cfg(test)]
mod tests;

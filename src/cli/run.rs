//! `ralph run`: the guarded loop.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use super::look::LookArgs;
use crate::{
    agent::Permissions,
    driver::{Start, fingerprints, millis},
    duration::parse_duration,
    engine::{
        plan::{Check, CommitRule, Gate, OnFailure, Plan, When},
        presets,
    },
    error::{Error, Result},
    journal::run_dir::RunDir,
    report::Reporter,
    settings::{self, Leftovers, Loaded, Settings},
    setup::{AgentSetup, PromptSource, Setup, Timeouts},
};

/// Run the agent in a loop until it says that it is done and every guardrail passes
///
/// Each iteration starts the agent with fresh context. Then all guardrails run; what fails is told to the
/// next iteration. When they pass, the work is committed (if the settings say so), and a completion response
/// of the agent ends the loop.
///
/// Example: ralph run --agent claude --guardrail "make test" -p "Make the tests pass. Say
/// `<response>DONE</response>` when they do."
#[derive(Args, Debug, Default)]
pub(super) struct RunArgs {
    /// What the agent shall do
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,

    /// Read the prompt from this file, again before each iteration
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "prompt")]
    prompt_file: Option<PathBuf>,

    /// End after this many iterations
    #[arg(short, long, visible_alias = "max-iterations", value_name = "N")]
    maximum_iterations: Option<u32>,

    /// What the agent answers in a `<response>` tag when it is done
    #[arg(short, long, value_name = "TEXT")]
    completion_response: Option<String>,

    /// Run this agent: claude, codex, amp, gemini, opencode, qwen, copilot, pi, or any program that reads a prompt
    #[arg(short, long, value_name = "COMMAND")]
    agent: Option<String>,

    /// Check the work with this shell command; may be given several times, and replaces those of the settings
    #[arg(short, long, value_name = "COMMAND")]
    guardrail: Vec<String>,

    /// Try a failed iteration again this many times
    #[arg(long, value_name = "N")]
    retries: Option<u32>,

    /// End a turn of the agent after this time, such as 30m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    iteration_timeout: Option<String>,

    /// End a turn of the agent that prints nothing for this time
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    idle_timeout: Option<String>,

    /// End a guardrail after this time
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    gate_timeout: Option<String>,

    /// Exit with this code when a limit is reached
    #[arg(long, value_name = "CODE")]
    limit_exit_code: Option<u8>,

    /// Show what the agent does (the default)
    #[arg(long, overrides_with = "no_stream_agent_output")]
    stream_agent_output: bool,

    /// Show only what ralph does
    #[arg(long)]
    no_stream_agent_output: bool,

    /// Read this settings file instead of .ralph/settings.json
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    look: LookArgs,
}

/// Runs the loop.
pub(super) fn main(args: &RunArgs, project: &Path) -> Result<u8> {
    let prompt = prompt(args)?;
    let loaded = load(args, project)?;
    let mut reporters = args.look.reporters(&loaded.settings);
    for warning in &loaded.warnings {
        super::warn(warning);
    }
    for file in &loaded.files {
        reporters.detail(&format!("Loading settings from {}", file.display()));
    }
    reporters.detail(&format!("Settings: {}", redacted(&loaded.settings)));
    let warnings = endless_prompt(&prompt, &loaded.settings.completion_response).into_iter().collect();
    if let Some(age) = loaded.settings.retention {
        // What cannot be removed now is removed another time.
        let _ = super::clean::remove_older(&RunDir::of_project(project)?, age);
    }
    let plan = plan(&loaded.settings, args.limit_exit_code);
    let setup = setup(&loaded, prompt, project);
    Start { plan, setup, reporters, warnings }.begin()?.drive()
}

/// The merged settings in one line, without the values of the agent's variables: they may be keys.
fn redacted(settings: &Settings) -> Value {
    let mut settings = json!(settings);
    if let Some(variables) = settings["agent"]["env"].as_object_mut() {
        variables.values_mut().for_each(|value| *value = json!("***"));
    }
    settings
}

fn prompt(args: &RunArgs) -> Result<PromptSource> {
    match (&args.prompt, &args.prompt_file) {
        (Some(text), None) if text.trim().is_empty() => Err(Error::new("the prompt is empty")),
        (Some(text), None) => Ok(PromptSource::Text(text.clone())),
        (None, Some(path)) => Ok(PromptSource::File(std::path::absolute(path)?)),
        (Some(_), Some(_)) => Err(Error::new("give either --prompt or --prompt-file, not both")),
        (None, None) => Err(Error::new("there is no prompt")
            .hint("say what to do: ralph run -p \"Make the tests pass. Say <response>DONE</response> when they do.\"")
            .hint("or name a file: ralph run -f TASK.md")),
    }
}

/// An agent that is not told how to say that it is done works until the limit.
fn endless_prompt(prompt: &PromptSource, response: &str) -> Option<String> {
    let text = match prompt {
        PromptSource::Text(text) => text.clone(),
        PromptSource::File(path) => std::fs::read_to_string(path).unwrap_or_default(),
    };
    (!text.to_lowercase().contains("<response>")).then(|| {
        format!(
            "the prompt does not say how to end: unless the agent knows it from elsewhere, the run goes on to its \
             limit. Add to the prompt: Say <response>{response}</response> when it is done."
        )
    })
}

fn load(args: &RunArgs, project: &Path) -> Result<Loaded> {
    let config = args.config.as_ref().map(std::path::absolute).transpose()?;
    settings::load(project, config.as_deref(), Value::Object(layer(args))).map_err(|error| {
        let elsewhere =
            settings_above(project).map(|dir| format!("there are settings in {0}: -C {0}", dir.display()));
        let hints: Vec<String> = error.hints.iter().cloned().chain(elsewhere).collect();
        hints.into_iter().fold(Error::new(error), Error::hint)
    })
}

/// The nearest folder above that has settings, for somebody who is in the wrong one.
fn settings_above(project: &Path) -> Option<&Path> {
    if project.join(".ralph/settings.json").exists() {
        return None;
    }
    project.ancestors().skip(1).find(|dir| dir.join(".ralph/settings.json").exists())
}

/// The flags as a layer of settings; only those that were given.
fn layer(args: &RunArgs) -> Map<String, Value> {
    let mut layer = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            layer.insert(key.to_owned(), value);
        }
    };
    set("maximumIterations", args.maximum_iterations.map(Value::from));
    set("completionResponse", args.completion_response.clone().map(Value::from));
    set("agent", args.agent.as_ref().map(|command| json!({"command": command})));
    set("retries", args.retries.map(Value::from));
    let streams = match (args.stream_agent_output, args.no_stream_agent_output) {
        (_, true) => Some(false),
        (true, false) => Some(true),
        (false, false) => None,
    };
    set("streamAgentOutput", streams.map(Value::from));
    let guardrails: Vec<Value> = args.guardrail.iter().map(|command| json!({"command": command})).collect();
    set("guardrails", (!guardrails.is_empty()).then(|| Value::from(guardrails)));
    let limits = [
        ("iterationTimeout", &args.iteration_timeout),
        ("idleTimeout", &args.idle_timeout),
        ("gateTimeout", &args.gate_timeout),
    ];
    let limits: Map<String, Value> = limits
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), Value::from(value.clone()?))))
        .collect();
    set("limits", (!limits.is_empty()).then(|| Value::from(limits)));
    layer
}

/// The rules of the loop as the settings have them.
fn plan(settings: &Settings, limit_exit_code: Option<u8>) -> Plan {
    let gates = settings.guardrails.iter().map(|guardrail| Gate {
        check: Check::Command { command: guardrail.command.clone() },
        when: When::EveryTurn,
        fail_action: guardrail.fail_action,
        hint: guardrail.hint.clone(),
    });
    let mut plan = presets::run(&settings.completion_response, gates.collect());
    let limits = &mut plan.limits;
    limits.iterations = settings.maximum_iterations.unwrap_or(limits.iterations);
    limits.exit_code = limit_exit_code.unwrap_or(limits.exit_code);
    limits.max_wait_ms = settings.limits.max_wait.map_or(limits.max_wait_ms, millis);
    limits.total_ms = settings.limits.total_time.map(millis);
    limits.cost_usd = settings.limits.max_cost_usd;
    limits.tokens = settings.limits.max_tokens;
    if settings.scm.as_ref().is_none_or(|scm| scm.tasks.is_empty()) {
        plan.commit = CommitRule::Never;
    }
    let retry = OnFailure::Retry { retries: settings.retries };
    (plan.failures.agent, plan.failures.commit) = (retry, retry);
    plan.failures.retry_delay_ms = millis(settings.retry_delay);
    plan
}

fn setup(loaded: &Loaded, prompt: PromptSource, project: &Path) -> Setup {
    let settings = &loaded.settings;
    let files: Vec<PathBuf> = loaded.files.iter().map(|file| project.join(file)).collect();
    Setup {
        project: project.to_owned(),
        agent: AgentSetup {
            command: settings.agent.command.clone(),
            flags: settings.agent.flags.clone(),
            env: settings.agent.env.clone(),
            prompt_via: settings.agent.prompt_via,
            // Nothing protects the run yet, so the agent's own rules hold unless the user says otherwise.
            permissions: settings.agent.permissions.unwrap_or(Permissions::Agent),
        },
        prompt,
        count_in_prompt: settings.include_iteration_count_in_prompt,
        truncate_chars: settings.output_truncate_chars,
        scm: settings.scm.clone(),
        timeouts: Timeouts {
            turn_ms: settings.limits.iteration_timeout.map(millis),
            idle_ms: settings.limits.idle_timeout.map(millis),
            gate_ms: settings.limits.gate_timeout.map(millis),
        },
        keep_leftovers: settings.leftovers == Leftovers::Keep,
        dirty: std::collections::BTreeMap::new(),
        settings: fingerprints(files.iter().map(PathBuf::as_path)),
    }
}

/// Checks a duration and leaves it as it was typed, for the layer of settings.
fn duration(text: &str) -> std::result::Result<String, String> {
    parse_duration(text).map(|_| text.to_owned())
}

//! The flags that every loop has, and what they and the settings make of a run.

use std::path::{Path, PathBuf};

use clap::{Args, builder::PossibleValuesParser};
use ralph_agents::{Permissions, hooking::Hooking};
use ralph_core::{
    containment::{
        level::{Choice, Level},
        wanted::Wanted,
    },
    duration::{millis, parse_duration},
    engine::plan::Plan,
    setup::{AgentSetup, Guard, Invocation, LockScope, MessageFrom, PromptSource, Setup, TaskFrom, Timeouts},
};
use ralph_sys::error::{Error, Result};
use serde_json::{Map, Value, json};

use super::{display::DisplayArgs, safety_args::SafetyArgs};
use crate::{
    driver::fingerprints,
    journal::run_dir::RunDir,
    report::Reporter,
    settings::{self, Contract, Loaded, Settings},
};

/// The flags that every loop has.
#[derive(Args, Debug, Default)]
pub(super) struct LoopArgs {
    /// Run this agent: claude, codex, amp, gemini, opencode, qwen, copilot, pi, or any program that reads a prompt
    #[arg(short, long, value_name = "COMMAND")]
    agent: Option<String>,

    /// Tell the agent how to finish where the prompt does not: auto (the default), off
    #[arg(long, value_name = "WHEN", value_parser = PossibleValuesParser::new(Contract::NAMES.map(|(name, _)| name)))]
    contract: Option<String>,

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

    /// End when this much was spent, in US dollars; 0 is no limit
    ///
    /// Budgets are looked at between turns, and inside a turn where the agent says meanwhile what it uses.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,

    /// End when this many tokens were used, in and out; 0 is no limit
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,

    /// End when one iteration has cost this much, in US dollars; 0 is no limit
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_iteration_cost: Option<f64>,

    /// End when one iteration has used this many tokens, in and out; 0 is no limit
    #[arg(long, value_name = "N")]
    max_iteration_tokens: Option<u64>,

    /// End after this time of work and waiting, such as 8h; 0 is no limit
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    max_time: Option<String>,

    #[command(flatten)]
    safety: SafetyArgs,

    /// Do not run the guardrails before the first iteration
    #[arg(long)]
    no_baseline: bool,

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
    look: DisplayArgs,
}

impl LoopArgs {
    /// Reads the settings, with these flags and those of `layer` above them.
    pub(super) fn load(&self, project: &Path, layer: Map<String, Value>) -> Result<Loaded> {
        self.load_again(project, Invocation::default(), layer)
    }

    /// The same, with what an earlier run was started with below these flags.
    pub(super) fn load_again(
        &self,
        project: &Path,
        mut earlier: Invocation,
        mut flags: Map<String, Value>,
    ) -> Result<Loaded> {
        self.add_to(&mut flags);
        if self.agent.is_some() {
            // What was said to another agent is not for this one.
            earlier.flags.remove("agent");
        }
        let config = self.config.as_ref().map(std::path::absolute).transpose()?;
        let Invocation { config, flags } = earlier.with(Invocation { config, flags });
        settings::load(project, config.as_deref(), Value::Object(flags)).map_err(|error| {
            let elsewhere = settings_above(project)
                .map(|dir| format!("there are settings in {0}: -C {0}", dir.display()));
            let hints: Vec<String> = error.hints.iter().cloned().chain(elsewhere).collect();
            hints.into_iter().fold(Error::new(error), Error::hint)
        })
    }

    /// Who is told of the run; says what the settings are, and tidies up as they want.
    pub(super) fn reporters(&self, loaded: &Loaded, project: &Path) -> Result<Vec<Box<dyn Reporter>>> {
        let mut reporters = self.look.reporters(&loaded.settings);
        for warning in &loaded.warnings {
            super::warn(warning);
        }
        for file in &loaded.files {
            reporters.detail(&format!("Loading settings from {}", file.display()));
        }
        reporters.detail(&format!("Settings: {}", redacted(&loaded.settings)));
        if let Some(age) = loaded.settings.retention {
            // What cannot be removed now is removed another time.
            let _ = super::clean::remove_older(&RunDir::of_project(project)?, age);
        }
        Ok(reporters)
    }

    /// The flags as a caller inside a sandbox may pass them on; those that would change its sandbox are refused.
    pub(super) fn flags_inside(&self) -> Result<Vec<(String, Option<String>)>> {
        if self.config.is_some() || self.safety.is_given() {
            let flags = "--sandbox, --no-sandbox, --no-guard and --config";
            return Err(Error::new(format!("{flags} cannot be given inside a sandbox"))
                .hint("leave them out: a part of a task runs in a sandbox like the caller's"));
        }
        let valued = [
            ("agent", self.agent.clone()),
            ("contract", self.contract.clone()),
            ("retries", self.retries.map(|it| it.to_string())),
            ("iteration-timeout", self.iteration_timeout.clone()),
            ("idle-timeout", self.idle_timeout.clone()),
            ("gate-timeout", self.gate_timeout.clone()),
            ("max-cost", self.max_cost.map(|it| it.to_string())),
            ("max-tokens", self.max_tokens.map(|it| it.to_string())),
            ("max-iteration-cost", self.max_iteration_cost.map(|it| it.to_string())),
            ("max-iteration-tokens", self.max_iteration_tokens.map(|it| it.to_string())),
            ("max-time", self.max_time.clone()),
            ("limit-exit-code", self.limit_exit_code.map(|it| it.to_string())),
        ];
        let switches = [
            ("stream-agent-output", self.stream_agent_output),
            ("no-stream-agent-output", self.no_stream_agent_output),
            ("no-baseline", self.no_baseline),
        ];
        let valued = valued.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Some(value?))));
        let switches =
            switches.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| (name.to_owned(), None));
        Ok(valued.chain(switches).chain(self.look.flags()).collect())
    }

    /// The plan with the exit code that the flags want at a limit.
    pub(super) fn limit(&self, mut plan: Plan) -> Plan {
        plan.limits.limit_exit_code = self.limit_exit_code.unwrap_or(plan.limits.limit_exit_code);
        plan
    }

    /// Whether a person reads what is printed.
    pub(super) fn is_for_people(&self) -> bool {
        !self.look.is_json()
    }

    fn add_to(&self, layer: &mut Map<String, Value>) {
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                layer.insert(key.to_owned(), value);
            }
        };
        set("agent", self.agent.as_ref().map(|command| json!({"command": command})));
        set("contract", self.contract.clone().map(Value::from));
        set("retries", self.retries.map(Value::from));
        for (key, value) in self.safety.layer() {
            set(key, value);
        }
        set("baseline", self.no_baseline.then_some(Value::from(false)));
        let streams = match (self.stream_agent_output, self.no_stream_agent_output) {
            (_, true) => Some(false),
            (true, false) => Some(true),
            (false, false) => None,
        };
        set("streamAgentOutput", streams.map(Value::from));
        let limits = [
            ("iterationTimeout", &self.iteration_timeout),
            ("idleTimeout", &self.idle_timeout),
            ("gateTimeout", &self.gate_timeout),
            ("maxTime", &self.max_time),
        ];
        let limits = limits.map(|(key, value)| (key, value.clone().map(Value::from)));
        let budgets = [
            ("maxCost", self.max_cost.map(Value::from)),
            ("maxTokens", self.max_tokens.map(Value::from)),
            ("maxIterationCost", self.max_iteration_cost.map(Value::from)),
            ("maxIterationTokens", self.max_iteration_tokens.map(Value::from)),
        ];
        let limits: Map<String, Value> = limits
            .into_iter()
            .chain(budgets)
            .filter_map(|(key, value)| Some((key.to_owned(), value?)))
            .collect();
        set("limits", (!limits.is_empty()).then(|| Value::from(limits)));
    }
}

/// The plan with what the settings say for every loop.
pub(super) fn tune(mut plan: Plan, settings: &Settings) -> Plan {
    let limits = &mut plan.limits;
    limits.max_iterations = settings.maximum_iterations.unwrap_or(limits.max_iterations);
    limits.max_wait_ms = settings.limits.max_wait.map_or(limits.max_wait_ms, millis);
    limits.max_time_ms = settings.limits.max_time.map(millis);
    limits.max_cost = settings.limits.max_cost;
    limits.max_tokens = settings.limits.max_tokens;
    limits.max_iteration_cost = settings.limits.max_iteration_cost;
    limits.max_iteration_tokens = settings.limits.max_iteration_tokens;
    plan.done_when = plan.done_when.filter(|_| settings.contract == Contract::Auto);
    plan.baseline &= settings.baseline;
    plan.stuck_after = plan.stuck_after.and(settings.limits.stuck_after);
    plan.failures = plan.failures.with_retries(settings.retries);
    plan.failures.retry_delay_ms = millis(settings.retry_delay);
    plan
}

/// What the rules are applied to, as the settings have it.
pub(super) fn setup(loaded: &Loaded, prompt: PromptSource, project: &Path) -> Setup {
    setup_with(loaded, prompt, project, Choice::Level(Level::None))
}

/// Who decides what the agent may do when the user does not say so: its own rules, unless something else protects
/// the run.
fn permissions(settings: &Settings, sandbox: &Wanted) -> Permissions {
    let adapter = ralph_agents::adapter(&settings.agent.command);
    let is_contained = sandbox.level != Choice::Level(Level::None);
    let is_guarded = settings.guard == Guard::On && adapter.hooks() != Hooking::Never;
    let is_set = |name: &str| settings.agent.env.contains_key(name) || std::env::var_os(name).is_some();
    let can_skip =
        adapter.skips_as_root_with().is_none_or(|name| !rustix::process::geteuid().is_root() || is_set(name));
    if is_contained || is_guarded && can_skip { Permissions::Skip } else { Permissions::Agent }
}

/// The same for a loop that has another sandbox where the settings name none.
pub(super) fn setup_with(loaded: &Loaded, prompt: PromptSource, project: &Path, usual: Choice) -> Setup {
    let settings = &loaded.settings;
    let agent = ralph_agents::adapter(&settings.agent.command).name();
    let sandbox = settings.sandbox.wanted(agent, usual);
    let files: Vec<PathBuf> = loaded.files.iter().map(|file| project.join(file)).collect();
    Setup {
        project: project.to_owned(),
        agent: AgentSetup {
            command: settings.agent.command.clone(),
            flags: settings.agent.flags.clone(),
            env: settings.agent.env.clone(),
            prompt_via: settings.agent.prompt_via,
            permissions: settings.agent.permissions.unwrap_or_else(|| permissions(settings, &sandbox)),
        },
        prompt,
        task: TaskFrom::Prompt,
        message: MessageFrom::Agent,
        plan_file: None,
        variables: std::collections::BTreeMap::new(),
        assignment: None,
        territory: LockScope::Tree,
        session_log: false,
        stories: None,
        session: None,
        guard: settings.guard,
        include_iteration_count_in_prompt: settings.include_iteration_count_in_prompt,
        output_truncate_chars: settings.output_truncate_chars,
        scm: settings.scm.clone(),
        notify: settings.notify.clone(),
        prices: settings.prices.clone(),
        timeouts: Timeouts {
            iteration_timeout_ms: settings.limits.iteration_timeout.map(millis),
            idle_timeout_ms: settings.limits.idle_timeout.map(millis),
            gate_timeout_ms: settings.limits.gate_timeout.map(millis),
        },
        sandbox,
        leftovers: settings.leftovers,
        dirty: std::collections::BTreeMap::new(),
        settings: fingerprints(files.iter().map(PathBuf::as_path)),
        invocation: loaded.invocation.clone(),
    }
}

/// The merged settings in one line, without the values of the agent's variables: they may be keys.
fn redacted(settings: &Settings) -> Value {
    let mut settings = json!(settings);
    if let Some(variables) = settings["agent"]["env"].as_object_mut() {
        variables.values_mut().for_each(|value| *value = json!("***"));
    }
    settings
}

/// The nearest folder above that has settings, for somebody who is in the wrong one.
fn settings_above(project: &Path) -> Option<&Path> {
    if project.join(".ralph/settings.json").exists() {
        return None;
    }
    project.ancestors().skip(1).find(|dir| dir.join(".ralph/settings.json").exists())
}

/// Checks a duration and leaves it as it was typed, for the layer of settings.
pub(super) fn duration(text: &str) -> std::result::Result<String, String> {
    parse_duration(text).map(|_| text.to_owned())
}

/// Reads an amount of US dollars.
pub(super) fn dollars(text: &str) -> std::result::Result<f64, String> {
    let amount: f64 =
        text.trim_start_matches('$').parse().map_err(|_| "expected a number such as 2.50".to_owned())?;
    if amount.is_finite() && 0.0 <= amount {
        Ok(amount)
    } else {
        Err("expected a number such as 2.50".to_owned())
    }
}

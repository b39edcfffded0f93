//! The flags that every loop has, and what they and the settings make of a run.

use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use ralph_agents::{Permissions, hooking::Hooking};
use ralph_core::{
    containment::{
        level::{Choice, Level},
        wanted::Wanted,
    },
    duration::millis,
    engine::plan::Plan,
    notify::NotifyTarget,
    setup::{AgentSetup, Guard, Invocation, LockScope, MessageFrom, PromptSource, Setup, TaskFrom, Timeouts},
    verify::rules::LookWhen,
};
use ralph_sys::error::{Error, Result};
use serde_json::{Map, Value, json};

use super::safety_args::SafetyArgs;
use crate::{
    driver::{Start, access, fingerprints, superuser},
    hidden,
    journal::{local_time::zone, run_dir::RunDir},
    report::{Reporter, fleet::FleetStyle},
    settings::{
        self, AgentSettings, Contract, Loaded, Settings, SettingsError, TypedAgents,
        flags::{LoopFlags, SettingFlags, layer},
    },
};

/// The flags that every loop has.
#[derive(Args, Debug, Default)]
pub(super) struct LoopArgs {
    #[command(flatten)]
    flags: LoopFlags,

    #[command(flatten)]
    safety: SafetyArgs,

    /// Let the agent change tests, fixtures and snapshots freely, because that is the task [default: a weakened test
    /// is a finding]
    #[arg(long)]
    tests_may_change: bool,

    /// Read this settings file instead of .ralph/settings.json
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Check claims with this shell command and keep it secret from the agent; may be given several times
    ///
    /// It runs in the judge and appears in no prompt, log or record; the agent learns only that a hidden guardrail
    /// failed. Use a sandbox: without one, an agent can read everything that you can.
    #[arg(long, value_name = "COMMAND")]
    hidden_guardrail: Vec<String>,

    /// Show the first prompt, the guardrails, the sandbox, the budget and what ends the loop; start and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Run the loop in the background and show it as `ralph watch` does; the loop continues when you leave the screen
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
}

impl LoopArgs {
    /// Reads the settings, with these flags and those of `layer` above them.
    pub(super) fn load(&self, project: &Path, layer: Map<String, Value>) -> Result<Loaded> {
        self.load_again(project, Invocation::default(), layer)
    }

    /// The reviewer that was typed, where no other agent was.
    pub(super) fn only_reviewer(&self) -> Option<&str> {
        let SettingFlags { agent, roles, .. } = &self.flags.settings;
        roles.reviewer.as_deref().filter(|_| agent.command.is_none())
    }

    /// The same, with what an earlier run was started with below these flags.
    pub(super) fn load_again(
        &self,
        project: &Path,
        mut earlier: Invocation,
        flags: Map<String, Value>,
    ) -> Result<Loaded> {
        let typed = |flags| Invocation { config: None, flags };
        let Invocation { flags, .. } =
            typed(flags).with(typed(layer(&self.flags.settings))).with(typed(self.safety_layer()));
        if self.flags.settings.agent.command.is_some() {
            // What was said to another agent is not for this one.
            earlier.flags.remove("agent");
        }
        let config = self.config.as_ref().map(std::path::absolute).transpose()?;
        let Invocation { config, flags } = earlier.with(Invocation { config, flags });
        let mut loaded =
            settings::load(project, config.as_deref(), Value::Object(flags)).map_err(|error| {
                let elsewhere = settings_above(project)
                    .map(|dir| format!("there are settings in {0}: -C {0}", dir.display()));
                let hints: Vec<String> = error.hints.iter().cloned().chain(elsewhere).collect();
                hints.into_iter().fold(Error::new(error), Error::hint)
            })?;
        let typed = |key: &str, member: &str| loaded.invocation.flags.get(key).and_then(|it| it.get(member));
        let typed_agents = TypedAgents {
            agent: typed("agent", "command").and_then(Value::as_str),
            model: typed("agent", "model").and_then(Value::as_str),
            reviewer: typed("roles", "review").and_then(|it| it.get(0)).and_then(Value::as_str),
        };
        let resolved = loaded.settings.clone().with_roles(typed_agents, &loaded.origins);
        loaded.settings = resolved.map_err(|problems| {
            Error::new(SettingsError { problems, hints: Vec::new() })
                .hint("see docs/roles.md: agents and roles")
        })?;
        let all = loaded.settings.agents.values().map(|named| &named.agent);
        for agent in all {
            if agent.model.is_some() && model_flags(agent).is_empty() {
                let name = ralph_agents::adapter(&agent.command).name();
                return Err(Error::new(format!("{name} chooses its model by itself"))
                    .hint("leave out --model, and agent.model in the settings"));
            }
        }
        loaded.settings.hidden = hidden::own()?;
        loaded.settings.hidden.extend(self.hidden_guardrail.iter().cloned());
        Ok(loaded)
    }

    /// The settings that flags stand for which a caller inside a sandbox cannot pass on.
    fn safety_layer(&self) -> Map<String, Value> {
        let may_change =
            self.tests_may_change.then(|| ("verify".to_owned(), json!({"testsMayChange": true})));
        self.safety.layer().into_iter().chain(may_change).collect()
    }

    /// Refuses a hidden guardrail that was typed where none would run.
    pub(super) fn refuse_hidden(&self, why: &str) -> Result<()> {
        if self.hidden_guardrail.is_empty() {
            return Ok(());
        }
        Err(Error::new(format!("--hidden-guardrail would check nothing: {why}")))
    }

    /// Who is told of the run; says what the settings are, and tidies up as they want.
    pub(super) fn reporters(&self, loaded: &Loaded, project: &Path) -> Result<Vec<Box<dyn Reporter>>> {
        let mut reporters = self.flags.display.reporters(&loaded.settings);
        for warning in &loaded.warnings {
            super::warn(warning);
        }
        for file in &loaded.files {
            reporters.detail(&format!("Loading settings from {}", file.display()));
        }
        reporters.detail(&format!("Settings: {}", redacted(&loaded.settings)));
        if let Some(age) = loaded.settings.retention.filter(|_| !self.dry_run) {
            // What cannot be removed now is removed another time.
            let _ = super::clean::remove_older(&RunDir::of_project(project)?, age);
        }
        Ok(reporters)
    }

    /// Refuses what a caller inside a sandbox cannot pass on: it would change its sandbox.
    pub(super) fn refuse_inside(&self) -> Result<()> {
        if self.config.is_some() || self.safety.is_given() || self.tests_may_change {
            let flags = "--sandbox, --no-sandbox, --no-guard, --tests-may-change and --config";
            return Err(Error::new(format!("{flags} cannot be given inside a sandbox"))
                .hint("leave them out: a part of a task runs in a sandbox like the caller's"));
        }
        Ok(())
    }

    /// The plan with the exit code that the flags want at a limit.
    pub(super) fn limit(&self, mut plan: Plan) -> Plan {
        let (flags, limits) = (&self.flags, &mut plan.limits);
        limits.limit_exit_code = flags.limit_exit_code.unwrap_or(limits.limit_exit_code);
        limits.finding_exit_code = flags.finding_exit_code.unwrap_or(limits.finding_exit_code);
        plan
    }

    /// How a fleet is shown.
    pub(super) fn fleet_style(&self, settings: &Settings) -> FleetStyle {
        self.flags.display.fleet_style(settings)
    }

    /// Whether the loop is only to be shown.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Runs the loop to its end, or shows it.
    pub(super) fn run(&self, start: Start) -> Result<u8> {
        if self.dry_run { self.show(&start) } else { start.begin()?.drive() }
    }

    /// Shows what the loop would do.
    pub(super) fn show(&self, start: &Start) -> Result<u8> {
        super::dry_run::show(start, self.is_for_people())
    }

    /// Whether a person reads what is printed.
    pub(super) fn is_for_people(&self) -> bool {
        !self.flags.display.is_json()
    }
}

/// The plan with what the settings say for every loop.
pub(super) fn tune(plan: Plan, settings: &Settings) -> Plan {
    tune_at(plan, settings, Timestamp::now())
}

/// The same at this moment: a time of day is the next one.
pub(super) fn tune_at(mut plan: Plan, settings: &Settings, now: Timestamp) -> Plan {
    let limits = &mut plan.limits;
    limits.max_iterations = settings.maximum_iterations.unwrap_or(limits.max_iterations);
    limits.max_wait_ms = settings.limits.max_wait.map_or(limits.max_wait_ms, millis);
    limits.max_time_ms = settings.limits.max_time.map(millis);
    limits.max_cost = settings.limits.max_cost;
    limits.max_tokens = settings.limits.max_tokens;
    limits.max_iteration_cost = settings.limits.max_iteration_cost;
    limits.max_iteration_tokens = settings.limits.max_iteration_tokens;
    limits.until_ms = settings.limits.until.map(|until| until.moment(now, &zone()).as_millisecond());
    limits.leave_quota = settings.limits.leave_quota;
    plan.done_when = plan.done_when.filter(|_| settings.contract == Contract::Auto);
    plan.blocked = settings.blocked;
    plan.baseline &= settings.baseline;
    plan.checkout = settings.verify.checkout;
    plan.on_finding = settings.verify.on_finding;
    plan.bite = settings.verify.bite;
    plan.look = if settings.roles.review.is_empty() { LookWhen::Off } else { settings.verify.look };
    plan.on_look = settings.verify.on_look;
    plan.stuck_after = plan.stuck_after.and(settings.limits.stuck_after);
    plan.failures = plan.failures.with_retries(settings.retries);
    plan.failures.retry_delay_ms = millis(settings.retry_delay);
    plan.roles = settings.plan_roles();
    plan
}

/// What the rules are applied to, as the settings have it.
pub(super) fn setup(loaded: &Loaded, prompt: PromptSource, project: &Path) -> Setup {
    setup_with(loaded, prompt, project, Choice::Level(Level::None))
}

/// The arguments by which an agent uses the model of the settings, if they name one.
fn model_flags(agent: &AgentSettings) -> Vec<String> {
    let model = agent.model.as_ref();
    model.and_then(|model| ralph_agents::adapter(&agent.command).model(model)).unwrap_or_default()
}

/// Who decides what the agent may do when the user does not say so: its own rules, unless something else protects
/// the run.
fn permissions(guard: Guard, agent: &AgentSettings, sandbox: &Wanted) -> Permissions {
    let adapter = ralph_agents::adapter(&agent.command);
    let is_contained = sandbox.level != Choice::Level(Level::None);
    let is_guarded = guard == Guard::On && adapter.hooks() != Hooking::Never;
    let can_skip = superuser::lacks(&agent.command, &agent.env).is_none();
    if is_contained || is_guarded && can_skip { Permissions::Skip } else { Permissions::Agent }
}

/// The same for a loop that has another sandbox where the settings name none.
pub(super) fn setup_with(loaded: &Loaded, prompt: PromptSource, project: &Path, usual: Choice) -> Setup {
    let settings = &loaded.settings;
    let agent = ralph_agents::adapter(&settings.agent.command).name();
    let sandbox = access::open_servers(settings.sandbox.wanted(agent, usual), agent, &settings.agent.env);
    let of_agent = |agent: &AgentSettings| AgentSetup {
        command: agent.command.clone(),
        flags: agent.flags.iter().cloned().chain(model_flags(agent)).collect(),
        env: agent.env.clone(),
        prompt_via: agent.prompt_via,
        permissions: agent.permissions.unwrap_or_else(|| permissions(settings.guard, agent, &sandbox)),
    };
    let named = settings.plan_roles();
    let is_used =
        |name: &str| named.names().any(|it| it == name) || settings.all_reviewers().any(|it| it == name);
    let agents = settings.agents.iter().filter(|(name, _)| is_used(name));
    let agents = agents.map(|(name, named)| (name.clone(), of_agent(&named.agent))).collect();
    Setup {
        project: project.to_owned(),
        agent: of_agent(&settings.agent),
        agents,
        prompt,
        issue: None,
        task: TaskFrom::Prompt,
        message: MessageFrom::Agent,
        plan_file: None,
        may_touch: None,
        variables: std::collections::BTreeMap::new(),
        assignment: None,
        territory: LockScope::Tree,
        session_log: false,
        stories: None,
        session: None,
        guard: settings.guard,
        include_iteration_count_in_prompt: settings.include_iteration_count_in_prompt,
        output_truncate_chars: settings.output_truncate_chars,
        prompt_tail: settings.prompt.tail,
        guardrail_env: settings.guardrail_env.clone(),
        hidden: hidden::commands(&settings.hidden).with(hidden::notify_address(settings.notify.as_deref())),
        judge: settings.judge_setup(),
        scm: settings.scm.clone(),
        notify: settings.notify.as_deref().map(NotifyTarget::recorded),
        notify_link: settings.notify_link.clone(),
        keep_awake: settings.keep_awake,
        prices: settings.prices.clone(),
        timeouts: Timeouts {
            iteration_timeout_ms: settings.limits.iteration_timeout.map(millis),
            idle_timeout_ms: settings.limits.idle_timeout.map(millis),
            start_timeout_ms: settings.limits.start_timeout.map(millis),
            gate_timeout_ms: settings.limits.gate_timeout.map(millis),
        },
        sandbox,
        keep_children: settings.task.keep_children,
        leftovers: settings.leftovers,
        dirty: std::collections::BTreeMap::new(),
        settings: fingerprints(loaded.looked_for.iter().map(PathBuf::as_path)),
        invocation: loaded.invocation.clone(),
    }
}

/// The merged settings in one line, without the values of the agent's variables: they may be keys.
fn redacted(settings: &Settings) -> Value {
    let mut settings = json!(settings);
    let hide = |agent: &mut Value| {
        if let Some(variables) = agent["env"].as_object_mut() {
            variables.values_mut().for_each(|value| *value = json!("***"));
        }
    };
    if let Some(notify) = settings["notify"].as_str() {
        settings["notify"] = json!(NotifyTarget::recorded(notify));
    }
    hide(&mut settings["agent"]);
    if let Some(agents) = settings["agents"].as_object_mut() {
        agents.values_mut().for_each(hide);
    }
    settings
}

/// The nearest folder above that has settings, for a user who is in the wrong one.
fn settings_above(project: &Path) -> Option<&Path> {
    if project.join(".ralph/settings.json").exists() {
        return None;
    }
    project.ancestors().skip(1).find(|dir| dir.join(".ralph/settings.json").exists())
}

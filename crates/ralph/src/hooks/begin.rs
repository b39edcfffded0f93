//! Begins and cancels the loop of a conversation, for the hook and for the command.

use std::{env, path::Path};

use ralph_agents::hooking::{CAP_VARIABLE, USUAL_CAP, host::Host};
use ralph_core::{
    engine::{
        plan::{Check, Gate, NoWork, Plan, When},
        presets,
    },
    session::{MIN_TOOL_CALLS, PROMISE, contract, slash_command::Ask},
    setup::{InSession, PromptSource, Setup, Timeouts},
};
use ralph_sys::error::{Error, Result};
use serde_json::{Map, Value, json};

use super::store::Store;
use crate::{
    driver::session::{self, Evidence, SessionLoop},
    journal::run_dir::RunDir,
    settings::{
        self, Settings,
        flags::{self, GuardrailFlags},
    },
};

/// A loop that has begun.
pub(crate) struct Begun {
    pub(crate) run: RunDir,
    /// What the agent must know.
    pub(crate) contract: String,
    /// What the user should know.
    pub(crate) notes: Vec<String>,
}

/// Begins a loop in a conversation. One that it was in ends. The host may not be known yet.
pub(crate) fn begin(
    ask: &Ask,
    conversation: &str,
    project: &Path,
    known_host: Option<Host>,
) -> Result<Begun> {
    let host = known_host.unwrap_or(Host::Claude);
    let project = fs_err::canonicalize(project)?;
    let settings = settings_of(&project, ask, host)?;
    let plan = plan(ask, &settings)?;
    let store = Store::of(conversation)?;
    if let Some(earlier) = store.run() {
        cancel(&store, &earlier, "another loop was started in this conversation");
    }
    let iterations = plan.limits.max_iterations;
    let (contract, is_guarded) = (contract(&plan, &ask.task), plan.is_guarded());
    let is_counted = known_host.is_some_and(Host::counts_tools);
    let evidence = if is_counted { Evidence::ToolCalls } else { Evidence::Tree };
    let run = session::begin(plan, setup(ask, conversation, &project, &settings, host), evidence)?;
    store.bind(&run, &project)?;
    let mut notes = vec![format!(
        "the loop has begun, with at most {iterations} turns; {}cancel-ralph ends it when the agent next stops, Esc stops \
         the agent at once",
        host.sign()
    )];
    if !is_guarded {
        notes.push(
            "nothing checks the promise: add \"guardrails\" to .ralph/settings.json, or --guardrail COMMAND"
                .to_owned(),
        );
    }
    if host == Host::Claude && USUAL_CAP < iterations && env::var_os(CAP_VARIABLE).is_none() {
        notes.push(format!(
            "Claude Code lets an agent go after {USUAL_CAP} stops in a row without a tool call between them; start \
             it with {CAP_VARIABLE}=0 to lift that"
        ));
    }
    Ok(Begun { run, contract, notes })
}

/// Ends a loop before its time, whatever its record is like; says whether it was still going on.
pub(crate) fn cancel(store: &Store, run: &RunDir, why: &str) -> bool {
    let cancelled = SessionLoop::open(run).and_then(|session| match session {
        Some(session) => session.cancel(why).map(|()| true),
        None => Ok(false),
    });
    store.unbind(run);
    cancelled.unwrap_or(true)
}

/// The rules of the loop.
pub(crate) fn plan(ask: &Ask, settings: &Settings) -> Result<Plan> {
    let iterations = ask.max_iterations.ok_or_else(|| {
        Error::new("a loop needs a limit").hint("say how many turns it may have: --max-iterations 10")
    })?;
    let tool_calls = ask.min_tool_calls.unwrap_or(MIN_TOOL_CALLS);
    let otherwise = ask.no_work.unwrap_or_default();
    let gate = |check: Check| Gate::new(check, When::Claimed);
    let mut gates = Vec::new();
    if otherwise != NoWork::Accept {
        gates.push(gate(Check::Work { tool_calls, otherwise }));
    }
    if ask.guardrails && settings.guardrails.is_empty() {
        return Err(Error::new("the settings have no guardrails that could check the promise")
            .hint("write some: ralph init"));
    }
    let promise = ask.promise.as_deref().unwrap_or(PROMISE);
    let plan = presets::session(promise, iterations, gates).guarded(settings.gates(When::Claimed));
    Ok(Plan { checkout: settings.verify.checkout, ..plan })
}

/// The conversation that this process was started from, and its host, as far as the agent's variables tell.
pub(crate) fn caller() -> Option<(String, Host)> {
    let known = [
        ("CLAUDE_CODE_SESSION_ID", Host::Claude),
        ("CODEX_SESSION_ID", Host::Codex),
        ("CODEX_THREAD_ID", Host::Codex),
    ];
    known.into_iter().find_map(|(name, host)| Some((env::var(name).ok()?, host)))
}

/// The guardrails that were typed, as a layer of settings.
pub(crate) fn guardrail_layer(ask: &Ask) -> Map<String, Value> {
    flags::layer(&GuardrailFlags { guardrail: ask.guardrail.clone() })
}

fn settings_of(project: &Path, ask: &Ask, host: Host) -> Result<Settings> {
    let agent = ("agent".to_owned(), json!({"command": host.name()}));
    let flags = Value::Object([agent].into_iter().chain(guardrail_layer(ask)).collect());
    let loaded = settings::load(project, None, flags).map_err(|error| {
        let hints = error.hints.clone();
        hints.into_iter().fold(Error::new(error), Error::hint)
    })?;
    Ok(loaded.settings)
}

fn setup(ask: &Ask, conversation: &str, project: &Path, settings: &Settings, host: Host) -> Setup {
    let timeouts = Timeouts {
        gate_timeout_ms: settings.limits.gate_timeout.map(ralph_core::duration::millis),
        ..Timeouts::default()
    };
    Setup {
        session: Some(InSession { id: Some(conversation.to_owned()), ultrawork: ask.ultrawork }),
        output_truncate_chars: settings.output_truncate_chars,
        prompt_tail: settings.prompt.tail,
        guardrail_env: settings.guardrail_env.clone(),
        judge: settings.judge_setup(),
        timeouts,
        ..Setup::new(project, host.name(), PromptSource::Text(ask.task.clone()))
    }
}

//! Calls the agent: with which program, arguments, environment and hooks.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use ralph_agents::{Adapter, FirstSignal, Output, Request, hooking::Hooks, scripted::ROLE};
use ralph_core::setup::{PromptVia, Setup, Timeouts};
use ralph_sys::process::{Leftovers, Sink, Spec};
use rustix::process::Signal;

use super::{
    assigned,
    budget::cost_left,
    hook_program::HookProgram,
    hooking::{self, Hooked},
    site::Site,
};
use crate::journal::{
    kept_stream::{KeptStream, without_keys},
    run_dir::record_into,
};

/// The agent as ralph calls it.
pub(super) struct Agent {
    /// Its program, found on the path.
    program: PathBuf,
    /// The hooks that it gets.
    hooks: Option<Hooks>,
    /// What they call.
    hook_program: Option<HookProgram>,
}

/// What the agent is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A turn of the loop.
    Work,
    /// The words of a commit.
    Message,
    /// What another agent made of a claim.
    Opinion,
}

impl Purpose {
    /// What a process is told of it.
    fn role(self) -> Option<&'static str> {
        match self {
            Self::Work => None,
            Self::Message => Some("message"),
            Self::Opinion => Some("review"),
        }
    }
}

/// How the agent is to be called for one turn.
pub(super) struct Call<'a> {
    pub(super) prompt: &'a str,
    pub(super) purpose: Purpose,
    /// Whether more messages follow the prompt.
    pub(super) streams_input: bool,
    pub(super) output: Output<'a>,
    pub(super) iteration: u32,
    /// Where its hooks report to.
    pub(super) spool: &'a Path,
    pub(super) stdout: Sink,
    pub(super) stderr: Sink,
}

impl Agent {
    /// Prepares the hooks of an agent that can carry them: they call a copy of ralph that is the run's own.
    pub(super) fn new(program: PathBuf, site: &mut Site) -> Self {
        if !hooking::is_guarded(&site.setup) {
            return Self { program, hooks: None, hook_program: None };
        }
        let hook_program = HookProgram::copy_into(site.dir.path());
        if let Err(error) = &hook_program {
            site.ledger
                .warn(format!("hooks call ralph where it is installed, since it cannot be copied: {error}"));
        }
        let hook_program = hook_program.ok();
        let called = hook_program.as_ref().map(|it| it.path().to_owned()).or_else(|| env::current_exe().ok());
        let hooks = called.and_then(|called| hooking::hooks(&site.run().plan, &site.setup, &called));
        Self { program, hooks, hook_program }
    }

    /// Removes what was made for the run.
    pub(super) fn finish(&self) {
        if let Some(program) = &self.hook_program {
            program.remove();
        }
    }

    /// Its program, if that is gone from where it was found.
    pub(super) fn gone(&self) -> Option<&Path> {
        (!self.program.exists()).then_some(&self.program)
    }

    /// The process of a turn.
    pub(super) fn spec(&self, site: &Site, call: Call<'_>) -> Spec {
        let Setup { agent, timeouts, .. } = &site.setup;
        let adapter = site.adapter();
        let by_argument = agent.prompt_via == PromptVia::Argument;
        let hooks = self.hooks_for(call.purpose);
        let request = Request {
            flags: &agent.flags,
            output: call.output,
            permissions: agent.permissions,
            prompt: by_argument.then_some(call.prompt),
            hooks: hooks.as_ref(),
            // A reviewer has a conversation of its own.
            resume: site.run().memory.conversation.as_deref().filter(|_| call.purpose != Purpose::Opinion),
            streams_input: call.streams_input,
            // A process of several turns is measured turn by turn.
            budget_usd: cost_left(site.run()).filter(|_| !call.streams_input),
        };
        let spec = Spec::new(&self.program, &site.setup.project)
            .args(adapter.arguments(&request))
            .envs(self.environment(site, &call))
            .prints(call.stdout, call.stderr)
            .filtered(without_keys)
            .ended_by(match adapter.first_signal() {
                FirstSignal::Int => Signal::INT,
                FirstSignal::Term => Signal::TERM,
            })
            .within(timeouts.iteration_timeout_ms.map(Duration::from_millis))
            .silent_for(timeouts.idle_timeout_ms.map(Duration::from_millis))
            .begins_within(begins_within(timeouts, adapter, call.output))
            .leftovers(Leftovers::kept_if(site.setup.leftovers.are_kept()));
        if by_argument { spec } else { spec.input(call.prompt) }
    }

    /// A reviewer is not held when it stops: it has nothing to commit.
    fn hooks_for(&self, purpose: Purpose) -> Option<Hooks> {
        let hooks = self.hooks.clone()?;
        Some(Hooks { on_stop: hooks.on_stop && purpose != Purpose::Opinion, ..hooks })
    }

    fn environment(&self, site: &Site, call: &Call<'_>) -> Vec<(OsString, Option<OsString>)> {
        let plan = &site.run().plan;
        let set = |name: &str, value: String| (OsString::from(name), Some(OsString::from(value)));
        let mut env = vec![
            set("RALPH_ITERATION", call.iteration.to_string()),
            set("RALPH_MAX_ITERATIONS", plan.limits.max_iterations.to_string()),
            set("RALPH_MODE", plan.preset.clone()),
            // A Claude Code inside a Claude Code refuses to start.
            (OsString::from("CLAUDECODE"), None),
            // A loop that a turn for a message starts does its own work.
            (OsString::from(ROLE), call.purpose.role().map(OsString::from)),
        ];
        if self.hooks.is_some() {
            env.extend(hooking::environment(&site.setup, call.spool));
        }
        env.extend(assigned::environment(site));
        env.extend(site.setup.withheld().iter().map(|name| (OsString::from(name), None)));
        env.extend(site.setup.agent.env.iter().map(|(name, value)| set(name, value.clone())));
        env
    }

    /// Who looks after the hooks of a turn, if the agent has any.
    pub(super) fn hooked(&self, site: &Site, turn: &Path, is_contained: bool) -> Option<Hooked> {
        self.hooks.as_ref()?;
        Some(Hooked::begin(site, turn, self.hook_program.clone(), is_contained))
    }

    /// Says once that this version of the agent lets pass what its hook cannot judge.
    pub(super) fn notice_open_hooks(&self, site: &mut Site, version: Option<&str>) {
        if let Some(version) = version.filter(|_| self.hooks.is_some()) {
            hooking::notice_open_hooks(site, version);
        }
    }
}

/// How long the agent has to begin. An agent that prints nothing but an answer may do so at the end.
fn begins_within(timeouts: &Timeouts, adapter: &dyn Adapter, output: Output<'_>) -> Option<Duration> {
    let has_events = adapter.is_structured() && output == Output::Stream;
    timeouts.start_timeout_ms.filter(|_| has_events).map(Duration::from_millis)
}

/// A pipe with a copy; without the copy if the disk refuses it.
pub(super) fn copied_to(path: &Path) -> Sink {
    Sink::Pipe { copy: record_into(path).ok().map(KeptStream::boxed) }
}

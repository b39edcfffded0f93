//! How a task was started the last time.
//!
//! Invariant: only ralph's own record of the run is asked. The files of the task are in the project, where its agent can
//! write: anyone who could change the record could choose the program that a person starts.

use std::path::Path;

use ralph_core::{
    engine::event::RunStarted,
    setup::{AgentSetup, Invocation, PromptVia},
};
use ralph_sys::error::Result;
use serde_json::{Value, json};

use crate::{
    journal::{self, run_dir::RunDir},
    tasks::Task,
};

/// What a task was started with the last time; nothing for one that is started by today's settings alone.
#[derive(Default)]
pub(super) struct Earlier {
    pub(super) invocation: Invocation,
    /// What it exits with at a limit.
    pub(super) limit_exit_code: Option<u8>,
}

impl Earlier {
    /// What the newest run that kept the task going was started with, and its agent.
    pub(super) fn of(task: &Task, project: &Path) -> Result<Self> {
        let is_its = |started: &RunStarted| started.setup.root_task() == Some(task.id.as_str());
        let mut runs = RunDir::of_project(project)?.into_iter().rev();
        let started = runs.find_map(|run| journal::started(&run.journal()).filter(|started| is_its(started)));
        Ok(started.map_or_else(Self::default, |started| Self {
            limit_exit_code: Some(started.plan.limits.limit_exit_code),
            invocation: with_agent(started.setup.invocation, &started.setup.agent),
        }))
    }
}

/// The agent as a flag would name it. Who decides what it may do is decided anew: that depends on its sandbox.
fn with_agent(mut invocation: Invocation, agent: &AgentSetup) -> Invocation {
    let AgentSetup { command, flags, env, prompt_via, .. } = agent;
    let via = PromptVia::NAMES.iter().find(|(_, via)| via == prompt_via).map(|(name, _)| *name);
    let agent: Value = json!({"command": command, "flags": flags, "env": env, "promptVia": via});
    invocation.flags.insert("agent".to_owned(), agent);
    invocation
}

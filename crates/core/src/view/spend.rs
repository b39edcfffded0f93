//! What a run has used, and what it may use.

use ralph_agents::{QuotaWindow, Usage};
use serde::Serialize;

use super::harmless;
use crate::engine::Run;

/// What a run has used, in all its processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownSpend {
    /// Tokens and dollars.
    pub usage: Usage,
    /// Of those, what the last iteration has used.
    pub iteration_usage: Usage,
    /// Time of turns, gates and waits that have ended.
    pub ms: u64,
    /// Of that, waits for usage limits.
    pub quota_ms: u64,
    /// Turns that ended.
    pub turns: u32,
    /// Of those, turns that did not say what they used.
    pub unmetered: u32,
    /// Tool calls.
    pub tools: u64,
    /// Commits that ralph made.
    pub commits: u32,
    /// Each agent that has had a turn.
    pub agents: Vec<ShownAgent>,
    /// How much of each usage window is used, as the agent said it last.
    pub quota: Vec<QuotaWindow>,
    /// What it may use.
    pub limits: ShownLimits,
}

/// What one agent has used.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownAgent {
    /// Its name.
    pub name: String,
    /// Turns that ended.
    pub turns: u32,
    /// Time of its turns.
    pub ms: u64,
    /// Tokens and dollars.
    pub usage: Usage,
}

/// What a run may use; nothing where it is not limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownLimits {
    /// Dollars.
    pub max_cost: Option<f64>,
    /// Tokens in and out.
    pub max_tokens: Option<u64>,
    /// Time.
    pub max_time_ms: Option<u64>,
    /// The moment at which it is to end, in milliseconds since 1970.
    pub until_ms: Option<i64>,
}

impl ShownSpend {
    pub(super) fn of(run: &Run) -> Self {
        let (spent, limits) = (run.state.spent(), &run.plan.limits);
        let agents = run.state.crew().members().map(|(name, member)| ShownAgent {
            name: harmless(name),
            turns: member.turns,
            ms: member.ms,
            usage: member.usage,
        });
        Self {
            usage: spent.usage,
            iteration_usage: spent.iteration,
            ms: spent.ms,
            quota_ms: spent.quota_ms,
            turns: spent.turns,
            unmetered: spent.unmetered,
            tools: spent.tools,
            commits: spent.commits,
            agents: agents.collect(),
            quota: run.state.quota().to_vec(),
            limits: ShownLimits {
                max_cost: limits.max_cost,
                max_tokens: limits.max_tokens,
                max_time_ms: limits.max_time_ms,
                until_ms: limits.until_ms,
            },
        }
    }
}

//! How a turn ended and what it used.

use ralph_agents::{QuotaWindow, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tree, TurnEnd, View};
use crate::{engine::judgement::HookReport, review::ReviewVerdict};

/// How a turn ended and what it used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnded {
    /// How it ended.
    pub end: TurnEnd,
    /// The agent claimed in its own words that the task is done.
    pub claimed: bool,
    /// The agent said that it cannot continue, and this is why.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blocked: Option<String>,
    /// Why the agent changed what it was asked about, as it says in its last message.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The directory afterwards, where the rules look at it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<View>,
    /// What the agent exited with; nothing when a signal or a limit ended it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<i32>,
    /// How long it took.
    pub ms: u64,
    /// What it used.
    pub usage: Usage,
    /// Tool calls.
    pub tools: u64,
    /// Tool calls that failed.
    pub tool_errors: u64,
    /// Processes that the turn left behind and ralph ended (or kept, as the settings say).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub leftovers: Vec<String>,
    /// The last lines that it said to people, on standard error or as text among its events, if it failed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub last_lines: Vec<String>,
    /// Tool calls that the agent's own permission rules refused.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub denials: Vec<String>,
    /// The agent's own name of the conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// What ralph's hooks did in the agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hooks: Option<HookReport>,
    /// The files after it, where there is git and a rule asks for them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tree: Option<Tree>,
    /// The branch that it left checked out, where that is not the run's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<String>,
    /// The model that answered, where the agent says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// How much of each usage window was used in the end, where the agent says so.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub quota: Vec<QuotaWindow>,
    /// What a reviewer said about the change that it was asked about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub review: Option<ReviewVerdict>,
    /// Files that it changed though it must not, and that were put back.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub undone: Vec<String>,
    /// What a person said and this turn was to be told, and was not: who was to tell it was killed before.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub untold: Vec<u32>,
}

impl TurnEnded {
    /// A turn of which nothing is known but how it ended.
    pub fn new(end: TurnEnd) -> Self {
        Self {
            end,
            claimed: false,
            blocked: None,
            reason: None,
            view: None,
            code: None,
            ms: 0,
            usage: Usage::default(),
            tools: 0,
            tool_errors: 0,
            leftovers: Vec::new(),
            last_lines: Vec::new(),
            denials: Vec::new(),
            session: None,
            hooks: None,
            tree: None,
            branch: None,
            model: None,
            quota: Vec::new(),
            review: None,
            undone: Vec::new(),
            untold: Vec::new(),
        }
    }
}

//! One process of the agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{KeptFiles, Tree};
use crate::{
    engine::{Order, roles::Because},
    stories::Mode,
};

/// One process of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// What the user counts, from 1.
    pub iteration: u32,
    /// Tries of the same iteration, from 1.
    pub attempt: u32,
    /// What kind of work it is.
    pub mode: Mode,
    /// Where HEAD was before the turn, when ralph commits.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub head: Option<String>,
    /// What it is about, where the loop knows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub task: Option<String>,
    /// The specification it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spec: Option<String>,
    /// The story that was selected for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub story: Option<String>,
    /// A hash of the task list before the turn; the list itself is in the folder of the turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tasks: Option<String>,
    /// The files before it, where there is git and a rule asks for them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tree: Option<Tree>,
    /// Who has it, by name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Why another agent than the first of its role has it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub because: Option<Because>,
    /// The files before a turn that must not change any: they are put back as they were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub keeps: Option<KeptFiles>,
    /// What a person said that it is told, by number.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<u32>,
}

impl From<Order> for Turn {
    fn from(Order { iteration, attempt, mode, story, chosen, notes }: Order) -> Self {
        let (agent, because) = chosen.map_or((None, None), |it| (Some(it.agent), it.because));
        Self { iteration, attempt, mode, story, agent, because, notes, ..Self::default() }
    }
}

//! What is wanted of a fleet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetPlan {
    /// What is to be done.
    pub items: Vec<FleetItem>,
    /// How many may be worked on at once.
    pub lanes: u32,
    /// How often a candidate is sent back to a lane before a person is asked.
    pub evictions: u32,
    /// How often lanes may die on one item.
    pub deaths: u32,
    /// What the whole fleet may cost, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub max_cost: Option<f64>,
    /// Which of several candidates for the same lands.
    #[serde(default)]
    pub pick: Pick,
}

/// A piece of work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FleetItem {
    /// Its name, one word.
    pub id: String,
    /// What it is, in a line.
    pub title: String,
    /// What must have landed first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub after: Vec<String>,
    /// Patterns of the files that it will change. Items whose patterns overlap are never worked on at once.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub touches: Vec<String>,
    /// Those that have the same are candidates for the same work: one of them lands.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// What a lane is told.
    pub work: FleetWork,
    /// The agent, if not that of the settings.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// The model, if not that of the settings.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// What a worker must have to take it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub labels: Vec<String>,
    /// Whose usage limit it counts against.
    #[serde(default)]
    pub account: String,
}

/// What a lane is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FleetWork {
    /// A story of the task list.
    #[default]
    Story,
    /// A prompt.
    Prompt {
        /// Its text.
        text: String,
    },
}

/// Which of several candidates for the same lands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// The first whose guardrails pass on the merged tree.
    #[default]
    First,
    /// When all have ended, the one that cost least whose guardrails pass.
    Cheapest,
}

impl FleetPlan {
    /// The item of this name.
    pub fn item(&self, id: &str) -> Option<&FleetItem> {
        self.items.iter().find(|item| item.id == id)
    }
}

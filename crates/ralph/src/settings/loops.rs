//! Settings of single loops.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{schema, seconds};

/// How `ralph plan` works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct PlanSettings {
    /// The prompt template. Without it: `.ralph/prompts/plan.md`, which is written on first use.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) prompt: Option<String>,
    /// What a turn may commit in addition to the plan and the specifications, as patterns (`docs/**`, `*.md`). Ralph
    /// lists every other committed file.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub(crate) may_touch: Vec<String>,
}

impl Default for PlanSettings {
    fn default() -> Self {
        let notes = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", "NOTES.md", "notes/"];
        Self { prompt: None, may_touch: notes.map(str::to_owned).to_vec() }
    }
}

/// How `ralph stories` works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct StoriesSettings {
    /// The folder of the task list, the PRD and the prompt.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) ralph_dir: String,
    /// How often a story is reviewed; after that ralph approves it and keeps the concerns.
    #[schemars(range(min = 1))]
    pub(crate) review_cap: u32,
    /// Do not review: a story is done when the agent that implements it says so.
    pub(crate) skip_review: bool,
    /// Run the verify commands after every turn that changes code, not only when a turn submits a story and at the end.
    pub(crate) verify_each_turn: bool,
}

impl Default for StoriesSettings {
    fn default() -> Self {
        Self {
            ralph_dir: "ralph".to_owned(),
            review_cap: ralph_core::stories::REVIEW_CAP,
            skip_review: false,
            verify_each_turn: false,
        }
    }
}

/// How `ralph fleet` works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct FleetSettings {
    /// How many lanes work at once. Without it: as many as cores and memory allow, at most 4.
    #[schemars(range(min = 1))]
    pub(crate) lanes: Option<u32>,
    /// How often ralph sends a candidate that conflicts, or fails on the merged tree, back to a lane before it asks a
    /// person.
    pub(crate) evictions: u32,
}

impl Default for FleetSettings {
    fn default() -> Self {
        Self { lanes: None, evictions: 2 }
    }
}

/// How `ralph build` works; the plan and the specifications are those of `ralph plan` too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct BuildSettings {
    /// The prompt template. Without it: `.ralph/prompts/build.md`, which is written on first use.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) prompt: Option<String>,
    /// The test command, if `AGENTS.md` has none.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) test_command: Option<String>,
    /// The implementation plan. Without it: `implementation_plan.md`, in the project or in `.ralph/`.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) plan_file: Option<String>,
    /// The folder of the specifications.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) specs_dir: String,
}

impl Default for BuildSettings {
    fn default() -> Self {
        Self { prompt: None, test_command: None, plan_file: None, specs_dir: "specs".to_owned() }
    }
}

/// How `ralph task` works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct TaskSettings {
    /// How often ralph starts the agent, including the first time.
    #[schemars(range(min = 1))]
    pub(crate) max_restarts: u32,
    /// How long ralph waits before it starts the agent again.
    #[serde(serialize_with = "seconds")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) restart_delay: Duration,
    /// How long ralph waits for the runs that the agent started when the task is done. If they take longer, the task
    /// is not done.
    #[serde(serialize_with = "seconds")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) child_wait_timeout: Duration,
    /// How often ralph checks whether the runs that the agent started have ended.
    #[serde(serialize_with = "seconds")]
    #[schemars(schema_with = "schema::duration")]
    pub(crate) poll_interval: Duration,
    /// Do not wait for the runs that the agent started when the task is done, and do not end them when it stops.
    pub(crate) keep_children: bool,
}

impl Default for TaskSettings {
    fn default() -> Self {
        Self {
            max_restarts: 100,
            restart_delay: Duration::from_secs(1),
            child_wait_timeout: Duration::from_mins(5),
            poll_interval: Duration::from_secs(1),
            keep_children: false,
        }
    }
}

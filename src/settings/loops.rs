//! Settings of single loops.

use schemars::JsonSchema;
use serde::Serialize;

/// How `ralph plan` works.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct PlanSettings {
    /// The prompt template. Without it: `.ralph/prompts/plan.md`, which is written on first use.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) prompt: Option<String>,
}

/// How `ralph build` works; the plan and the specifications are those of `ralph plan` too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(default)]
pub(crate) struct BuildSettings {
    /// The prompt template. Without it: `.ralph/prompts/build.md`, which is written on first use.
    #[schemars(regex(pattern = r"\S"))]
    pub(crate) prompt: Option<String>,
    /// What runs the tests when `AGENTS.md` does not say it.
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

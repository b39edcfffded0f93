//! What the rules see of a project: its files, and its story list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stories::Mode;

/// The files of the project in short: two that are equal have the same files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tree {
    /// The commit that is checked out; nothing before the first.
    pub head: Option<String>,
    /// A fingerprint of everything that is not as that commit has it.
    pub changes: String,
}

/// The directory as the rules see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct View {
    /// Those of the plan's files that are there.
    pub files: Vec<String>,
    /// Those of them that are folders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// How far the plan file is, where the rules look at it and it can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanView>,
    /// Runs of others that work on the same task.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at_work: Vec<String>,
    /// A fingerprint of what the agents of a task have left in its folders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// What the story list says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stories: Option<StoryView>,
}

/// A plan file as the rules see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanView {
    /// Its tasks.
    pub tasks: usize,
    /// Those of them that an agent still has to do.
    pub open: usize,
}

impl PlanView {
    /// Whether there were tasks and all of them are settled.
    pub fn is_settled(self) -> bool {
        0 < self.tasks && self.open == 0
    }
}

/// The story list as the rules see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoryView {
    /// What to do next, or why nothing can be done.
    pub next: Result<Mode, String>,
    /// The story to do it with; nothing when every story is done and only ralph's checks are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub story: Option<String>,
    /// Every story passed and was approved.
    pub all_approved: bool,
    /// Open stories that are for a person.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub for_people: Vec<String>,
    /// After a turn: it handed its story over to be reviewed.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub submitted: bool,
}

impl Default for StoryView {
    /// A list that says nothing.
    fn default() -> Self {
        Self {
            next: Err(String::new()),
            story: None,
            all_approved: false,
            for_people: Vec::new(),
            submitted: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_settled_when_it_has_tasks_and_none_is_open() {
        for (tasks, open, expected) in [(0, 0, false), (2, 1, false), (2, 0, true)] {
            assert_eq!(PlanView { tasks, open }.is_settled(), expected, "{open} of {tasks}");
        }
    }
}

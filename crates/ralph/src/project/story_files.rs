//! The files of a stories loop in the project, and the marker that says that one is running.

use std::path::Path;

use ralph_core::stories::{Review, TaskList};
use ralph_sys::files::{MAX_TEXT_LEN, Root};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// What is wanted.
pub(crate) const PRD: &str = "prd.md";
/// The stories.
pub(crate) const TASKS: &str = "tasks.json";
/// What every turn is told.
pub(crate) const PROMPT: &str = "prompt.md";
/// What turns tell each other.
pub(crate) const PROGRESS: &str = "progress.txt";
/// The marker of a running loop, in the project.
pub(crate) const ACTIVE: &str = ".ralph-active";

/// What the marker of a running loop says, for hooks and for `ralph stories`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Active {
    /// When the loop began, or its last turn.
    pub(crate) timestamp: String,
    /// Whose it is.
    pub(crate) pid: u32,
    pub(crate) max_iterations: u32,
    /// `sandbox` or `direct`.
    pub(crate) mode: String,
    #[serde(rename = "skipReview")]
    pub(crate) skip_review: bool,
    #[serde(rename = "reviewCap")]
    pub(crate) review_cap: u32,
    /// The run's id.
    #[serde(default)]
    pub(crate) run: String,
    #[serde(default)]
    pub(crate) iteration: u32,
    /// `implement`, `review` or `review-fix`.
    #[serde(rename = "iterationMode", default)]
    pub(crate) iteration_mode: Option<String>,
    #[serde(default)]
    pub(crate) story: Option<String>,
    /// The folder of the task list.
    #[serde(rename = "ralphDir", default)]
    pub(crate) ralph_dir: String,
    /// The review fields of every story before the turn.
    #[serde(rename = "preIterationSnapshot", default)]
    pub(crate) snapshot: Map<String, Value>,
}

impl Active {
    /// Reads the marker of a project, if there is one that can be read.
    pub(crate) fn read(project: &Path) -> Option<Self> {
        serde_json::from_slice(&Root::new(project).read(ACTIVE, MAX_TEXT_LEN).ok()?).ok()
    }

    /// Whether its loop still runs.
    pub(crate) fn is_alive(&self) -> bool {
        i32::try_from(self.pid).is_ok_and(ralph_sys::process::is_alive)
    }

    /// Whether stories are reviewed.
    pub(crate) fn review(&self) -> Review {
        if self.skip_review { Review::Skipped } else { Review::Required }
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> String {
        let object = serde_json::to_value(self).expect("a marker is plain values");
        format!("{object:#}\n")
    }
}

/// The review fields of every story, as the marker has them.
pub(crate) fn snapshot(list: &TaskList) -> Map<String, Value> {
    let fields = list.user_stories.iter().map(|story| {
        let fields = json!({
            "passes": story.passes,
            "reviewStatus": story.review_status,
            "reviewCount": story.review_count,
        });
        (story.id.clone(), fields)
    });
    fields.collect()
}

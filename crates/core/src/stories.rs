//! The task list of a stories loop: what it says, what may change in it, and what is next.
//!
//! Invariant: nothing here reads a file or a clock. The text of the list before a turn and after it come in, and
//! what is wrong, what is put back and the text to write go out.

mod budget;
mod change;
mod edit;
mod hand_over;
mod invariants;
mod judge;
pub mod lane;
mod mode;
mod quoted;
mod schema;
mod select;
mod statistics;
mod step;
mod take_back;
mod task_file;
mod transitions;

#[cfg(test)]
mod tests;

pub use budget::Budget;
pub use edit::{append, set_passes};
pub use hand_over::hand_over;
pub use invariants::past_the_cap;
pub use judge::{DroppedCriterion, ListJudgement, Rules, StoryTurn, Undone, idle, judge};
pub use mode::Mode;
pub use quoted::{MAX_ID_LEN, MAX_TITLE_LEN, one_line, quoted_lines};
pub use schema::{Problem, Reading, keys, read};
pub use select::{Selected, blocked, select};
pub use statistics::{Statistics, StoryReviews};
pub use step::{Refused, Step, is_unreviewed, reopen, take_step};
pub use take_back::{TakenBack, take_back};
pub use task_file::TaskFile;
pub use transitions::{LEGAL, Transition};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What stands before the concerns of a reviewer who was overruled because the cap was reached.
pub const AUTO_APPROVED: &str = "[AUTO-APPROVED AT CAP]";

/// What stands before the reason why the approval of a review did not count.
pub const UNCOUNTED: &str = "[APPROVAL NOT COUNTED]";

/// How often a story is reviewed, unless the settings say otherwise.
pub const REVIEW_CAP: u32 = 5;

/// A task list: what is to be done, and how far each part of it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskList {
    /// The name of the project.
    pub project: String,
    /// The branch that the work belongs on. Ralph never checks it out.
    pub branch_name: String,
    /// What the whole is about, in a sentence.
    pub description: String,
    /// Shell commands that must succeed before the work counts as complete.
    #[schemars(default)]
    pub verify_commands: Vec<String>,
    /// The stories.
    pub user_stories: Vec<Story>,
}

impl TaskList {
    /// The story of this id.
    pub fn story(&self, id: &str) -> Option<&Story> {
        self.user_stories.iter().find(|story| story.id == id)
    }

    /// Whether a story is handed over that was not in `before`: to be reviewed, or as done where no one reviews.
    pub fn submits_since(&self, before: &Self, review: Review) -> bool {
        let is_submitted = |story: &Story| story.is_submitted_for(review);
        let was_submitted = |id: &str| before.story(id).is_some_and(is_submitted);
        self.user_stories.iter().any(|story| is_submitted(story) && !was_submitted(&story.id))
    }

    /// Open stories that are for a person.
    pub fn for_people(&self, review: Review) -> Vec<String> {
        let open = self.user_stories.iter().filter(|story| !story.is_done(review));
        open.filter(|story| story.kind == Kind::Human).map(|story| story.id.clone()).collect()
    }

    /// Whether there is a story and every one is done.
    pub fn is_complete(&self, review: Review) -> bool {
        !self.user_stories.is_empty() && self.user_stories.iter().all(|story| story.is_done(review))
    }
}

/// A piece of work that fits into one turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Story {
    /// Its name in the list, such as `US-001`. No two stories have the same.
    #[schemars(regex(pattern = r"\S"))]
    pub id: String,
    /// What it is, in a line.
    pub title: String,
    /// What it is, in full.
    #[schemars(default)]
    pub description: String,
    /// What must be true before it is done. Not changed once the story was submitted.
    #[schemars(length(min = 1))]
    pub acceptance_criteria: Vec<String>,
    /// Stories with the smallest number come first.
    pub priority: f64,
    /// Whether it is done. Only a review says so, by approving it.
    pub passes: bool,
    /// Where in its life it is: null (not implemented), submitted, sent back, approved.
    pub review_status: Option<Status>,
    /// How many reviews there were.
    pub review_count: u64,
    /// What the last review wants changed.
    pub review_feedback: String,
    /// What those who worked on it want others to know. A story that passes must have some.
    #[schemars(default)]
    pub notes: String,
    /// The ids of stories that must be done first.
    #[schemars(default)]
    pub depends_on: Vec<String>,
    /// Patterns of the files that it will change. A fleet never works on two stories at once whose patterns overlap.
    #[schemars(default)]
    pub touches: Vec<String>,
    /// What the machine of a worker must have, such as `gpu`. On one machine nothing is asked.
    #[schemars(default)]
    pub labels: Vec<String>,
    /// Who does it: the agent, unless it says `human`.
    #[schemars(default)]
    pub kind: Kind,
    /// Where it begins in the file, from 1.
    #[serde(skip)]
    #[schemars(skip)]
    pub line: usize,
}

impl Story {
    /// Whether nothing is left to do for it.
    pub fn is_done(&self, review: Review) -> bool {
        match review {
            Review::Required => self.passes && self.review_status == Some(Status::Approved),
            Review::Skipped => self.passes,
        }
    }

    /// Whether it is handed in: to be reviewed, or as done where no one reviews.
    fn is_submitted_for(&self, review: Review) -> bool {
        match review {
            Review::Required => self.review_status == Some(Status::NeedsReview),
            Review::Skipped => self.passes,
        }
    }

    /// Whether it was given to review at some time.
    pub fn is_submitted(&self) -> bool {
        self.review_status.is_some()
    }
}

/// Where in its life a story is, once it was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Implemented and committed; waits for a review in a fresh context.
    NeedsReview,
    /// The review found something.
    ChangesRequested,
    /// The review passed.
    Approved,
}

impl Status {
    /// Every status with its name in the file.
    pub const NAMES: [(&str, Self); 3] = [
        ("needs_review", Self::NeedsReview),
        ("changes_requested", Self::ChangesRequested),
        ("approved", Self::Approved),
    ];

    /// Its name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::NeedsReview => "needs_review",
            Self::ChangesRequested => "changes_requested",
            Self::Approved => "approved",
        }
    }
}

/// The name of a status in messages, where there may be none yet.
pub fn status_name(status: Option<Status>) -> &'static str {
    status.map_or("null", Status::name)
}

/// Who does a story.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The agent.
    #[default]
    Agent,
    /// A person: it is never given to the agent.
    Human,
}

impl Kind {
    /// Every kind with its name in the file.
    pub const NAMES: [(&str, Self); 2] = [("agent", Self::Agent), ("human", Self::Human)];
}

/// Whether stories are reviewed before they count as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Review {
    /// Nothing is done before a fresh pair of eyes has approved it.
    #[default]
    Required,
    /// The agent that implements a story says that it is done.
    Skipped,
}

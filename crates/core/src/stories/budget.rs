//! How many iterations a task list will probably take.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, Review, TaskList};

/// Implement, review, and now and then a fix and another review.
const WITH_REVIEW: u32 = 3;

/// What a list will probably take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Budget {
    /// Stories that are not done and not for a person.
    pub stories: u32,
    /// Iterations for each of them.
    pub each: u32,
}

impl Budget {
    /// Counts what is open.
    pub fn of(list: &TaskList, review: Review) -> Self {
        let open =
            list.user_stories.iter().filter(|story| !story.is_done(review) && story.kind == Kind::Agent);
        let each = match review {
            Review::Required => WITH_REVIEW,
            Review::Skipped => 1,
        };
        Self { stories: u32::try_from(open.count()).unwrap_or(u32::MAX), each }
    }

    /// Iterations in all.
    pub fn needed(self) -> u32 {
        self.stories.saturating_mul(self.each)
    }

    /// The line at the start of a run.
    pub fn line(self, allowed: u32) -> String {
        let stories = format!("{} stor{}", self.stories, if self.stories == 1 { "y" } else { "ies" });
        let each = format!("{} iteration{}", self.each, if self.each == 1 { "" } else { "s" });
        format!("{stories}, about {each} each: {} needed, {allowed} allowed", self.needed())
    }
}

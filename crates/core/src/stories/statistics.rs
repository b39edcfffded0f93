//! What the reviews of a finished list say about the reviews.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AUTO_APPROVED, TaskList};

/// How often each story was reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Statistics {
    /// After how many reviews ralph approves.
    pub cap: u32,
    /// Every story, in the order of the list.
    pub stories: Vec<StoryReviews>,
}

/// How often one story was reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoryReviews {
    /// Its id.
    pub id: String,
    /// How many reviews there were.
    pub reviews: u64,
    /// Whether it was reviewed as often as the run allows.
    pub at_cap: bool,
    /// Whether ralph approved it for that reason, although its reviewer asked for changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_auto_approved: bool,
}

/// Reviews that send a story back more often than this are not a formality.
const MANY: u64 = 3;

impl Statistics {
    /// Counts the reviews of a list.
    pub fn of(list: &TaskList, cap: u32) -> Self {
        let stories = list.user_stories.iter().map(|story| StoryReviews {
            id: story.id.clone(),
            reviews: story.review_count,
            // With a cap of one every review is at the cap, which says nothing.
            at_cap: (1 < cap && u64::from(cap) <= story.review_count)
                || story.review_feedback.starts_with(AUTO_APPROVED),
            is_auto_approved: story.review_feedback.starts_with(AUTO_APPROVED),
        });
        Self { cap, stories: stories.collect() }
    }

    /// What they amount to, one line each.
    pub fn lines(&self) -> Vec<String> {
        let counts: Vec<u64> = self.stories.iter().map(|story| story.reviews).collect();
        let total = counts.iter().fold(0, |total: u64, count| total.saturating_add(*count));
        if total == 0 {
            return Vec::new();
        }
        let each: Vec<String> = self.stories.iter().map(|it| format!("{} {}", it.id, it.reviews)).collect();
        let mut lines = vec![format!("Reviews: {total} in all ({})", each.join(", "))];
        let number = |is: fn(u64) -> bool| counts.iter().filter(|count| is(**count)).count();
        // Who was approved at the cap was not approved by a review.
        let once = self.stories.iter().filter(|story| story.reviews == 1 && !story.is_auto_approved).count();
        let many = number(|count| MANY <= count);
        if counts.len() < 2 * once {
            lines.push(format!(
                "{once} of {} approved at the first review: reviewing was cheap",
                counts.len()
            ));
        }
        if 0 < many {
            lines.push(format!("{many} with {MANY} or more reviews: they are catching real issues"));
        }
        let at_cap: Vec<&str> =
            self.stories.iter().filter(|story| story.at_cap).map(|story| story.id.as_str()).collect();
        if !at_cap.is_empty() {
            lines.push(format!("At the cap of {}, look here yourself: {}", self.cap, at_cap.join(", ")));
        }
        lines
    }
}

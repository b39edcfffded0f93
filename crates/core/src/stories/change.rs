//! The fields of a story that only the review cycle may change, and what changed in them.

use super::{Status, Story, status_name};

/// The fields that the review cycle is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReviewFields {
    /// Whether the story is done.
    pub(super) passes: bool,
    /// Where in its life it is.
    pub(super) status: Option<Status>,
    /// How many reviews there were.
    pub(super) count: u64,
    /// What the last review wants changed.
    pub(super) feedback: String,
}

impl ReviewFields {
    /// Those of a story.
    pub(super) fn of(story: &Story) -> Self {
        Self {
            passes: story.passes,
            status: story.review_status,
            count: story.review_count,
            feedback: story.review_feedback.clone(),
        }
    }

    /// What stands in the file for one of them.
    pub(super) fn value_of(&self, field: &str) -> String {
        match field {
            "passes" => self.passes.to_string(),
            "reviewStatus" => json(&self.status),
            "reviewCount" => self.count.to_string(),
            _ => json(&self.feedback),
        }
    }

    /// Those of a story that no one has worked on.
    pub(super) fn fresh() -> Self {
        Self { passes: false, status: None, count: 0, feedback: String::new() }
    }
}

/// One field that changed, with its values as messages show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// The key in the file.
    pub(super) field: &'static str,
    /// Before.
    pub(super) old: String,
    /// After.
    pub(super) new: String,
}

/// What changed between the two, field by field.
pub(super) fn changes(old: &ReviewFields, new: &ReviewFields) -> Vec<Change> {
    let shown = |fields: &ReviewFields| {
        [
            ("passes", fields.passes.to_string()),
            ("reviewStatus", status_name(fields.status).to_owned()),
            ("reviewCount", fields.count.to_string()),
            ("reviewFeedback", short(&fields.feedback)),
        ]
    };
    // The whole texts are compared, also where they begin alike.
    let same = [
        old.passes == new.passes,
        old.status == new.status,
        old.count == new.count,
        old.feedback == new.feedback,
    ];
    let pairs = shown(old).into_iter().zip(shown(new)).zip(same);
    pairs.filter(|(_, same)| !same).map(|(((field, old), (_, new)), _)| Change { field, old, new }).collect()
}

/// Changes in one line: `passes false → true, reviewCount 0 → 1`.
pub(super) fn in_words(changes: &[Change]) -> String {
    let words: Vec<String> =
        changes.iter().map(|Change { field, old, new }| format!("{field} {old} → {new}")).collect();
    words.join(", ")
}

/// The beginning of a text, in quotes.
fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain values are JSON")
}

//! Which story is next, what is to be done with it, or why nothing can be done.

use super::{Kind, Review, Status, Story, TaskList};
use crate::stories::Mode;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// The kind of work.
    pub mode: Mode,
    /// The story's id.
    pub id: String,
    /// The story's title.
    pub title: String,
}

/// Selects the next story: what a review sent back, then what waits for review, then what is new. Among equals
/// the smallest priority, then the order of the file. The error says why nothing can be selected.
pub fn select(list: &TaskList, review: Review) -> Result<Selected, String> {
    let modes: &[Mode] = match review {
        Review::Required => &[Mode::Fix, Mode::Review, Mode::Implement],
        Review::Skipped => &[Mode::Implement],
    };
    for mode in modes {
        let fitting = list.user_stories.iter().filter(|story| fits(list, story, *mode, review));
        let first = fitting.min_by(|one, other| one.priority.total_cmp(&other.priority));
        if let Some(Story { id, title, .. }) = first {
            return Ok(Selected { mode: *mode, id: id.clone(), title: title.clone() });
        }
    }
    Err(why_nothing(list, review))
}

/// Whether this is what may be done with the story now.
pub(super) fn fits(list: &TaskList, story: &Story, mode: Mode, review: Review) -> bool {
    let is_due = match (mode, review) {
        (Mode::Implement, Review::Skipped) => !story.passes,
        (Mode::Implement, Review::Required) => !story.passes && story.review_status.is_none(),
        (Mode::Review, _) => story.review_status == Some(Status::NeedsReview),
        (Mode::Fix, _) => story.review_status == Some(Status::ChangesRequested),
        (Mode::Work, _) => false,
    };
    // What was submitted once had everything it needs.
    let is_ready = mode != Mode::Implement || waits_for(list, story, review).is_empty();
    is_due && is_ready && story.kind == Kind::Agent
}

/// What keeps a story from being worked on, in a few words; nothing when it is done or nothing does.
pub fn blocked(list: &TaskList, story: &Story, review: Review) -> Option<String> {
    if story.is_done(review) {
        return None;
    }
    let waits = waits_for(list, story, review);
    if !waits.is_empty() && story.review_status.is_none() {
        return Some(format!("waits for {}", waits.join(", ")));
    }
    (story.kind == Kind::Human).then(|| "is for a person".to_owned())
}

fn waits_for(list: &TaskList, story: &Story, review: Review) -> Vec<String> {
    let open = story.depends_on.iter().filter_map(|id| match list.story(id) {
        Some(other) if other.is_done(review) => None,
        Some(_) => Some(id.clone()),
        None => Some(format!("{id} (not in the list)")),
    });
    open.collect()
}

fn why_nothing(list: &TaskList, review: Review) -> String {
    if list.user_stories.is_empty() {
        return "there are no stories".to_owned();
    }
    let open = list.user_stories.iter().filter(|story| !story.is_done(review));
    let reasons: Vec<String> = open
        .map(|story| {
            let why = blocked(list, story, review).unwrap_or_else(|| "has fields that do not fit".to_owned());
            format!("{} {why}", story.id)
        })
        .collect();
    if reasons.is_empty() {
        return "every story is done".to_owned();
    }
    format!("no story can be worked on: {}", reasons.join("; "))
}

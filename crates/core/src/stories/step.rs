//! The steps of the review cycle as commands: what refuses an illegal one before it is written.

use super::{
    Kind, Review, Status, Story, change::ReviewFields, edit::set_in_story, schema::read, select::blocked,
    transitions::is_legal,
};
use crate::{nearest::nearest, stories::Mode};

/// A step that an agent or a person wants to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The story is implemented, or what the review found is mended.
    Submit,
    /// The review found nothing.
    Approve,
    /// The review found this.
    RequestChanges(String),
}

/// Why a step is not taken, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub why: String,
    /// What to type.
    pub hint: String,
}

/// Takes a step on a story; returns the text of the list afterwards. `mode` is that of the turn in which it is
/// taken; nothing for a person outside of a loop, who may do what some turn may do.
pub fn take_step(
    text: &str,
    id: &str,
    step: &Step,
    note: Option<&str>,
    mode: Option<Mode>,
    review: Review,
) -> Result<String, Refused> {
    let reading = read(text);
    let refuse = |why: String, hint: &str| Err(Refused { why, hint: hint.to_owned() });
    let place = reading.entries.iter().position(|entry| entry.id.as_deref() == Some(id));
    let found = place.and_then(|index| Some((index, reading.entries[index].story.as_ref()?)));
    let Some((index, story)) = found else {
        let ids: Vec<&str> = reading.list.user_stories.iter().map(|story| story.id.as_str()).collect();
        let meant = nearest(id, ids.iter().copied());
        let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
        return refuse(format!("there is no story `{id}`"), &format!("{meant}there are: {}", ids.join(", ")));
    };
    if mode.is_some() && story.kind == Kind::Human {
        return refuse(format!("{id} is for a person"), "leave it to a person outside of the loop");
    }
    let notes = note.map_or_else(|| story.notes.clone(), |note| joined(&story.notes, note));
    let was = ReviewFields::of(story);
    let is = after(&was, step, review);
    if is.passes && notes.trim().is_empty() {
        let why = format!("{id} has no notes, and a story that passes must have some");
        return refuse(why, "say what was done: --note \"...\"");
    }
    if *step == Step::Submit
        && story.review_status.is_none()
        && let Some(why) = blocked(&reading.list, story, review).filter(|_| story.kind == Kind::Agent)
    {
        return refuse(format!("{id} {why}"), "`ralph stories list` shows what is open");
    }
    let is_legal = match (review, step) {
        (Review::Skipped, Step::Submit) => true,
        _ => modes(mode).iter().any(|mode| is_legal(*mode, &was, &is)),
    };
    if !is_legal {
        return Err(why_illegal(story, step, mode));
    }
    let fields = [
        ("reviewFeedback", json(&is.feedback)),
        ("reviewCount", json(&is.count)),
        ("reviewStatus", json(&is.status)),
        ("passes", json(&is.passes)),
        ("notes", json(&notes)),
    ];
    let changed = fields.into_iter().filter(|(key, _)| *key != "notes" || notes != story.notes);
    Ok(changed.fold(text.to_owned(), |text, (key, value)| set_in_story(&text, index, key, &value)))
}

/// Whether a story passes that no review has approved, as it does after a run without reviews.
pub fn is_unreviewed(story: &Story) -> bool {
    story.passes && story.review_status != Some(Status::Approved)
}

/// Submits for review what passed without one: these stories, or all of them when none is named. Returns the text of
/// the list afterwards, and their ids.
pub fn reopen(text: &str, ids: &[String]) -> Result<(String, Vec<String>), Refused> {
    let reading = read(text);
    let refuse = |why: String| {
        let hint = "`ralph stories list` shows how far every story is".to_owned();
        Err(Refused { why, hint })
    };
    for id in ids {
        match reading.list.story(id) {
            None => {
                let ids = reading.list.user_stories.iter().map(|story| story.id.as_str());
                let meant = nearest(id, ids).map(|meant| format!("; did you mean `{meant}`?"));
                return refuse(format!("there is no story `{id}`{}", meant.unwrap_or_default()));
            }
            Some(story) if !is_unreviewed(story) => {
                return refuse(format!("{id} did not pass without a review"));
            }
            Some(_) => {}
        }
    }
    let (mut changed, mut reopened) = (text.to_owned(), Vec::new());
    for (index, entry) in reading.entries.iter().enumerate() {
        let Some(story) = entry.story.as_ref().filter(|story| is_unreviewed(story)) else { continue };
        if ids.is_empty() || ids.contains(&story.id) {
            changed = set_in_story(&changed, index, "reviewStatus", &json(&Status::NeedsReview));
            changed = set_in_story(&changed, index, "passes", "false");
            reopened.push(story.id.clone());
        }
    }
    if reopened.is_empty() {
        return refuse("no story passed without a review".to_owned());
    }
    Ok((changed, reopened))
}

fn modes(mode: Option<Mode>) -> Vec<Mode> {
    mode.map_or_else(|| vec![Mode::Implement, Mode::Review, Mode::Fix], |mode| vec![mode])
}

fn after(was: &ReviewFields, step: &Step, review: Review) -> ReviewFields {
    match (step, review) {
        (Step::Submit, Review::Skipped) => ReviewFields { passes: true, ..was.clone() },
        (Step::Submit, Review::Required) => {
            let is_again = was.status == Some(Status::ChangesRequested);
            let feedback = if is_again { String::new() } else { was.feedback.clone() };
            ReviewFields { status: Some(Status::NeedsReview), feedback, ..was.clone() }
        }
        (Step::Approve, _) => ReviewFields {
            passes: true,
            status: Some(Status::Approved),
            count: was.count.saturating_add(1),
            feedback: String::new(),
        },
        (Step::RequestChanges(feedback), _) => ReviewFields {
            passes: false,
            status: Some(Status::ChangesRequested),
            count: was.count.saturating_add(1),
            feedback: feedback.trim().to_owned(),
        },
    }
}

fn why_illegal(story: &Story, step: &Step, mode: Option<Mode>) -> Refused {
    let id = &story.id;
    let refused = |why: String, hint: String| Refused { why, hint };
    if let Step::RequestChanges(feedback) = step
        && feedback.trim().is_empty()
    {
        let why = "a review that requests changes must say which".to_owned();
        return refused(why, "say it: --feedback \"...\", or on standard input".to_owned());
    }
    let right = match step {
        Step::Submit => [Mode::Implement, Mode::Fix].as_slice(),
        Step::Approve | Step::RequestChanges(_) => &[Mode::Review],
    };
    if let Some(mode) = mode.filter(|mode| !right.contains(mode)) {
        let hint = "only the turn that ralph started for it may do this".to_owned();
        return refused(format!("this is {} turn; it may not do this to {id}", mode.with_article()), hint);
    }
    let (why, hint) = match story.review_status {
        None => ("was not submitted for review yet", format!("submit it first: ralph stories submit {id}")),
        Some(Status::NeedsReview) => {
            ("waits for a review", format!("review it: ralph stories approve {id}, or request-changes {id}"))
        }
        Some(Status::ChangesRequested) => {
            ("was sent back by its review", format!("fix it, then: ralph stories submit {id}"))
        }
        Some(Status::Approved) => {
            ("is approved already", "add a new story for what is left to do".to_owned())
        }
    };
    refused(format!("{id} {why}"), hint)
}

pub(super) fn joined(notes: &str, note: &str) -> String {
    if notes.trim().is_empty() { note.trim().to_owned() } else { format!("{notes}\n{}", note.trim()) }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain values are JSON")
}

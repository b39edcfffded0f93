//! A submission that did not pass its checks: the story is again what it was before the turn, so that no review is spent
//! on it.

use super::{
    Review, TaskFile, Undone,
    change::{Change, ReviewFields, changes},
    edit::set_in_story,
};

/// A list without what was submitted to it.
#[derive(Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// The text of the list.
    pub text: String,
    /// What was put back.
    pub undone: Vec<Undone>,
    /// The stories that had been submitted.
    pub stories: Vec<String>,
}

/// The list without what was submitted since `before`; nothing if nothing was.
pub fn take_back(before: &TaskFile, now: &TaskFile, review: Review) -> Option<TakenBack> {
    let (mut text, mut undone, mut stories) = (now.text().to_owned(), Vec::new(), Vec::new());
    for (index, entry) in now.reading().entries.iter().enumerate() {
        let (Some(is), Some(was)) =
            (&entry.story, entry.id.as_deref().and_then(|id| before.list().story(id)))
        else {
            continue;
        };
        if !is.is_submitted_for(review) || was.is_submitted_for(review) {
            continue;
        }
        stories.push(is.id.clone());
        let fields = ReviewFields::of(was);
        for Change { field, old, new } in changes(&fields, &ReviewFields::of(is)) {
            text = set_in_story(&text, index, field, &fields.value_of(field));
            undone.push(Undone { story: Some(is.id.clone()), field: field.to_owned(), was: new, now: old });
        }
    }
    (!undone.is_empty()).then_some(TakenBack { text, undone, stories })
}

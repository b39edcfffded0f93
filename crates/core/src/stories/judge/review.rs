//! Which review fields a turn may have changed, and what it must have changed.

use super::{Bench, StoryTurn, json};
use crate::stories::{
    AUTO_APPROVED, Mode, Status,
    change::{Change, ReviewFields, changes, in_words},
    select::fits,
    transitions::{explain, illegal, is_legal},
};

impl Bench<'_> {
    /// Check 2.5: only steps of the table, on stories that were due, and on one of them.
    pub(super) fn review_fields_are_legal(&mut self) {
        let (old, now) = (self.old.list.clone(), self.list());
        let mode = self.turn.mode;
        for before in &old.user_stories {
            let Some(after) = now.story(&before.id) else { continue };
            let (was, is) = (ReviewFields::of(before), ReviewFields::of(after));
            if was == is {
                continue;
            }
            if !is_legal(mode, &was, &is) {
                self.put_back(&before.id, &was, &is, explain(mode, &before.id, &was, &is));
            } else if !fits(&old, before, mode, self.rules.review) {
                let what = format!("{}; it was not due", in_words(&changes(&was, &is)));
                self.put_back(&before.id, &was, &is, illegal(mode, &before.id, &what));
            } else {
                self.moved.push(before.id.clone());
            }
        }
        if self.moved.len() < 2 {
            return;
        }
        // One of several: the one that was selected, or none.
        for id in std::mem::take(&mut self.moved) {
            if self.turn.story == Some(id.as_str()) {
                self.moved.push(id);
                continue;
            }
            let (Some(before), Some(after)) = (old.story(&id), now.story(&id)) else { continue };
            let (was, is) = (ReviewFields::of(before), ReviewFields::of(after));
            let what = format!("{}; a turn may only modify one story", in_words(&changes(&was, &is)));
            self.put_back(&id, &was, &is, illegal(mode, &id, &what));
        }
    }

    pub(super) fn newborns_are_fresh(&mut self) {
        for story in self.list().user_stories {
            let is = ReviewFields::of(&story);
            let fresh = ReviewFields::fresh();
            if self.old.list.story(&story.id).is_some() || is == fresh {
                continue;
            }
            let what = in_words(&changes(&fresh, &is));
            let text = format!(
                "New stories must start with passes=false, reviewStatus=null, reviewCount=0 and no reviewFeedback. \
                 Story {} was added with {what}.",
                story.id
            );
            self.put_back(&story.id, &fresh, &is, text);
        }
    }

    /// Gives a story these review fields again.
    fn put_back(&mut self, id: &str, was: &ReviewFields, is: &ReviewFields, text: String) {
        self.restore_notes(id, was);
        for Change { field, old, new } in changes(was, is) {
            self.set(id, field, &value_of(was, field));
            self.undone(Some(id), field, new, old);
        }
        self.found.broken.push(text);
    }

    /// A story that passes must have notes: with an approval that comes back come those that it had.
    fn restore_notes(&mut self, id: &str, was: &ReviewFields) {
        let is_silent = self.now.list.story(id).is_some_and(|story| story.notes.trim().is_empty());
        let Some(old) = self.old.list.story(id).filter(|_| was.passes && is_silent) else { return };
        let notes = json(&old.notes);
        self.set(id, "notes", &notes);
        self.undone(Some(id), "notes", "empty", "as before the turn");
    }

    /// A reviewer who asks for changes too often is overruled; the concerns stay readable.
    pub(super) fn cap_is_applied(&mut self) {
        let list = self.list();
        for id in self.moved.clone() {
            let Some(story) = list.story(&id) else { continue };
            let is_at_cap = u64::from(self.rules.cap) <= story.review_count;
            if story.review_status != Some(Status::ChangesRequested) || !is_at_cap {
                continue;
            }
            let concerns = format!("{AUTO_APPROVED} {}", story.review_feedback);
            self.set(&id, "reviewFeedback", &json(&concerns));
            self.set(&id, "reviewStatus", &json(&Status::Approved));
            self.set(&id, "passes", "true");
            if story.notes.trim().is_empty() {
                self.set(&id, "notes", &json("Approved at the review cap."));
            }
            self.found.capped.push(id);
        }
    }

    /// A review says something, and a fix is submitted again.
    pub(super) fn duty_was_done(&mut self) {
        let was_told = self.found.undone.iter().any(|it| it.story.as_deref() == self.turn.story);
        if self.moved.is_empty() && !was_told {
            self.found.broken.extend(idle(self.turn));
        }
    }
}

/// What is wrong with a turn that has done nothing to the list.
pub fn idle(turn: StoryTurn<'_>) -> Option<String> {
    let id = turn.story?;
    match turn.mode {
        Mode::Review => Some(illegal(
            Mode::Review,
            id,
            "nothing changed; a review must increment reviewCount and end with approved or changes_requested",
        )),
        Mode::Fix => Some(format!(
            "Review-fix iteration left the feedback on story {id} standing. Address all of it, clear reviewFeedback \
             and set reviewStatus to needs_review."
        )),
        Mode::Implement | Mode::Work => None,
    }
}

fn value_of(fields: &ReviewFields, field: &str) -> String {
    match field {
        "passes" => json(&fields.passes),
        "reviewStatus" => json(&fields.status),
        "reviewCount" => json(&fields.count),
        _ => json(&fields.feedback),
    }
}

//! Which review fields a turn may have changed, and what it must have changed.

use super::{Bench, StoryTurn, json};
use crate::stories::{
    AUTO_APPROVED, Mode, Status, UNCOUNTED,
    change::{Change, ReviewFields, changes, in_words},
    one_line,
    select::fits,
    transitions::{explain, illegal, is_legal},
};

/// How many of the files that a review changed are named.
const MAX_NAMED_FILES: usize = 10;

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
            if self.was_uncounted(&was, &is) {
                self.moved.push(before.id.clone());
            } else if !is_legal(mode, &was, &is) {
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

    /// Whether this is what ralph made of an approval that did not count, before it was killed.
    fn was_uncounted(&self, was: &ReviewFields, is: &ReviewFields) -> bool {
        let is_meddling = self.turn.mode == Mode::Review && !self.turn.touched.is_empty();
        let waits = (was.status, is.status) == (Some(Status::NeedsReview), Some(Status::NeedsReview));
        let is_counted = was.count.checked_add(1) == Some(is.count);
        is_meddling && waits && is_counted && !is.passes && is.feedback.starts_with(UNCOUNTED)
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
            self.set(id, field, &was.value_of(field));
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

    /// Who changes what they review ends up reviewing themselves: such an approval does not count, but the review does.
    pub(super) fn reviews_change_no_files(&mut self) {
        if self.turn.mode != Mode::Review || self.turn.touched.is_empty() {
            return;
        }
        let list = self.list();
        let moved = self.moved.clone();
        let stories = moved.iter().filter_map(|id| list.story(id));
        for story in stories.filter(|story| story.review_status == Some(Status::Approved)) {
            let id = &story.id;
            let why = format!(
                "The review of story {id} changed files itself, so its approval does not count: {}.",
                in_short(self.turn.touched)
            );
            let is_at_cap = u64::from(self.rules.cap) <= story.review_count;
            let prefix = if is_at_cap { AUTO_APPROVED } else { UNCOUNTED };
            self.set(id, "reviewFeedback", &json(&format!("{prefix} {why}")));
            if is_at_cap {
                self.found.capped.push(id.clone());
                continue;
            }
            self.set(id, "reviewStatus", &json(&Status::NeedsReview));
            self.set(id, "passes", "false");
            self.undone(Some(id), "reviewStatus", Status::Approved.name(), Status::NeedsReview.name());
            self.undone(Some(id), "passes", "true", "false");
            self.found.broken.push(format!(
                "{why} A review changes nothing but the files of the loop. The next review is about these changes too."
            ));
        }
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

/// The first of these names.
fn in_short(files: &[String]) -> String {
    let mut names: Vec<String> =
        files.iter().take(MAX_NAMED_FILES).map(|it| one_line(it, usize::MAX)).collect();
    if MAX_NAMED_FILES < files.len() {
        names.push(format!("and {} more", files.len() - MAX_NAMED_FILES));
    }
    names.join(", ")
}

//! Check 2.5: which changes of the review fields a turn of each mode may make. The table is the whole rule.

use super::{
    Status,
    change::{Change, ReviewFields, changes, in_words},
};
use crate::stories::Mode;

/// A change that a turn may make to one story.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// In a turn of this mode,
    pub mode: Mode,
    /// from this status,
    pub from: Option<Status>,
    /// to this one,
    pub to: Option<Status>,
    /// with this many reviews more,
    pub reviews: u64,
    /// `passes` being this afterwards,
    pub passes: bool,
    /// and the feedback this.
    pub feedback: FeedbackRule,
}

/// What becomes of `reviewFeedback`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedbackRule {
    /// It is as it was.
    Kept,
    /// It says what to change.
    Filled,
    /// It is empty.
    Cleared,
    /// It may say anything.
    Free,
}

/// Everything that is legal. At most one story changes in a turn.
pub const LEGAL: [Transition; 4] = [
    Transition {
        mode: Mode::Implement,
        from: None,
        to: Some(Status::NeedsReview),
        reviews: 0,
        passes: false,
        feedback: FeedbackRule::Kept,
    },
    Transition {
        mode: Mode::Review,
        from: Some(Status::NeedsReview),
        to: Some(Status::Approved),
        reviews: 1,
        passes: true,
        feedback: FeedbackRule::Free,
    },
    Transition {
        mode: Mode::Review,
        from: Some(Status::NeedsReview),
        to: Some(Status::ChangesRequested),
        reviews: 1,
        passes: false,
        feedback: FeedbackRule::Filled,
    },
    Transition {
        mode: Mode::Fix,
        from: Some(Status::ChangesRequested),
        to: Some(Status::NeedsReview),
        reviews: 0,
        passes: false,
        feedback: FeedbackRule::Cleared,
    },
];

impl Transition {
    /// Whether this is what happened.
    fn is(&self, mode: Mode, old: &ReviewFields, new: &ReviewFields) -> bool {
        let feedback = match self.feedback {
            FeedbackRule::Kept => new.feedback == old.feedback,
            FeedbackRule::Filled => !new.feedback.trim().is_empty(),
            FeedbackRule::Cleared => new.feedback.is_empty(),
            FeedbackRule::Free => true,
        };
        feedback
            && (self.mode, self.from, self.to, self.passes) == (mode, old.status, new.status, new.passes)
            && old.count.checked_add(self.reviews) == Some(new.count)
    }
}

/// Whether a turn of this mode may change a story so.
pub(super) fn is_legal(mode: Mode, old: &ReviewFields, new: &ReviewFields) -> bool {
    LEGAL.iter().any(|transition| transition.is(mode, old, new))
}

/// What to tell a turn that changed a story as it may not.
pub(super) fn explain(mode: Mode, id: &str, old: &ReviewFields, new: &ReviewFields) -> String {
    let changes = changes(old, new);
    match mode {
        Mode::Review => review(id, old, new, &changes),
        Mode::Fix => fix(id, old, new, &changes),
        Mode::Implement | Mode::Work => illegal(mode, id, &in_words(&changes)),
    }
}

/// The words of each mode for an illegal change.
pub(super) fn illegal(mode: Mode, id: &str, what: &str) -> String {
    match mode {
        Mode::Implement => format!(
            "Implement iterations cannot set passes=true or approve stories. Only review iterations may approve. \
             Story {id} had illegal transition: {what}."
        ),
        Mode::Review => format!("Review iteration made illegal transition on story {id}: {what}."),
        Mode::Fix => format!(
            "Review-fix iterations cannot approve stories. Story {id} must go back to needs_review for re-review. \
             Illegal transition: {what}."
        ),
        Mode::Work => {
            format!("Review fields are changed in turns only. Story {id} was changed between two: {what}.")
        }
    }
}

/// A fix that has nearly done it right is told what is missing.
fn fix(id: &str, old: &ReviewFields, new: &ReviewFields, changes: &[Change]) -> String {
    let clear = "Set reviewFeedback to \"\" when you set reviewStatus to needs_review.";
    let is_plain = old.status == Some(Status::ChangesRequested) && !new.passes && new.count == old.count;
    let slip = match new.status.filter(|_| is_plain) {
        Some(Status::NeedsReview) if new.feedback == old.feedback => {
            format!("submitted story {id} but left its reviewFeedback in place. {clear}")
        }
        Some(Status::NeedsReview) => {
            format!("submitted story {id} but wrote into its reviewFeedback. {clear}")
        }
        Some(Status::ChangesRequested) if new.feedback.is_empty() => format!(
            "cleared the reviewFeedback of story {id} but did not submit it. Set reviewStatus to needs_review too."
        ),
        Some(Status::ChangesRequested | Status::Approved) | None => {
            return illegal(Mode::Fix, id, &in_words(changes));
        }
    };
    format!("Review-fix iteration {slip} Illegal transition: {}.", in_words(changes))
}

fn review(id: &str, old: &ReviewFields, new: &ReviewFields, changes: &[Change]) -> String {
    let mut details = vec![in_words(changes)];
    if old.status != Some(Status::NeedsReview) {
        details.push("the story was not submitted for review".to_owned());
    }
    if old.count.checked_add(1) != Some(new.count) {
        details.push("a review must increment reviewCount by 1".to_owned());
    }
    match new.status {
        Some(Status::Approved) if !new.passes => details.push("an approved story has passes=true".to_owned()),
        Some(Status::ChangesRequested) if new.passes => {
            details.push("a story with changes requested has passes=false".to_owned());
        }
        Some(Status::ChangesRequested) if new.feedback.trim().is_empty() => {
            details.push("changes_requested needs reviewFeedback that says what to fix".to_owned());
        }
        Some(Status::NeedsReview) | None => {
            details.push("a review ends with approved or changes_requested".to_owned());
        }
        Some(Status::Approved | Status::ChangesRequested) => {}
    }
    illegal(Mode::Review, id, &details.join("; "))
}

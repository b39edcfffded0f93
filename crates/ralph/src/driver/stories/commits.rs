//! Which commits belong to a story: where HEAD was before and after the turns that worked on it.
//!
//! Invariant: a reviewer is shown commits that are in the history of HEAD, and no others.

use std::collections::BTreeMap;

use ralph_core::{
    engine::event::{TasksJudged, Turn},
    stories::Mode,
};

/// Commits after the first, up to the second.
pub(super) type Range = (String, String);

/// The turns that worked on each story, in their order.
#[derive(Default)]
pub(super) struct Ranges {
    of_story: BTreeMap<String, Vec<Range>>,
    /// The last turn that worked on a story, while it is not known where it ended.
    open: Option<(String, String)>,
    /// The last turn, if it was a review.
    review: Option<(String, String)>,
}

impl Ranges {
    /// A turn begins: where HEAD is now is where the turn before it ended.
    pub(super) fn turn(&mut self, turn: &Turn) {
        let Some(head) = &turn.head else { return };
        self.close(head);
        let this = turn.story.clone().map(|story| (story, head.clone()));
        (self.open, self.review) = match turn.mode {
            Mode::Implement | Mode::Fix => (this, None),
            Mode::Review => (None, this),
            Mode::Work => (None, None),
        };
    }

    /// A turn was judged: a review that changed files has worked on its story.
    pub(super) fn judged(&mut self, judged: &TasksJudged) {
        if !judged.review_changed.is_empty() {
            self.open = self.review.take();
        }
    }

    fn close(&mut self, head: &str) {
        let Some((story, from)) = self.open.take() else { return };
        if from == head {
            return;
        }
        let ranges = self.of_story.entry(story).or_default();
        // A turn that goes on where the last one ended is the same piece of work.
        match ranges.last_mut().filter(|last| last.1 == from) {
            Some(last) => head.clone_into(&mut last.1),
            None => ranges.push((from, head.to_owned())),
        }
    }

    /// The commits of a story, given where HEAD is.
    pub(super) fn of(&self, story: &str, head: Option<&str>) -> Vec<Range> {
        let mut ranges = self.of_story.get(story).cloned().unwrap_or_default();
        if let (Some((open, from)), Some(head)) = (&self.open, head)
            && open == story
            && from != head
        {
            ranges.push((from.clone(), head.to_owned()));
        }
        ranges
    }
}

/// The commits that a review is about.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReviewedCommits {
    pub(super) ranges: Vec<Range>,
    /// Some that were recorded are not in the history any more: rebased, reset, or on another branch.
    pub(super) lost: bool,
}

impl ReviewedCommits {
    /// What is left of these in the history of `head`. `merge_base` names the last commit that two have in common.
    pub(super) fn in_history(
        recorded: &[Range],
        head: &str,
        mut merge_base: impl FnMut(&str, &str) -> Option<String>,
    ) -> Self {
        let mut it = Self::default();
        for (from, to) in recorded {
            if merge_base(to, head).as_ref() != Some(to) {
                it.lost = true;
                continue;
            }
            // A turn that replaced the commits of an earlier one has done their work too.
            let from = merge_base(from, to).unwrap_or_else(|| from.clone());
            it.ranges.push((from, to.clone()));
        }
        it
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_that_were_replaced_are_reviewed_in_what_replaced_them() {
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        // 1 - 2 - 4 is the history; 3 came after 1 and was replaced by 2.
        let merge_base = |one: &str, other: &str| {
            let history = |of: &str| if of == "3" { vec!["1", "3"] } else { vec!["1", "2", "4"] };
            let (one, other) = (history(one).into_iter().take_while(|it| *it <= one), history(other));
            one.filter(|it| other.contains(it)).last().map(str::to_owned)
        };
        let check = |recorded: &[Range], ranges: &[Range], lost: bool| {
            let found = ReviewedCommits::in_history(recorded, "4", merge_base);
            assert_eq!(found, ReviewedCommits { ranges: ranges.to_vec(), lost });
        };
        check(&[pair("1", "2"), pair("2", "4")], &[pair("1", "2"), pair("2", "4")], false);
        check(&[pair("1", "3"), pair("3", "2")], &[pair("1", "2")], true);
        check(&[pair("1", "3")], &[], true);
        let unrelated = ReviewedCommits::in_history(&[pair("9", "4")], "4", |one, other| {
            (one == other).then(|| one.to_owned())
        });
        assert_eq!(unrelated, ReviewedCommits { ranges: vec![pair("9", "4")], lost: false });
    }

    fn turn(mode: Mode, story: &str, head: &str) -> Turn {
        Turn { mode, story: Some(story.to_owned()), head: Some(head.to_owned()), ..Turn::default() }
    }

    #[test]
    fn a_story_is_what_was_committed_in_its_turns() {
        let mut ranges = Ranges::default();
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        ranges.turn(&turn(Mode::Implement, "A", "1"));
        ranges.turn(&turn(Mode::Implement, "A", "2"));
        ranges.turn(&turn(Mode::Review, "A", "3"));
        assert_eq!(ranges.of("A", Some("3")), [pair("1", "3")]);
        ranges.turn(&turn(Mode::Implement, "B", "4"));
        ranges.turn(&turn(Mode::Fix, "A", "5"));
        assert_eq!(ranges.of("A", Some("6")), [pair("1", "3"), pair("5", "6")]);
        ranges.turn(&turn(Mode::Review, "A", "5"));
        assert_eq!(ranges.of("A", Some("5")), [pair("1", "3")]);
        assert_eq!(ranges.of("B", Some("5")), [pair("4", "5")]);
        assert_eq!(ranges.of("C", Some("5")), []);
        ranges.judged(&TasksJudged::default());
        assert_eq!(ranges.of("A", Some("7")), [pair("1", "3")]);
        ranges.judged(&TasksJudged { review_changed: vec!["x".to_owned()], ..TasksJudged::default() });
        assert_eq!(ranges.of("A", Some("7")), [pair("1", "3"), pair("5", "7")]);
    }
}

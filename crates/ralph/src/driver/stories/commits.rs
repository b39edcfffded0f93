//! Which commits belong to a story: where HEAD was before and after the turns that worked on it.

use std::collections::BTreeMap;

use ralph_core::{engine::event::Turn, stories::Mode};

/// Commits after the first, up to the second.
pub(super) type Range = (String, String);

/// The turns that worked on each story, in their order.
#[derive(Default)]
pub(super) struct Ranges {
    of_story: BTreeMap<String, Vec<Range>>,
    /// The last turn that worked on a story, while it is not known where it ended.
    open: Option<(String, String)>,
}

impl Ranges {
    /// A turn begins: where HEAD is now is where the turn before it ended.
    pub(super) fn turn(&mut self, turn: &Turn) {
        let Some(head) = &turn.head else { return };
        self.close(head);
        if let (Some(story), Mode::Implement | Mode::Fix) = (&turn.story, turn.mode) {
            self.open = Some((story.clone(), head.clone()));
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

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}

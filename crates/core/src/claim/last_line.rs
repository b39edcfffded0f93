//! The last line of the last message that says anything, however the words are cut into pieces.
//!
//! Invariant: memory is bounded, whatever the agent says.

use super::{keep_end, text_end};

/// As much of a message as a last line with a tag can be, and some empty lines after it.
const MAX_TAIL_LEN: usize = 4096;

/// At this length it is cut: now and then, not for each letter that is added.
const MAX_HELD_LEN: usize = 8192;

/// The end of what an agent says.
#[derive(Debug, Default)]
pub(super) struct LastLine {
    /// The end of the last message.
    tail: String,
    /// The message is longer than that.
    is_cut: bool,
}

impl LastLine {
    /// Takes the next piece of text.
    pub(super) fn push(&mut self, text: &str, joins: bool) {
        if !joins {
            // A message that says nothing is not the last one.
            if text.trim_start().is_empty() {
                return;
            }
            self.tail.clear();
            self.is_cut = false;
        }
        let end = text_end(text, MAX_TAIL_LEN);
        self.is_cut |= end.len() < text.len();
        self.tail.push_str(end);
        if MAX_HELD_LEN <= self.tail.len() {
            keep_end(&mut self.tail, MAX_TAIL_LEN);
            self.is_cut = true;
        }
    }

    /// The end of the message.
    pub(super) fn tail(&self) -> &str {
        text_end(&self.tail, MAX_TAIL_LEN)
    }

    /// The line, without white space around it; nothing if its beginning is not known.
    pub(super) fn line(&self) -> Option<&str> {
        let tail = self.tail();
        let is_cut = self.is_cut || tail.len() < self.tail.len();
        let said = tail.trim_end();
        match said.rsplit_once('\n') {
            Some((_, line)) => Some(line.trim()),
            None if is_cut => None,
            None => Some(said.trim()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(pieces: &[&str]) -> LastLine {
        let mut last = LastLine::default();
        for piece in pieces {
            last.push(piece, true);
        }
        last
    }

    #[track_caller]
    fn check(pieces: &[&str], expected: Option<&str>) {
        assert_eq!(said(pieces).line(), expected);
    }

    #[test]
    fn a_line_is_known_only_from_its_beginning() {
        let most = "x".repeat(MAX_TAIL_LEN);
        check(&[&most], Some(&most));
        check(&[&most, "y"], None);
        check(&[&format!("{most}y")], None);
        check(&[&format!("{most}y"), "z"], None);
        check(&[&most, &most, &most], None);
        // What comes after it has its beginning.
        check(&[&most, "y\n", "done"], Some("done"));
        check(&[&format!("{most}\ndone \n")], Some("done"));
        check(&[&most, &most, &most, "\n done"], Some("done"));
        check(&[], Some(""));
    }

    #[test]
    fn another_message_begins_anew() {
        let mut last = said(&[&"x".repeat(3 * MAX_TAIL_LEN)]);
        last.push("done", false);
        assert_eq!(last.line(), Some("done"));
        last.push(" \n", false);
        assert_eq!(last.line(), Some("done"));
    }

    #[test]
    fn what_is_held_is_bounded() {
        for piece in ["x", "é", &"y".repeat(3000), &"z".repeat(100_000)] {
            let last = said(&[piece].repeat(10_000));
            assert!(last.tail.len() <= MAX_HELD_LEN, "{}", last.tail.len());
        }
    }
}

//! The last lines that an agent said to people, for a failure's sake: on standard error, or as text among its events.
//!
//! Invariant: memory does not depend on how much it says.

use std::collections::VecDeque;

use ralph_agents::AgentEvent;

use crate::term::printable;

/// How many lines are kept.
const MAX_LINES: usize = 8;
/// How many bytes of one line are kept.
const MAX_LINE_LEN: usize = 500;

/// The last lines that an agent said to people.
#[derive(Default)]
pub(super) struct LastLines {
    lines: VecDeque<String>,
    /// What has no line break yet.
    open: Vec<u8>,
}

impl LastLines {
    /// Takes the next bytes of standard error, cut anywhere, and hands on each line that they complete.
    pub(super) fn push(&mut self, bytes: &[u8], take: &mut dyn FnMut(&str)) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE_LEN.saturating_sub(self.open.len());
            self.open.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.open);
                let line = String::from_utf8_lossy(&line);
                take(line.trim_end());
                self.keep(&line);
            }
        }
    }

    /// Takes a line of text among the events.
    pub(super) fn take(&mut self, event: &AgentEvent) {
        if let AgentEvent::Stray { text } = event {
            self.keep(&text[..text.floor_char_boundary(MAX_LINE_LEN)]);
        }
    }

    /// The lines, the last of them at the end.
    pub(super) fn lines(&self) -> Vec<String> {
        let open = String::from_utf8_lossy(&self.open);
        let lines = self.lines.iter().cloned().chain(shown(&open)).collect::<Vec<_>>();
        lines[lines.len().saturating_sub(MAX_LINES)..].to_vec()
    }

    fn keep(&mut self, line: &str) {
        self.lines.extend(shown(line));
        if MAX_LINES < self.lines.len() {
            self.lines.pop_front();
        }
    }
}

/// A line as it may be shown; nothing if nothing is left of it.
fn shown(line: &str) -> Option<String> {
    let line = printable(line.trim()).trim().to_owned();
    (!line.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_however_it_is_cut() {
        let lines: Vec<String> = (1..=20).map(|number| format!("line {number}\r\n\n")).collect();
        let text = lines.concat() + "open";
        let expected: Vec<String> =
            (14..=20).map(|number| format!("line {number}")).chain(["open".to_owned()]).collect();
        for size in [1, 3, 7, 1000] {
            let mut last = LastLines::default();
            let mut whole = 0;
            text.as_bytes().chunks(size).for_each(|chunk| last.push(chunk, &mut |_| whole += 1));
            assert_eq!(whole, 40);
            assert_eq!(last.lines(), expected, "in chunks of {size}");
        }
    }

    #[test]
    fn a_long_line_and_text_among_events_are_kept_in_their_order() {
        let mut last = LastLines::default();
        last.push("é".repeat(10_000).as_bytes(), &mut |_| {});
        last.push(b"\n", &mut |_| {});
        last.take(&AgentEvent::Stray { text: "visit us".to_owned() });
        last.take(&AgentEvent::Judged);
        last.push(b"bye", &mut |_| {});
        let lines = last.lines();
        assert_eq!((lines[0].len(), &lines[1..]), (500, &["visit us".to_owned(), "bye".to_owned()][..]));
    }
}

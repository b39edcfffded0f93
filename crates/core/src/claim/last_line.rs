//! The last line of the last message that says anything, however the words are cut into pieces.
//!
//! Invariant: memory is bounded, whatever the agent says.

use super::{keep_end, text_end};

/// As much of a message as a last line with a tag can be, and some empty lines after it.
const MAX_TAIL_LEN: usize = 4096;

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
        // Cut now and then, not for each letter that is added.
        if 2 * MAX_TAIL_LEN < self.tail.len() {
            keep_end(&mut self.tail, MAX_TAIL_LEN);
            self.is_cut = true;
        }
    }

    /// The line, without white space around it; nothing if its beginning is not known.
    pub(super) fn line(&self) -> Option<&str> {
        let tail = text_end(&self.tail, MAX_TAIL_LEN);
        let is_cut = self.is_cut || tail.len() < self.tail.len();
        let said = tail.trim_end();
        match said.rsplit_once('\n') {
            Some((_, line)) => Some(line.trim()),
            None if is_cut => None,
            None => Some(said.trim()),
        }
    }
}

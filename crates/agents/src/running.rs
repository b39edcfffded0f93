//! What the messages of a stream have used so far.
//!
//! Invariant: one message counts once, however many lines it comes in, and memory does not grow with their number.

use std::collections::VecDeque;

use super::Usage;

/// Messages of several agents may come in turns; no more than this at a time.
const MAX_OPEN_MESSAGES: usize = 32;

/// What the messages of a stream have used so far.
#[derive(Debug, Default)]
pub(super) struct Running {
    /// Messages that may still get more lines, with what they say that they used.
    open: VecDeque<(String, Usage)>,
    /// All the others.
    closed: Usage,
}

impl Running {
    /// Takes a line of a message; the last line of each says what counts.
    pub(super) fn take(&mut self, message: &str, usage: Usage) {
        if let Some((_, before)) = self.open.iter_mut().find(|(id, _)| id == message && !id.is_empty()) {
            *before = usage;
            return;
        }
        self.open.push_back((message.to_owned(), usage));
        if MAX_OPEN_MESSAGES < self.open.len()
            && let Some((_, usage)) = self.open.pop_front()
        {
            self.closed.add(usage);
        }
    }

    /// All of them together.
    pub(super) fn total(&self) -> Usage {
        let mut total = self.closed;
        self.open.iter().for_each(|(_, usage)| total.add(*usage));
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_counts_once() {
        let usage = |output| Usage { output, ..Usage::default() };
        let mut running = Running::default();
        for (message, output) in [("a", 1), ("a", 5), ("b", 2), ("a", 7), ("", 1), ("", 1)] {
            running.take(message, usage(output));
        }
        assert_eq!(running.total().output, 7 + 2 + 1 + 1);
        for message in 0..1000 {
            running.take(&message.to_string(), usage(1));
        }
        assert_eq!((running.total().output, running.open.len()), (1011, MAX_OPEN_MESSAGES));
    }
}

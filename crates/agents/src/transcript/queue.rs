//! What the user has typed while the agent worked, and what still waits to be read: Claude Code writes down when a
//! prompt enters its queue and when it leaves it.
//!
//! Invariant: lines that cannot be read are passed over, and an unknown operation removes nothing.

use std::collections::VecDeque;

use jiff::Timestamp;
use memchr::memmem;
use serde::Deserialize;

use super::Reach;
use crate::raw::{Raw, word};

/// The prompts that were typed after `since` and wait, the first first. The first line of `tail` may be cut.
pub fn waiting(tail: &[u8], since: Timestamp) -> (VecDeque<String>, Reach) {
    let mut waiting = VecDeque::new();
    for line in tail.split(|byte| *byte == b'\n') {
        if memmem::find(line, b"\"queue-operation\"").is_none() {
            continue;
        }
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { continue };
        if word(line.kind) == "queue-operation" && line.at().is_some_and(|at| since <= at) {
            line.apply(&mut waiting);
        }
    }
    (waiting, reach(tail, since))
}

/// Whether the end of a transcript begins before a moment. Only a message tells: what is attached to one has its time.
fn reach(tail: &[u8], since: Timestamp) -> Reach {
    let whole_lines = tail.split(|byte| *byte == b'\n').skip(1);
    let mut messages = whole_lines.filter_map(|line| {
        let line = serde_json::from_slice::<Line<'_>>(line).ok()?;
        line.at().filter(|_| word(line.kind) == "assistant")
    });
    if messages.next().is_some_and(|at| at < since) { Reach::Whole } else { Reach::Part }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    timestamp: Option<Raw<'a>>,
    #[serde(borrow)]
    operation: Option<Raw<'a>>,
    #[serde(borrow)]
    content: Option<Raw<'a>>,
}

impl Line<'_> {
    fn at(&self) -> Option<Timestamp> {
        self.timestamp.and_then(Raw::word).and_then(|at| at.parse().ok())
    }

    fn apply(&self, waiting: &mut VecDeque<String>) {
        let content = self.content.and_then(Raw::text);
        match (word(self.operation), content) {
            ("enqueue", Some(content)) => waiting.push_back(content),
            // Read by the agent: the first that waits, or the one that is named.
            ("dequeue", None) => {
                waiting.pop_front();
            }
            // `popAll` gives each back to the user to be edited; `remove` names what was read in between.
            (_, Some(content)) => {
                if let Some(at) = waiting.iter().position(|waits| *waits == content) {
                    waiting.remove(at);
                }
            }
            (_, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(operations: &[(&str, &str)], expected: &[&str]) {
        let lines: Vec<String> = operations
            .iter()
            .map(|(operation, content)| {
                let content =
                    if content.is_empty() { String::new() } else { format!(",\"content\":\"{content}\"") };
                format!(
                    r#"{{"type":"queue-operation","operation":"{operation}","timestamp":"2026-01-01T10:00:00Z"{content}}}"#
                )
            })
            .collect();
        let text = format!("torn\"queue-operation\"}}\n{}\n", lines.join("\n{}\n"));
        let since = |moment: &str| moment.parse().expect("a moment");
        let (found, _) = waiting(text.as_bytes(), since("2026-01-01T10:00:00Z"));
        assert_eq!(found, expected, "{operations:?}");
        assert!(waiting(text.as_bytes(), since("2026-01-01T10:00:01Z")).0.is_empty());
    }

    #[test]
    fn what_was_put_in_waits_until_it_is_taken_out() {
        check(&[], &[]);
        check(&[("enqueue", "a"), ("enqueue", "/cancel-ralph")], &["a", "/cancel-ralph"]);
        check(&[("enqueue", "a"), ("enqueue", "b"), ("dequeue", "")], &["b"]);
        check(&[("enqueue", "a"), ("enqueue", "b"), ("remove", "b")], &["a"]);
        check(&[("enqueue", "a"), ("enqueue", "b"), ("popAll", "a"), ("popAll", "b")], &[]);
        check(&[("dequeue", ""), ("remove", "x"), ("enqueue", "a"), ("polish", "")], &["a"]);
    }

    #[test]
    fn what_others_say_about_a_queue_is_no_operation() {
        let said = r#"{"type":"assistant","timestamp":"2026-01-01T10:00:00Z","operation":"enqueue","content":"/cancel-ralph","note":["queue-operation"]}"#;
        assert!(waiting(said.as_bytes(), Timestamp::UNIX_EPOCH).0.is_empty());
    }

    #[test]
    fn a_message_from_before_the_moment_tells_that_nothing_is_missing() {
        let line = |kind: &str, second: u32| {
            format!(r#"{{"type":"{kind}","timestamp":"2026-01-01T10:00:0{second}Z"}}"#)
        };
        let since = "2026-01-01T10:00:05Z".parse().expect("a moment");
        for (lines, expected) in [
            (vec![], Reach::Part),
            (vec![line("assistant", 4), line("assistant", 6)], Reach::Whole),
            (vec![line("attachment", 4), line("assistant", 6)], Reach::Part),
            (vec![line("attachment", 6), line("assistant", 4)], Reach::Whole),
            (vec![line("assistant", 5)], Reach::Part),
            (vec!["no JSON".to_owned(), line("assistant", 4)], Reach::Whole),
        ] {
            let tail = format!("{}\n{}", line("assistant", 1), lines.join("\n"));
            assert_eq!(waiting(tail.as_bytes(), since).1, expected, "{lines:?}");
        }
    }
}

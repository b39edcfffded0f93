//! What an agent said last, read from the end of its transcript.
//!
//! Invariant: only the agent's own words. Lines that cannot be read are passed over; tool output, subagents and
//! the program's own messages say nothing.

pub mod queue;

use jiff::Timestamp;
use memchr::memmem;
use serde::Deserialize;

use crate::raw::{Raw, word};

/// How far the end of a transcript reaches back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Beyond the beginning of the message, or beyond the moment.
    Whole,
    /// Not as far: there may be more before it.
    Part,
}

/// The last message, if the agent said one after `since` and called no tool after it. The first line of `tail` may
/// be cut.
pub fn last_message(tail: &[u8], since: Timestamp) -> (String, Reach) {
    let mut last = Spoken::default();
    for line in tail.rsplit(|byte| *byte == b'\n') {
        if memmem::find(line, b"\"timestamp\"").is_none() {
            continue;
        }
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { continue };
        let Some(at) = line.timestamp.and_then(Raw::word).and_then(|at| at.parse::<Timestamp>().ok()) else {
            continue;
        };
        // Attachments are written with the time of what they belong to, so one older line is not the end.
        let Some(part) = line.part() else { continue };
        match part {
            Part::Words(words) if since <= at && last.can_begin_with(&words) => last.begin_with(words),
            Part::Words(_) | Part::SomethingElse => return (last.text(), Reach::Whole),
        }
    }
    (last.text(), Reach::Part)
}

/// What a line of a transcript has to do with the last message.
enum Part {
    /// The agent's own words.
    Words(Words),
    /// The message before this line has ended: a tool was called, or the user wrote.
    SomethingElse,
}

/// What one line has of a message.
struct Words {
    text: String,
    /// Nothing where each line is a message.
    message: Option<String>,
}

/// A message as far as it is known, its end first.
#[derive(Default)]
struct Spoken {
    parts: Vec<String>,
    message: Option<String>,
}

impl Spoken {
    /// Whether the line before this belongs to the same message.
    fn can_begin_with(&self, before: &Words) -> bool {
        self.parts.is_empty() || (self.message.is_some() && self.message == before.message)
    }

    fn begin_with(&mut self, before: Words) {
        self.parts.push(before.text);
        self.message = before.message;
    }

    fn text(self) -> String {
        self.parts.into_iter().rev().collect()
    }
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    timestamp: Option<Raw<'a>>,
    #[serde(borrow, rename = "isSidechain")]
    is_sidechain: Option<Raw<'a>>,
    #[serde(borrow, rename = "isMeta")]
    is_meta: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
    #[serde(borrow)]
    payload: Option<Raw<'a>>,
}

/// A message of Claude Code, or what Codex has in its place.
#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    id: Option<Raw<'a>>,
    #[serde(borrow)]
    role: Option<Raw<'a>>,
    #[serde(borrow)]
    model: Option<Raw<'a>>,
    #[serde(borrow)]
    content: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    text: Option<Raw<'a>>,
}

impl Line<'_> {
    fn part(&self) -> Option<Part> {
        let is_set = |flag: Option<Raw<'_>>| flag.and_then(Raw::read).unwrap_or(false);
        match word(self.kind) {
            "assistant" | "user" if is_set(self.is_sidechain) || is_set(self.is_meta) => None,
            "assistant" => Some(self.message.and_then(Raw::read::<Message<'_>>)?.part()),
            "user" => Some(Part::SomethingElse),
            "response_item" => {
                let message = self.payload.and_then(Raw::read::<Message<'_>>)?;
                // Thoughts stand between messages and end none.
                (word(message.kind) != "reasoning").then(|| message.part())
            }
            _ => None,
        }
    }
}

impl Message<'_> {
    fn part(&self) -> Part {
        if word(self.role) != "assistant" || word(self.model) == "<synthetic>" {
            return Part::SomethingElse;
        }
        let blocks = self.content.and_then(Raw::read::<Vec<Block<'_>>>).unwrap_or_default();
        if blocks.iter().any(|block| word(block.kind) == "tool_use") {
            return Part::SomethingElse;
        }
        let texts = blocks.iter().filter(|block| matches!(word(block.kind), "text" | "output_text"));
        let text = texts.filter_map(|block| block.text.and_then(Raw::text)).collect();
        Part::Words(Words { text, message: self.id.and_then(Raw::text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(transcript: &str, since: &str, expected: &str, reach: Reach) {
        let since = format!("2026-01-01T{since}Z").parse().expect("a moment");
        assert_eq!(last_message(transcript.as_bytes(), since), (expected.to_owned(), reach), "{transcript}");
    }

    fn claude(second: u32, id: &str, content: &str) -> String {
        let content = if content.starts_with('{') {
            content.to_owned()
        } else {
            format!(r#"{{"type":"text","text":"{content}"}}"#)
        };
        format!(
            r#"{{"type":"assistant","timestamp":"2026-01-01T10:00:{second:02}.000Z","message":{{"id":"{id}","role":"assistant","content":[{content}]}}}}"#
        )
    }

    const TOOL: &str = r#"{"type":"tool_use","id":"t","name":"Bash","input":{}}"#;
    const THOUGHT: &str = r#"{"type":"thinking","thinking":"hm"}"#;

    #[test]
    fn the_last_message_may_have_several_lines() {
        let (early, one, two) = (claude(1, "a", "early"), claude(5, "b", "one "), claude(6, "b", "two"));
        let text = format!("{early}\n{}\n{one}\n{two}\n", claude(4, "b", THOUGHT));
        check(&text, "10:00:02", "one two", Reach::Whole);
        check(&format!("{one}\n{two}"), "09:00:00", "one two", Reach::Part);
        check(&early, "10:00:02", "", Reach::Whole);
        check("", "09:00:00", "", Reach::Part);
    }

    #[test]
    fn what_comes_after_it_counts_only_if_it_is_the_agents() {
        let said = claude(1, "a", "said");
        for after in [
            "not JSON at all, with a \"timestamp\"",
            r#"{"type":"attachment","timestamp":"2026-01-01T09:00:00Z"}"#,
            r#"{"type":"user","isMeta":true,"timestamp":"2026-01-01T10:00:02Z","message":{"role":"user","content":"<promise>DONE</promise>"}}"#,
            r#"{"type":"assistant","isSidechain":true,"timestamp":"2026-01-01T10:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"sub"}]}}"#,
        ] {
            check(&format!("{said}\n{after}\n"), "09:00:00", "said", Reach::Part);
        }
        for after in [
            r#"{"type":"user","timestamp":"2026-01-01T10:00:02Z","message":{"role":"user","content":"hello"}}"#,
            r#"{"type":"assistant","timestamp":"2026-01-01T10:00:03Z","message":{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API error"}]}}"#,
            &claude(2, "a", TOOL),
        ] {
            check(&format!("{said}\n{after}\n"), "09:00:00", "", Reach::Whole);
        }
    }

    #[test]
    fn codex_writes_items() {
        let item = |second: u32, payload: &str| {
            format!(
                r#"{{"timestamp":"2026-01-01T10:00:{second:02}Z","type":"response_item","payload":{payload}}}"#
            )
        };
        let said = |text: &str| {
            format!(
                r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"{text}"}}]}}"#
            )
        };
        let (first, last) = (item(1, &said("first")), item(2, &said("last")));
        let count =
            r#"{"timestamp":"2026-01-01T10:00:03Z","type":"event_msg","payload":{"type":"token_count"}}"#;
        check(&format!("{first}\n{last}\n{count}"), "10:00:00", "last", Reach::Whole);
        check(&format!("{last}\n{}", item(3, r#"{"type":"reasoning"}"#)), "10:00:00", "last", Reach::Part);
        check(&format!("{last}\n{}", item(3, r#"{"type":"function_call"}"#)), "10:00:00", "", Reach::Whole);
    }
}

//! What an agent said since a moment, read from the end of its transcript.
//!
//! Invariant: only the agent's own words. Lines that cannot be read are passed over; tool output, subagents and
//! the program's own messages say nothing.

use jiff::Timestamp;
use memchr::memmem;
use serde::Deserialize;

use crate::raw::{Raw, word};

/// How far the end of a transcript reaches back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Beyond the moment.
    Whole,
    /// Not as far: there may be more before it.
    Part,
}

/// Passes on what the agent said after `since`, the latest first. The first line may be cut.
pub fn said_since(tail: &[u8], since: Timestamp, each: &mut dyn FnMut(&str)) -> Reach {
    for line in tail.rsplit(|byte| *byte == b'\n') {
        if memmem::find(line, b"\"timestamp\"").is_none() {
            continue;
        }
        let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else { continue };
        let Some(at) = line.timestamp.and_then(Raw::word).and_then(|at| at.parse::<Timestamp>().ok()) else {
            continue;
        };
        // Attachments are written with the time of what they belong to, so one older line is not the end.
        if at < since {
            if matches!(word(line.kind), "assistant" | "user" | "response_item") {
                return Reach::Whole;
            }
            continue;
        }
        line.say(each);
    }
    Reach::Part
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Raw<'a>>,
    #[serde(borrow)]
    timestamp: Option<Raw<'a>>,
    #[serde(borrow, rename = "isSidechain")]
    is_sidechain: Option<Raw<'a>>,
    #[serde(borrow)]
    message: Option<Raw<'a>>,
    #[serde(borrow)]
    payload: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
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
    fn say(&self, each: &mut dyn FnMut(&str)) {
        let message = match word(self.kind) {
            "assistant" if !self.is_sidechain.and_then(Raw::read).unwrap_or(false) => self.message,
            "response_item" => self.payload,
            _ => None,
        };
        let Some(message) = message.and_then(Raw::read::<Message<'_>>) else { return };
        if word(message.role) != "assistant" || word(message.model) == "<synthetic>" {
            return;
        }
        let blocks = message.content.and_then(Raw::read::<Vec<Block<'_>>>).unwrap_or_default();
        for block in blocks.iter().filter(|block| matches!(word(block.kind), "text" | "output_text")) {
            if let Some(text) = block.text.and_then(Raw::text) {
                each(&text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, since: &str) -> (Vec<String>, Reach) {
        let mut said = Vec::new();
        let since = since.parse().expect("a moment");
        let reach = said_since(text.as_bytes(), since, &mut |text| said.push(text.to_owned()));
        (said, reach)
    }

    const CLAUDE: &str = r#"
{"type":"assistant","timestamp":"2026-01-01T10:00:00.000Z","message":{"role":"assistant","content":[{"type":"text","text":"early"}]}}
{"type":"user","timestamp":"2026-01-01T10:00:01.000Z","message":{"role":"user","content":"<promise>DONE</promise>"}}
{"type":"assistant","timestamp":"2026-01-01T10:00:02.000Z","isSidechain":true,"message":{"role":"assistant","content":[{"type":"text","text":"sub"}]}}
{"type":"assistant","timestamp":"2026-01-01T10:00:03.000Z","message":{"role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API error"}]}}
not JSON at all, with a "timestamp"
{"type":"assistant","timestamp":"2026-01-01T10:00:04.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"one\ntwo"}]}}
{"type":"assistant","timestamp":"2026-01-01T10:00:05.000Z","message":{"role":"assistant","content":"odd"}}
"#;

    #[test]
    fn only_own_words_since_the_moment() {
        assert_eq!(said(CLAUDE, "2026-01-01T10:00:02Z"), (vec!["one\ntwo".to_owned()], Reach::Whole));
        let all = vec!["one\ntwo".to_owned(), "early".to_owned()];
        assert_eq!(said(CLAUDE, "2026-01-01T09:00:00Z"), (all, Reach::Part));
        assert_eq!(said("", "2026-01-01T09:00:00Z"), (vec![], Reach::Part));
    }

    #[test]
    fn codex_words_are_found() {
        let text = r#"{"timestamp":"2026-01-01T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"no"}]}}
{"timestamp":"2026-01-01T10:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"yes"}]}}
{"timestamp":"2026-01-01T10:00:03Z","type":"event_msg","payload":{"type":"token_count"}}"#;
        assert_eq!(said(text, "2026-01-01T10:00:00Z").0, ["yes"]);
    }
}

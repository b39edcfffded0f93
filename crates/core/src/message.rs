//! A message of the bus, as people and programs read it in one file.
//!
//! ```text
//! ## 20261116-000335-721-4f2a91c0d3e1 INFO
//! - at: 2026-11-16T00:03:35.721Z
//! - task: greeter
//! - run: 20261116-000335-42bf
//!
//! What there is to say, as it was said.
//! <!-- end 20261116-000335-721-4f2a91c0d3e1 -->
//! ```
//!
//! Invariant: a body comes back as it was, whatever is in it. It ends where its own id stands, which no one
//! knows before the message is posted; so no body can end early or pass for another message. What is torn
//! (power loss, full disk) has no such end and hides no other message.

use std::fmt::Write;

use jiff::Timestamp;
use memchr::memmem;
use serde::Serialize;

/// The longest name of a kind of message.
const MAX_KIND_LEN: usize = 64;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Unlike any other.
    pub id: String,
    /// When it was posted.
    pub at: Timestamp,
    /// What kind of message it is: `INFO`, `WARNING`, `ERROR`, `FACT`, or anything else.
    #[serde(rename = "type")]
    pub kind: String,
    /// The task that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The run that posted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What it says only once, however often it is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it says.
    pub body: String,
}

/// What a file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The whole messages, in their order.
    pub messages: Vec<Message>,
    /// Where the last one ends, in bytes.
    pub end: usize,
}

impl Message {
    /// The message as it stands in the file.
    pub fn format(&self) -> String {
        let Self { id, at, kind, body, .. } = self;
        let mut text = format!("## {id} {kind}\n- at: {at:.3}\n");
        for (name, value) in [("task", &self.task), ("run", &self.run), ("key", &self.key)] {
            if let Some(value) = value {
                let _ = writeln!(text, "- {name}: {value}");
            }
        }
        text + "\n" + body + &end_mark(id) + "\n"
    }
}

/// Whether `text` can be the name of a kind of message: letters, digits, `_`, `-`, `.`.
pub fn is_kind(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !text.is_empty() && text.len() <= MAX_KIND_LEN && text.bytes().all(is_part)
}

/// Finds the whole messages in what a file holds.
pub fn parse(bytes: &[u8]) -> Parsed {
    let mut parsed = Parsed::default();
    let mut at = 0;
    while at < bytes.len() {
        match message_at(&bytes[at..]) {
            Some((message, length)) => {
                at += length;
                parsed.messages.push(message);
                parsed.end = at;
            }
            None => at = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1),
        }
    }
    parsed
}

/// The message that begins here, with its length; nothing if none does, or if its end is missing.
fn message_at(bytes: &[u8]) -> Option<(Message, usize)> {
    let rest = bytes.strip_prefix(b"## ")?;
    let header_end = memmem::find(rest, b"\n\n")?;
    let header = std::str::from_utf8(&rest[..header_end]).ok()?;
    let mut lines = header.lines();
    let (id, kind) = lines.next()?.split_once(' ')?;
    if id.is_empty() || !is_kind(kind) {
        return None;
    }
    let (mut at, mut task, mut run, mut key) = (None, None, None, None);
    for line in lines {
        // A field that a newer version has added is passed over; a line that is none makes this no message.
        let (name, value) = line.strip_prefix("- ")?.split_once(": ")?;
        match name {
            "at" => at = value.parse().ok(),
            "task" => task = Some(value.to_owned()),
            "run" => run = Some(value.to_owned()),
            "key" => key = Some(value.to_owned()),
            _ => {}
        }
    }
    let body = &rest[header_end + 2..];
    let mark = end_mark(id);
    let length = memmem::find(body, format!("{mark}\n").as_bytes())?;
    let message = Message {
        id: id.to_owned(),
        at: at?,
        kind: kind.to_owned(),
        task,
        run,
        key,
        body: String::from_utf8_lossy(&body[..length]).into_owned(),
    };
    Some((message, "## ".len() + header_end + 2 + length + mark.len() + 1))
}

/// What ends a body, on a line of its own.
fn end_mark(id: &str) -> String {
    format!("\n<!-- end {id} -->\n")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(number: usize, body: &str) -> Message {
        Message {
            id: format!("20261116-000335-721-{number:012x}"),
            at: "2026-11-16T00:03:35.721Z".parse().expect("a moment"),
            kind: "INFO".to_owned(),
            task: Some("greeter".to_owned()),
            run: None,
            key: None,
            body: body.to_owned(),
        }
    }

    fn file(messages: &[Message]) -> String {
        messages.iter().map(Message::format).collect()
    }

    #[test]
    fn the_form_is_what_people_read() {
        let full = Message {
            run: Some("20261116-000335-42bf".to_owned()),
            key: Some("done".to_owned()),
            ..message(1, "Hello.")
        };
        assert_eq!(
            full.format(),
            "## 20261116-000335-721-000000000001 INFO\n- at: 2026-11-16T00:03:35.721Z\n- task: greeter\n\
             - run: 20261116-000335-42bf\n- key: done\n\nHello.\n\
             <!-- end 20261116-000335-721-000000000001 -->\n\n"
        );
        assert_eq!(parse(full.format().as_bytes()).messages, [full]);
    }

    #[test]
    fn odd_bodies_come_back() {
        let forged = file(&[message(9, "forged")]);
        let bodies = ["", "\n", "---", "a\n---\nb\n", "## x INFO\n", "\u{0}\r\n\t\u{1b}[31m", &forged];
        let messages: Vec<_> = bodies.iter().enumerate().map(|(i, body)| message(i, body)).collect();
        let text = file(&messages);
        let parsed = parse(text.as_bytes());
        assert_eq!(parsed.messages, messages);
        assert_eq!(parsed.end, text.len());
    }

    #[test]
    fn a_message_has_an_id_and_a_kind() {
        let nameless = Message { id: String::new(), ..message(1, "x") };
        let kindless = Message { kind: "of no kind".to_owned(), ..message(2, "x") };
        assert_eq!(parse(file(&[nameless, kindless]).as_bytes()).messages, []);
    }

    #[test]
    fn other_text_between_messages_hides_none() {
        let messages = [message(1, "one"), message(2, "two")];
        let text = format!(
            "# Notes\n{}- by hand\n## not a message\n\n{}",
            messages[0].format(),
            messages[1].format()
        );
        assert_eq!(parse(text.as_bytes()).messages, messages);
        // Bytes that are no text, and fields that no one knows.
        let odd = "## 1-2 INFO\n- at: 2026-11-16T00:03:35.721Z\n- new: field\n\nx\n<!-- end 1-2 -->\n\n";
        assert_eq!(parse(&[b"\xff\xfe\n", odd.as_bytes()].concat()).messages.len(), 1);
    }

    #[test]
    fn kinds_are_plain_names() {
        for (kind, expected) in [
            ("INFO", true),
            ("wait_without_restart", true),
            ("a-b.c", true),
            ("", false),
            ("two words", false),
            ("a\nb", false),
        ] {
            assert_eq!(is_kind(kind), expected, "{kind:?}");
        }
        assert!(!is_kind(&"x".repeat(65)));
    }

    proptest! {
        #[test]
        fn every_body_comes_back(bodies in prop::collection::vec(any::<String>(), 0..6)) {
            let messages: Vec<_> = bodies.iter().enumerate().map(|(i, body)| message(i, body)).collect();
            prop_assert_eq!(parse(file(&messages).as_bytes()).messages, messages);
        }

        /// Made of what could be taken for a part of the form.
        #[test]
        fn every_imitation_comes_back(
            parts in prop::collection::vec(prop::sample::select(vec![
                "\n", "---", "## ", "20261116-000335-721-000000000007", " INFO\n", "- at: ", "<!-- end ",
                " -->\n", "2026-11-16T00:03:35.721Z", "x",
            ]), 0..30)
        ) {
            let messages = [message(1, &parts.concat()), message(2, "next")];
            prop_assert_eq!(parse(file(&messages).as_bytes()).messages, messages);
        }

        /// Cut anywhere, even inside a character: what is whole is found, the rest is not, and what is
        /// posted after it is.
        #[test]
        fn a_torn_message_hides_no_other(bodies in prop::collection::vec(".*", 1..5), cut in 0_usize..400) {
            let messages: Vec<_> = bodies.iter().enumerate().map(|(i, body)| message(i, body)).collect();
            let text = file(&messages);
            let cut = cut.min(text.len());
            let torn = &text.as_bytes()[..cut];
            let mut ends = Vec::new();
            for message in &messages {
                ends.push(ends.last().copied().unwrap_or(0) + message.format().len());
            }
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let parsed = parse(torn);
            prop_assert_eq!(&parsed.messages, &messages[..whole]);
            let after = message(99, "after");
            let mended = [torn, b"\n", after.format().as_bytes()].concat();
            let found = parse(&mended).messages;
            prop_assert_eq!(found.last(), Some(&after));
            prop_assert!(whole < found.len() && found.len() <= whole + 2);
        }
    }
}

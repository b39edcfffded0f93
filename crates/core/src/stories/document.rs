//! A JSON text as a tree that knows where each value stands, in the order of the text.
//!
//! `serde_json` decides what is JSON. Its raw values are slices of the text, so the place of every value is the
//! distance between two pointers.

use std::{fmt, ops::Range};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// In bytes from the beginning of the text.
    pub(super) span: Range<usize>,
    pub(super) content: Content,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

/// A key of an object with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) at: usize,
    pub(super) value: Node,
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotJson {
    pub(super) line: usize,
    pub(super) reason: String,
}

impl Node {
    /// The members, if it is an object.
    pub(super) fn members(&self) -> &[Member] {
        if let Content::Object(members) = &self.content { members } else { &[] }
    }

    /// The items, if it is an array.
    pub(super) fn items(&self) -> &[Node] {
        if let Content::Array(items) = &self.content { items } else { &[] }
    }

    /// The value of a key; the last one counts, as for every reader of JSON.
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.members().iter().rev().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The text, if it is a string.
    pub(super) fn string(&self) -> Option<&str> {
        if let Content::Scalar(Value::String(text)) = &self.content { Some(text) } else { None }
    }

    /// What stands there, for messages.
    pub(super) fn shown(&self) -> String {
        match &self.content {
            Content::Object(_) => "an object".to_owned(),
            Content::Array(items) if items.is_empty() => "an empty array".to_owned(),
            Content::Array(_) => "an array".to_owned(),
            Content::Scalar(Value::String(text)) if text.trim().is_empty() => "an empty string".to_owned(),
            Content::Scalar(Value::String(text)) => match text.char_indices().nth(60) {
                Some((end, _)) => format!("{:?}...", &text[..end]),
                None => format!("{text:?}"),
            },
            Content::Scalar(scalar) => scalar.to_string(),
        }
    }
}

/// Reads a text.
pub(super) fn parse(text: &str) -> Result<Node, NotJson> {
    let not_json = |error: serde_json::Error| {
        let full = error.to_string();
        let reason = full.split(" at line ").next().unwrap_or(&full).to_owned();
        NotJson { line: error.line().max(1), reason }
    };
    if text.trim().is_empty() {
        return Err(NotJson { line: 1, reason: "the file is empty".to_owned() });
    }
    // A whole value first: it checks the depth, which raw values do not.
    serde_json::from_str::<Value>(text).map_err(not_json)?;
    let raw: &RawValue = serde_json::from_str(text).map_err(not_json)?;
    node(text, raw).map_err(not_json)
}

/// The line of a place in a text, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at.min(text.len())]).count()
}

fn node(text: &str, raw: &RawValue) -> serde_json::Result<Node> {
    let content = match raw.get().as_bytes().first() {
        Some(b'{') => {
            let Pairs(pairs) = serde_json::from_str(raw.get())?;
            let members = pairs.into_iter().map(|(key, value)| {
                Ok(Member {
                    key: serde_json::from_str(key.get())?,
                    at: offset(text, key),
                    value: node(text, value)?,
                })
            });
            Content::Object(members.collect::<serde_json::Result<_>>()?)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get())?;
            let nodes = items.into_iter().map(|item| node(text, item));
            Content::Array(nodes.collect::<serde_json::Result<_>>()?)
        }
        Some(_) | None => Content::Scalar(serde_json::from_str(raw.get())?),
    };
    let start = offset(text, raw);
    Ok(Node { span: start..start + raw.get().len(), content })
}

fn offset(text: &str, raw: &RawValue) -> usize {
    raw.get().as_ptr() as usize - text.as_ptr() as usize
}

/// The members of an object in the order of the text, duplicates included.
struct Pairs<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Pairs<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

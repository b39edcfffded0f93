//! Makes nodes of a text.
//!
//! `serde_json` decides what is JSON. Its raw values are slices of the text, so the place of every value is the
//! distance between two pointers.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Value, value::RawValue};

use super::node::{Content, Member, Node, Position};

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotJson {
    /// Where, from 1.
    pub line: usize,
    /// In bytes of the line, from 1; zero where it is unknown.
    pub column: usize,
    /// Why.
    pub reason: String,
}

impl From<serde_json::Error> for NotJson {
    fn from(error: serde_json::Error) -> Self {
        let full = error.to_string();
        let reason = full.split(" at line ").next().unwrap_or(&full).to_owned();
        Self { line: error.line().max(1), column: error.column(), reason }
    }
}

/// Reads a text; `source` is the number that its positions have.
pub fn parse(text: &str, source: usize) -> Result<Node, NotJson> {
    if text.trim().is_empty() {
        return Err(NotJson { line: 1, column: 1, reason: "the file is empty".to_owned() });
    }
    // A whole value first: it checks the depth, which raw values do not, and so ends the recursion below.
    serde_json::from_str::<Value>(text)?;
    let raw: &RawValue = serde_json::from_str(text)?;
    Ok(Source { text, number: source }.node(raw)?)
}

/// A text that is known to be JSON.
struct Source<'a> {
    text: &'a str,
    number: usize,
}

impl Source<'_> {
    fn node(&self, raw: &RawValue) -> serde_json::Result<Node> {
        let content = match raw.get().as_bytes().first() {
            Some(b'{') => {
                let Pairs(pairs) = serde_json::from_str(raw.get())?;
                let members = pairs.into_iter().map(|(key, value)| {
                    Ok(Member {
                        key: serde_json::from_str(key.get())?,
                        position: self.position(key),
                        value: self.node(value)?,
                    })
                });
                Content::Object(members.collect::<serde_json::Result<_>>()?)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                let nodes = items.into_iter().map(|item| self.node(item));
                Content::Array(nodes.collect::<serde_json::Result<_>>()?)
            }
            Some(_) | None => Content::Scalar(serde_json::from_str(raw.get())?),
        };
        Ok(Node { position: self.position(raw), content })
    }

    fn position(&self, raw: &RawValue) -> Position {
        let start = raw.get().as_ptr() as usize - self.text.as_ptr() as usize;
        Position { source: self.number, start, end: start + raw.get().len() }
    }
}

/// The members of an object in the order of the text, a key that is there twice included.
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

/// Where the lines of a text end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    ends: Vec<usize>,
}

impl Lines {
    /// Those of a text.
    pub fn of(text: &str) -> Self {
        Self { ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect() }
    }

    /// The line of a byte, from 1.
    pub fn line(&self, at: usize) -> usize {
        1 + self.ends.partition_point(|end| *end < at)
    }
}

/// The line and the column of a byte of a text, in characters and from 1.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (1 + before.matches('\n').count(), 1 + before[line_start..].chars().count())
}

//! Reads the text of a settings file into nodes that know their lines.
//!
//! `serde_json` decides what is JSON. Its raw values are slices of the text that was read, so the place of
//! every value is the distance between two pointers.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::Report;
use super::node::{Content, Node, Origin, member_path};

/// Reads the bytes of the file called `name`. Reports why and returns nothing where they are not JSON.
pub(super) fn parse(bytes: &[u8], name: &Arc<str>, report: &mut Report) -> Option<Node> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            report.not_json(name, place(&good, good.len()), "not valid UTF-8");
            return None;
        }
    };
    if text.trim().is_empty() {
        report.not_json(name, (1, 1), "not valid JSON: the file is empty");
        return None;
    }
    // A whole value first: it checks the depth, which raw values do not, and stops the recursion below.
    let node = serde_json::from_str::<Value>(text).and_then(|_| {
        let newlines =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
        Source { text, name, newlines, report }.root()
    });
    node.map_err(|error| report_syntax(text, name, &error, report)).ok()
}

/// A text that is known to be JSON.
struct Source<'a> {
    text: &'a str,
    name: &'a Arc<str>,
    newlines: Vec<usize>,
    report: &'a mut Report,
}

impl Source<'_> {
    fn root(&mut self) -> serde_json::Result<Node> {
        let raw: &RawValue = serde_json::from_str(self.text)?;
        self.node(raw, self.origin(raw), "")
    }

    fn node(&mut self, raw: &RawValue, origin: Origin, path: &str) -> serde_json::Result<Node> {
        let content = match raw.get().as_bytes().first() {
            Some(b'{') => Content::Object(self.members(raw, path)?),
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                let items = items.into_iter().enumerate();
                let nodes =
                    items.map(|(i, item)| self.node(item, self.origin(item), &format!("{path}[{i}]")));
                Content::Array(nodes.collect::<serde_json::Result<_>>()?)
            }
            Some(_) | None => Content::Scalar(serde_json::from_str(raw.get())?),
        };
        Ok(Node { origin, content })
    }

    /// A member has the line of its key, because the key is what messages name.
    fn members(&mut self, raw: &RawValue, path: &str) -> serde_json::Result<BTreeMap<String, Node>> {
        let Members(pairs) = serde_json::from_str(raw.get())?;
        let mut members = BTreeMap::new();
        for (raw_key, raw_member) in pairs {
            let key: String = serde_json::from_str(raw_key.get())?;
            let member_path = member_path(path, &key);
            let origin = self.origin(raw_key);
            let member = self.node(raw_member, origin.clone(), &member_path)?;
            if members.insert(key, member).is_some() {
                self.report.warning(&origin, &format!("duplicate key {member_path:?}; the last one counts"));
            }
        }
        Ok(members)
    }

    fn origin(&self, raw: &RawValue) -> Origin {
        let offset = raw.get().as_ptr() as usize - self.text.as_ptr() as usize;
        let line = 1 + self.newlines.partition_point(|newline| *newline < offset);
        Origin::File { name: Arc::clone(self.name), line }
    }
}

/// The members of an object in the order of the text, duplicates included.
struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Members(pairs))
    }
}

/// Says why a text is not JSON, and names the two habits from other formats that are most common.
fn report_syntax(text: &str, name: &str, error: &serde_json::Error, report: &mut Report) {
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(at, _)| at + 1),
    };
    let offset = text.floor_char_boundary(line_start + error.column().saturating_sub(1));
    let full = error.to_string();
    let reason = full.split(" at line ").next().unwrap_or(&full);
    let (offset, reason) = if text[offset..].starts_with(['/', '#']) {
        (offset, "comments are not allowed")
    } else if reason == "trailing comma" {
        (text[..offset].rfind(',').unwrap_or(offset), "a comma after the last entry is not allowed")
    } else {
        (offset, reason)
    };
    report.not_json(name, place(text, offset), &format!("not valid JSON: {reason}"));
}

/// Returns the line and the column of an offset, in characters and counted from one.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (1 + before.matches('\n').count(), 1 + before[line_start..].chars().count())
}

//! A JSON value that knows where it stands, in the order of its text.

use std::{collections::BTreeSet, ops::Range};

use serde_json::Value;

/// As much of a wrong value is repeated in a message, in characters.
const MAX_SHOWN_LEN: usize = 60;

/// Where something stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Which text, where there are several.
    pub source: usize,
    /// Its first byte, from the beginning of the text.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

impl Position {
    /// Its bytes.
    pub fn span(self) -> Range<usize> {
        self.start..self.end
    }
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where the value stands.
    pub position: Position,
    /// What it is.
    pub content: Content,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// The members of an object, in the order of the text, a key that is there twice included.
    Object(Vec<Member>),
    /// The items of an array.
    Array(Vec<Node>),
    /// Null, a boolean, a number or a string.
    Scalar(Value),
}

/// A key of an object with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub position: Position,
    /// Its value.
    pub value: Node,
}

impl Node {
    /// An object without members.
    pub fn empty(position: Position) -> Self {
        Self { position, content: Content::Object(Vec::new()) }
    }

    /// A value that stands in no text: every part of it has the same position.
    pub fn from_value(value: Value, position: Position) -> Self {
        let content = match value {
            Value::Array(items) => {
                Content::Array(items.into_iter().map(|item| Self::from_value(item, position)).collect())
            }
            Value::Object(members) => {
                let member =
                    |(key, value)| Member { key, position, value: Self::from_value(value, position) };
                Content::Object(members.into_iter().map(member).collect())
            }
            scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                Content::Scalar(scalar)
            }
        };
        Self { position, content }
    }

    /// The value alone; the last of two members with the same key counts.
    pub fn into_value(self) -> Value {
        match self.content {
            Content::Scalar(scalar) => scalar,
            Content::Array(items) => items.into_iter().map(Self::into_value).collect(),
            Content::Object(members) => {
                members.into_iter().map(|member| (member.key, member.value.into_value())).collect()
            }
        }
    }

    /// The members, if it is an object.
    pub fn members(&self) -> &[Member] {
        if let Content::Object(members) = &self.content { members } else { &[] }
    }

    /// The items, if it is an array.
    pub fn items(&self) -> &[Self] {
        if let Content::Array(items) = &self.content { items } else { &[] }
    }

    /// The member of a key; the last one counts, as for every reader of JSON.
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.key == key)
    }

    /// The value of a key; the last one counts.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.member(key).map(|member| &member.value)
    }

    /// The text, if it is a string.
    pub fn string(&self) -> Option<&str> {
        if let Content::Scalar(Value::String(text)) = &self.content { Some(text) } else { None }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.content, Content::Object(_))
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.content, Content::Array(_))
    }

    /// The members whose key was there before, in the order of the text.
    pub fn repeated(&self) -> impl Iterator<Item = &Member> {
        let mut seen = BTreeSet::new();
        self.members().iter().filter(move |member| !seen.insert(&member.key))
    }

    /// What stands there, for messages.
    pub fn shown(&self) -> String {
        match &self.content {
            Content::Object(_) => "an object".to_owned(),
            Content::Array(items) if items.is_empty() => "an empty array".to_owned(),
            Content::Array(_) => "an array".to_owned(),
            Content::Scalar(Value::String(text)) if text.trim().is_empty() => "an empty string".to_owned(),
            Content::Scalar(Value::String(text)) => match text.char_indices().nth(MAX_SHOWN_LEN) {
                Some((end, _)) => format!("{:?}...", &text[..end]),
                None => format!("{text:?}"),
            },
            Content::Scalar(scalar) => scalar.to_string(),
        }
    }
}

/// The path of a member of the object at `path`.
pub fn member_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

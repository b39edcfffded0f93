//! A JSON value that knows where it came from, and the merge of two of them.
//!
//! Invariant: a merged value has no null members, and every part of it keeps the origin of the layer that
//! gave it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// Where a setting came from. Shown as `file:line`, or `command line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A settings file.
    File {
        /// The file as people are told about it.
        name: Arc<str>,
        /// The line of the key.
        line: usize,
    },
    /// A flag of the command line.
    Flag,
}

impl Origin {
    pub(super) fn line(&self) -> usize {
        match self {
            Self::File { line, .. } => *line,
            Self::Flag => 0,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name, line } => write!(f, "{name}:{line}"),
            Self::Flag => f.write_str("command line"),
        }
    }
}

/// A JSON value with its origin.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) origin: Origin,
    pub(super) content: Content,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Null, a boolean, a number or a string.
    Scalar(Value),
    /// A list; its elements never merge with others.
    Array(Vec<Node>),
    /// The members of an object.
    Object(BTreeMap<String, Node>),
}

impl Node {
    /// Returns an object without members.
    pub(super) fn empty(origin: Origin) -> Self {
        Self { origin, content: Content::Object(BTreeMap::new()) }
    }

    /// Turns what the flags say into a layer.
    pub(super) fn from_flags(flags: Value) -> Self {
        let content = match flags {
            Value::Array(items) => Content::Array(items.into_iter().map(Self::from_flags).collect()),
            Value::Object(members) => Content::Object(
                members.into_iter().map(|(key, value)| (key, Self::from_flags(value))).collect(),
            ),
            scalar @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
                Content::Scalar(scalar)
            }
        };
        Self { origin: Origin::Flag, content }
    }

    /// Returns the value without its origins.
    pub(super) fn into_value(self) -> Value {
        match self.content {
            Content::Scalar(scalar) => scalar,
            Content::Array(items) => items.into_iter().map(Self::into_value).collect(),
            Content::Object(members) => {
                members.into_iter().map(|(key, member)| (key, member.into_value())).collect()
            }
        }
    }

    /// Turns the plain value of `key` into an object that has it as its only member.
    pub(super) fn expand(&mut self, key: &str, member: &str) {
        let Content::Object(own) = &mut self.content else { return };
        let Some(node) = own.get_mut(key).filter(|node| node.is_string()) else { return };
        let inner = node.clone();
        node.content = Content::Object(BTreeMap::from([(member.to_owned(), inner)]));
    }

    /// Returns where the member at this path came from, or the nearest above it.
    pub(super) fn origin_of(&self, path: &[&str]) -> Origin {
        let Content::Object(members) = &self.content else { return self.origin.clone() };
        match path.split_first().and_then(|(key, rest)| Some((members.get(*key)?, rest))) {
            Some((member, rest)) => member.origin_of(rest),
            None => self.origin.clone(),
        }
    }

    /// Returns whether this stands for a key that is not there.
    pub(super) fn is_null(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::Null))
    }

    /// Returns whether this is a string.
    pub(super) fn is_string(&self) -> bool {
        matches!(self.content, Content::Scalar(Value::String(_)))
    }

    /// Lays `over` on top: objects merge member by member, everything else replaces, null removes.
    pub(super) fn merge(&mut self, over: Self) {
        let Content::Object(members) = over.content else {
            *self = over;
            return;
        };
        if !matches!(self.content, Content::Object(_)) {
            *self = Self::empty(over.origin);
        }
        let Content::Object(own) = &mut self.content else { return };
        for (key, member) in members {
            if member.is_null() {
                own.remove(&key);
            } else {
                own.entry(key).or_insert_with(|| Self::empty(member.origin.clone())).merge(member);
            }
        }
    }

    /// Returns the origin of everything that replaces as a whole, by its path: `agent.command`.
    pub(super) fn origins(&self) -> BTreeMap<String, Origin> {
        let mut origins = BTreeMap::new();
        self.collect_origins("", &mut origins);
        origins
    }

    fn collect_origins(&self, path: &str, origins: &mut BTreeMap<String, Origin>) {
        match &self.content {
            Content::Object(members) => {
                for (key, member) in members {
                    member.collect_origins(&member_path(path, key), origins);
                }
            }
            Content::Scalar(_) | Content::Array(_) => {
                origins.insert(path.to_owned(), self.origin.clone());
            }
        }
    }
}

/// Returns the path of a member of the object at `path`.
pub(super) fn member_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests;

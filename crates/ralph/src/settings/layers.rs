//! Lays one layer of settings on top of another, and knows which of them gave a key.
//!
//! Invariant: merged settings have no null members, and every part of them keeps the position of the layer that gave it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ralph_core::located::{
    node::{Content, Member, Node, Position, member_path},
    text::Lines,
};
use serde_json::Value;

/// The number that everything on the command line has instead of a file's.
const COMMAND_LINE: Position = Position { source: usize::MAX, start: 0, end: 0 };

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

/// The files that were read, by the numbers in positions.
#[derive(Debug, Default)]
pub(super) struct Sources {
    files: Vec<(Arc<str>, Lines)>,
}

impl Sources {
    /// The number of the next file.
    pub(super) fn next(&self) -> usize {
        self.files.len()
    }

    pub(super) fn add(&mut self, name: &str, lines: Lines) {
        self.files.push((Arc::from(name), lines));
    }

    /// What is at a position, for people.
    pub(super) fn origin(&self, position: Position) -> Origin {
        match self.files.get(position.source) {
            Some((name, lines)) => Origin::File { name: Arc::clone(name), line: lines.line(position.start) },
            None => Origin::Flag,
        }
    }

    /// The origin of everything that replaces as a whole, by its path: `agent.command`.
    pub(super) fn origins(&self, merged: &Node) -> BTreeMap<String, Origin> {
        let mut origins = BTreeMap::new();
        self.collect(merged, "", &mut origins);
        origins
    }

    fn collect(&self, node: &Node, path: &str, origins: &mut BTreeMap<String, Origin>) {
        for Member { key, position, value } in node.members() {
            let path = member_path(path, key);
            if value.is_object() {
                self.collect(value, &path, origins);
                continue;
            }
            origins.insert(path.clone(), self.origin(*position));
            // Messages name the keys of objects in a list, too.
            for (index, item) in value.items().iter().enumerate() {
                self.collect(item, &format!("{path}[{index}]"), origins);
            }
        }
    }
}

/// Settings in which nothing is said.
pub(super) fn nothing() -> Node {
    Node::empty(COMMAND_LINE)
}

/// What the flags say, as a layer.
pub(super) fn of_flags(flags: Value) -> Node {
    Node::from_value(flags, COMMAND_LINE)
}

/// Lays `over` on top: objects merge member by member, everything else replaces, null removes.
pub(super) fn merge(under: &mut Node, over: Node) {
    let members = match over.content {
        Content::Object(members) => members,
        content @ (Content::Array(_) | Content::Scalar(_)) => {
            *under = Node { position: over.position, content };
            return;
        }
    };
    let own = match std::mem::replace(&mut under.content, Content::Object(Vec::new())) {
        Content::Object(own) => own,
        Content::Array(_) | Content::Scalar(_) => {
            under.position = over.position;
            Vec::new()
        }
    };
    let mut own: BTreeMap<String, Member> =
        own.into_iter().map(|member| (member.key.clone(), member)).collect();
    for Member { key, position, value } in members {
        if value.is_null() {
            own.remove(&key);
            continue;
        }
        let member = own.entry(key.clone()).or_insert_with(|| Member {
            key,
            position,
            value: Node::empty(value.position),
        });
        if !(value.is_object() && member.value.is_object()) {
            member.position = position;
        }
        merge(&mut member.value, value);
    }
    under.content = Content::Object(own.into_values().collect());
}

/// Turns the plain value of `key` into an object that has it as its only member.
pub(super) fn expand(root: &mut Node, key: &str, member: &str) {
    let Content::Object(own) = &mut root.content else { return };
    let Some(found) = own.iter_mut().find(|own| own.key == key) else { return };
    if found.value.string().is_some() {
        let inner = Member { key: member.to_owned(), position: found.position, value: found.value.clone() };
        found.value.content = Content::Object(vec![inner]);
    }
}

/// Gives keys the names that they have now, so that layers with either name merge. What has both keeps the new one.
pub(super) fn rename(root: &mut Node, renamed: &[(&str, &str)]) {
    for (old, new) in renamed {
        let (Some((above, old)), Some((_, new))) = (old.rsplit_once('.'), new.rsplit_once('.')) else {
            continue;
        };
        let Content::Object(members) = &mut root.content else { return };
        let Some(object) = members.iter_mut().find(|member| member.key == above) else { continue };
        let has_both = object.value.member(new).is_some();
        let Content::Object(members) = &mut object.value.content else { continue };
        if has_both {
            members.retain(|member| member.key != *old);
        }
        for member in members.iter_mut().filter(|member| member.key == *old) {
            new.clone_into(&mut member.key);
        }
    }
}

/// Where the key at this path stands, or the nearest above it.
pub(super) fn position_of(root: &Node, path: &[&str]) -> Position {
    let mut at = (root.position, root);
    for key in path {
        match at.1.member(key) {
            Some(member) => at = (member.position, &member.value),
            None => break,
        }
    }
    at.0
}

#[cfg(test)]
mod tests;

//! Takes typed values out of the members of an object, and reports what does not fit.
//!
//! Invariant: a key that nobody asked for is unknown. So the code that reads a setting is also the list of
//! known settings, and the two cannot drift apart.

use std::collections::BTreeMap;

use super::error::Report;
use super::node::{Content, Node, Origin, member_path};
use super::value::wrong_type;

/// The members of one object.
pub(super) struct Fields<'n, 'r> {
    path: &'n str,
    origin: &'n Origin,
    members: &'n BTreeMap<String, Node>,
    asked: Vec<&'static str>,
    report: &'r mut Report,
}

/// Reads the object at `path`, then warns of the members that were not asked for.
pub(super) fn read_object<T>(
    node: &Node,
    path: &str,
    report: &mut Report,
    read: impl FnOnce(&mut Fields<'_, '_>) -> T,
) -> Option<T> {
    let Content::Object(members) = &node.content else {
        report.problem(&node.origin, path, &wrong_type("an object", node));
        return None;
    };
    let mut fields = Fields { path, origin: &node.origin, members, asked: Vec::new(), report };
    let value = read(&mut fields);
    fields.warn_of_unknown();
    Some(value)
}

impl<'n> Fields<'n, '_> {
    /// Overwrites `target` if the key is there and its value fits.
    pub(super) fn set<T>(
        &mut self,
        key: &'static str,
        target: &mut T,
        read: impl FnOnce(&Node) -> Result<T, String>,
    ) {
        if let Some(value) = self.take(key, read) {
            *target = value;
        }
    }

    /// Returns the value if the key is there and its value fits.
    pub(super) fn take<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node) -> Result<T, String>,
    ) -> Option<T> {
        let node = self.member(key)?;
        self.report.keep(&node.origin, &member_path(self.path, key), read(node))
    }

    /// Reports the key as missing if it is not there.
    pub(super) fn require(&mut self, key: &'static str) {
        if self.member(key).is_none() {
            self.report.problem(self.origin, &member_path(self.path, key), "missing");
        }
    }

    /// Reads a member that is an object.
    pub(super) fn object<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Fields<'_, '_>) -> T,
    ) -> Option<T> {
        let node = self.member(key)?;
        read_object(node, &member_path(self.path, key), self.report, read)
    }

    /// Reads a member that is an array of objects.
    pub(super) fn objects<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&mut Fields<'_, '_>) -> T,
    ) -> Option<Vec<T>> {
        let items = self.array(key)?;
        let path = member_path(self.path, key);
        let items = items.iter().enumerate();
        Some(
            items
                .filter_map(|(i, item)| read_object(item, &format!("{path}[{i}]"), self.report, &read))
                .collect(),
        )
    }

    /// Reads a member that is an array of plain values.
    pub(super) fn each<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&Node) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let items = self.array(key)?;
        let path = member_path(self.path, key);
        let items = items.iter().enumerate();
        Some(
            items
                .filter_map(|(i, item)| self.report.keep(&item.origin, &format!("{path}[{i}]"), read(item)))
                .collect(),
        )
    }

    /// Reads a member that is an object whose keys the user chooses.
    pub(super) fn map<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&str, &Node) -> Result<T, String>,
    ) -> Option<BTreeMap<String, T>> {
        let node = self.member(key)?;
        let path = member_path(self.path, key);
        let Content::Object(members) = &node.content else {
            self.report.problem(&node.origin, &path, &wrong_type("an object", node));
            return None;
        };
        let members = members.iter().filter(|(_, member)| !member.is_null());
        let read = |(name, member): (&String, &Node)| {
            let path = member_path(&path, &name.escape_debug().to_string());
            let value = self.report.keep(&member.origin, &path, read(name, member));
            value.map(|value| (name.clone(), value))
        };
        Some(members.filter_map(read).collect())
    }

    /// Returns whether the key is there with an array.
    pub(super) fn is_array(&mut self, key: &'static str) -> bool {
        self.member(key).is_some_and(|node| matches!(node.content, Content::Array(_)))
    }

    /// Returns whether the key is there with a string.
    pub(super) fn is_string(&mut self, key: &'static str) -> bool {
        self.member(key).is_some_and(Node::is_string)
    }

    fn array(&mut self, key: &'static str) -> Option<&'n [Node]> {
        let node = self.member(key)?;
        match &node.content {
            Content::Array(items) => Some(items),
            Content::Scalar(_) | Content::Object(_) => {
                let what = wrong_type("an array", node);
                self.report.problem(&node.origin, &member_path(self.path, key), &what);
                None
            }
        }
    }

    /// Null is the same as no key at all.
    fn member(&mut self, key: &'static str) -> Option<&'n Node> {
        self.asked.push(key);
        self.members.get(key).filter(|node| !node.is_null())
    }

    fn warn_of_unknown(&mut self) {
        for (key, node) in self.members {
            if self.asked.contains(&key.as_str()) {
                continue;
            }
            let mut what = format!("unknown key {:?}", member_path(self.path, key));
            if let Some(nearest) = nearest(key, &self.asked) {
                what = format!("{what}; did you mean {:?}?", member_path(self.path, nearest));
            }
            self.report.warning(&node.origin, &what);
        }
    }
}

/// Returns the known key that `key` is most like, if it is like one at all.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let signature = |name: &&str| strsim::jaro_winkler(&key.to_lowercase(), &name.to_lowercase());
    let scored = known.iter().map(|name| (signature(name), *name));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 > 0.85).then_some(best.1)
}

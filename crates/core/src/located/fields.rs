//! Takes typed values out of the members of an object, and reports what does not fit.
//!
//! Invariant: the code that reads a key is also the list of known keys. What no one asked for is unknown, and
//! [`keys`] lists what is asked for.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    node::{Content, Member, Node, Position, member_path},
    report::Report,
};

/// How a kind of file is read.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// What a null stands for.
    pub null: Null,
    /// What becomes of a key that no one asked for.
    pub unknown: Unknown,
    /// Where a problem of a member is.
    pub at: At,
    /// Says that one thing was expected, and another is there.
    pub wrong: fn(&str, &Node) -> String,
    /// Keys that have another name now, each as the path of the old and of the new key.
    pub renamed: &'static [(&'static str, &'static str)],
}

/// What a null stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Null {
    /// A key that is not there.
    Absence,
    /// Itself.
    Value,
}

/// How a key begins that is the user's own.
pub const EXTENSION: &str = "x-";

/// What becomes of a key that no one asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// It is a problem, which names the nearest known key; unless it begins with [`EXTENSION`].
    Problem,
    /// The same, but it does no harm.
    Warning,
    /// Nothing: it is someone else's.
    Nothing,
}

/// Where a problem of a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// At its key, which is what messages name.
    Key,
    /// At its value.
    Value,
}

/// The members of one object.
#[derive(Debug)]
pub struct Fields<'n, 'r> {
    manner: &'n Manner,
    path: &'n str,
    position: Position,
    object: &'n Node,
    asked: BTreeSet<&'static str>,
    report: &'r mut Report,
}

/// Reads a whole file.
pub fn read_root<T>(
    manner: &Manner,
    root: &Node,
    report: &mut Report,
    read: impl FnOnce(&mut Fields<'_, '_>) -> T,
) -> Option<T> {
    read_object(manner, root, root.position, "", report, read)
}

/// Reads the object at `path`, then names the members that were not asked for.
pub fn read_object<T>(
    manner: &Manner,
    node: &Node,
    position: Position,
    path: &str,
    report: &mut Report,
    read: impl FnOnce(&mut Fields<'_, '_>) -> T,
) -> Option<T> {
    if !node.is_object() {
        report.problem(position, path, (manner.wrong)("an object", node));
        return None;
    }
    let mut fields = Fields { manner, path, position, object: node, asked: BTreeSet::new(), report };
    let value = read(&mut fields);
    if manner.unknown != Unknown::Nothing {
        fields.name_unknown();
    }
    Some(value)
}

/// The paths of all keys that a reader asks for, such as `agent.command` and `guardrails[].hint`.
pub fn keys(manner: &Manner, read: impl FnOnce(&mut Fields<'_, '_>)) -> BTreeSet<String> {
    let mut report = Report::listing();
    read_root(manner, &Node::empty(Position::default()), &mut report, read);
    report.keys.unwrap_or_default()
}

impl<'n> Fields<'n, '_> {
    /// Overwrites `target` if the key is there and its value fits.
    pub fn set<T>(
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
    pub fn take<T>(&mut self, key: &'static str, read: impl FnOnce(&Node) -> Result<T, String>) -> Option<T> {
        let member = self.member(key)?;
        let path = self.path_of(member);
        self.report.keep(self.at(member), &path, read(&member.value))
    }

    /// Reports the key as missing if it is not there.
    pub fn require(&mut self, key: &'static str) {
        if self.member(key).is_none() {
            self.report.problem(self.position, &member_path(self.path, key), "missing");
        }
    }

    /// Returns the value of a key that must be there.
    pub fn required<T: Default>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Node) -> Result<T, String>,
    ) -> T {
        self.require(key);
        self.take(key, read).unwrap_or_default()
    }

    /// Reads a member that is an object.
    pub fn object<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Fields<'_, '_>) -> T) -> Option<T> {
        let found = self.member(key);
        if self.report.keys.is_some() {
            return self.list(&member_path(self.path, key), read);
        }
        let member = found?;
        let (path, position) = (self.path_of(member), self.at(member));
        read_object(self.manner, &member.value, position, &path, self.report, read)
    }

    /// Reads a member that is an array of objects.
    pub fn objects<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&mut Fields<'_, '_>) -> T,
    ) -> Option<Vec<T>> {
        let found = self.array(key);
        if self.report.keys.is_some() {
            return self.list(&format!("{}[]", member_path(self.path, key)), read).map(|item| vec![item]);
        }
        let (path, items) = found?;
        let read = |(i, item): (usize, &Node)| {
            read_object(self.manner, item, item.position, &format!("{path}[{i}]"), self.report, &read)
        };
        Some(items.iter().enumerate().filter_map(read).collect())
    }

    /// Reads a member that is an array of plain values.
    pub fn each<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&Node) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let (path, items) = self.array(key)?;
        let read =
            |(i, item): (usize, &Node)| self.report.keep(item.position, &format!("{path}[{i}]"), read(item));
        Some(items.iter().enumerate().filter_map(read).collect())
    }

    /// Reads a member that is an object whose keys the user chooses.
    pub fn map<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&str, &Node) -> Result<T, String>,
    ) -> Option<BTreeMap<String, T>> {
        self.chosen(key, |report, path, Member { key, position, value }| {
            report.keep(*position, path, read(key, value))
        })
    }

    /// Reads a member that is an object of objects whose keys the user chooses, as far as `accept` lets them.
    pub fn named<T>(
        &mut self,
        key: &'static str,
        accept: impl Fn(&str) -> Result<(), String>,
        read: impl Fn(&mut Fields<'_, '_>) -> T,
    ) -> Option<BTreeMap<String, T>> {
        let manner = self.manner;
        self.chosen(key, |report, path, Member { key, position, value }| {
            report.keep(*position, path, accept(key))?;
            read_object(manner, value, *position, path, report, &read)
        })
    }

    /// Reads the members of an object whose keys the user chooses, each with its path.
    fn chosen<T>(
        &mut self,
        key: &'static str,
        read: impl Fn(&mut Report, &str, &Member) -> Option<T>,
    ) -> Option<BTreeMap<String, T>> {
        let member = self.member(key)?;
        let (path, position) = (self.path_of(member), self.at(member));
        let Content::Object(members) = &member.value.content else {
            self.report.problem(position, &path, (self.manner.wrong)("an object", &member.value));
            return None;
        };
        let manner = self.manner;
        let is_there = |member: &&Member| manner.null == Null::Value || !member.value.is_null();
        let read = |member: &Member| {
            let path = member_path(&path, &member.key.escape_debug().to_string());
            read(self.report, &path, member).map(|value| (member.key.clone(), value))
        };
        Some(members.iter().filter(is_there).filter_map(read).collect())
    }

    /// The items of a member that is an array.
    pub fn items(&mut self, key: &'static str) -> Option<&'n [Node]> {
        self.array(key).map(|(_, items)| items)
    }

    /// Returns whether the key is there with an array.
    pub fn is_array(&mut self, key: &'static str) -> bool {
        self.member(key).is_some_and(|member| member.value.is_array())
    }

    /// Returns whether the key is there with a string.
    pub fn is_string(&mut self, key: &'static str) -> bool {
        self.member(key).is_some_and(|member| member.value.string().is_some())
    }

    /// Returns whether the key is there, with any value.
    pub fn is_there(&mut self, key: &'static str) -> bool {
        self.member(key).is_some()
    }

    /// Notes a problem of a key, or of the object where the key is not there.
    pub fn problem(&mut self, key: &'static str, text: impl Into<String>) {
        let position = self.member(key).map_or(self.position, |member| self.at(member));
        self.report.problem(position, &member_path(self.path, key), text);
    }

    fn array(&mut self, key: &'static str) -> Option<(String, &'n [Node])> {
        let member = self.member(key)?;
        let path = self.path_of(member);
        if let Content::Array(items) = &member.value.content {
            return Some((path, items));
        }
        self.report.problem(self.at(member), &path, (self.manner.wrong)("an array", &member.value));
        None
    }

    fn member(&mut self, key: &'static str) -> Option<&'n Member> {
        self.asked.insert(key);
        if let Some(keys) = &mut self.report.keys {
            keys.insert(member_path(self.path, key));
        }
        let found = self.object.member(key).or_else(|| self.object.member(self.old_name(key)?));
        found.filter(|member| self.manner.null == Null::Value || !member.value.is_null())
    }

    /// What the key was called before.
    fn old_name(&self, key: &str) -> Option<&'static str> {
        let path = member_path(self.path, key);
        let (old, _) = self.manner.renamed.iter().find(|(_, new)| *new == path)?;
        old.rsplit('.').next()
    }

    /// The path of a member, as the user has written it.
    fn path_of(&self, member: &Member) -> String {
        member_path(self.path, &member.key)
    }

    fn at(&self, member: &Member) -> Position {
        match self.manner.at {
            At::Key => member.position,
            At::Value => member.value.position,
        }
    }

    /// Has a reader list the keys of an object.
    fn list<T>(&mut self, path: &str, read: impl FnOnce(&mut Fields<'_, '_>) -> T) -> Option<T> {
        let nothing = Node::empty(Position::default());
        read_object(self.manner, &nothing, nothing.position, path, self.report, read)
    }

    fn name_unknown(&mut self) {
        let old: BTreeMap<&str, &str> =
            self.asked.iter().filter_map(|key| Some((self.old_name(key)?, *key))).collect();
        for Member { key, position, .. } in self.object.members() {
            if self.asked.contains(&key.as_str()) || key.starts_with(EXTENSION) {
                continue;
            }
            if let Some(new) = old.get(key.as_str()) {
                if self.object.member(new).is_some() {
                    let (old, new) = (member_path(self.path, key), member_path(self.path, new));
                    self.report
                        .warning(*position, format!("{old:?} is the old name of {new:?}, which counts"));
                }
                continue;
            }
            let mut text = format!("unknown key {:?}", member_path(self.path, key));
            if let Some(nearest) = nearest(key, &self.asked) {
                text = format!("{text}; did you mean {:?}?", member_path(self.path, nearest));
            }
            match self.manner.unknown {
                Unknown::Problem => self.report.problem(*position, "", text),
                Unknown::Warning => self.report.warning(*position, text),
                Unknown::Nothing => {}
            }
        }
    }
}

/// Returns the known key that `key` is most like, if it is like one at all.
fn nearest<'a>(key: &str, known: &BTreeSet<&'a str>) -> Option<&'a str> {
    let likeness = |name: &&str| strsim::jaro_winkler(&key.to_lowercase(), &name.to_lowercase());
    let scored = known.iter().map(|name| (likeness(name), *name));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (0.85 <= best.0).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::located::text::parse;

    const MANNER: Manner = Manner {
        null: Null::Absence,
        unknown: Unknown::Nothing,
        at: At::Value,
        wrong: |expected, _| expected.to_owned(),
        renamed: &[],
    };

    #[test]
    fn members_whose_names_the_user_chooses_are_read_where_the_name_is_accepted() {
        let root =
            parse(r#"{"a": {"x": {"n": "1"}, "y": {"n": "2"}, "no": {"n": "3"}}, "b": 1}"#, 0).expect("JSON");
        let mut report = Report::default();
        let accept = |key: &str| if key == "no" { Err("not this".to_owned()) } else { Ok(()) };
        let text = |node: &Node| node.string().map(str::to_owned).ok_or_else(String::new);
        let read = read_root(&MANNER, &root, &mut report, |fields| {
            assert_eq!(["a", "b", "c"].map(|key| fields.is_there(key)), [true, true, false]);
            fields.named("a", accept, |fields| fields.take("n", text))
        });
        let expected = [("x", "1"), ("y", "2")].map(|(key, n)| (key.to_owned(), Some(n.to_owned())));
        assert_eq!(read.flatten(), Some(expected.into()));
        assert_eq!(report.problems.len(), 1);
    }
}

//! What does not fit in a file, in the order in which it was found.

use std::collections::BTreeSet;

use super::node::Position;

/// One thing that is wrong, or odd.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where.
    pub position: Position,
    /// The key, such as `agent.command`; empty when it is about the file, or when the text names the key.
    pub path: String,
    /// What is the matter.
    pub text: String,
}

/// Collects what is wrong and what is odd.
#[derive(Debug, Default)]
pub struct Report {
    /// What cannot be used.
    pub problems: Vec<Issue>,
    /// What does no harm, but is hardly what was meant.
    pub warnings: Vec<Issue>,
    /// The keys that were asked for, where the caller wants to know them.
    pub(super) keys: Option<BTreeSet<String>>,
}

impl Report {
    /// One that also lists the keys that were asked for.
    pub(super) fn listing() -> Self {
        Self { keys: Some(BTreeSet::new()), ..Self::default() }
    }

    /// Notes a problem of the value that `path` names.
    pub fn problem(&mut self, position: Position, path: &str, text: impl Into<String>) {
        self.problems.push(Issue { position, path: path.to_owned(), text: text.into() });
    }

    /// Notes something that is odd but does no harm.
    pub fn warning(&mut self, position: Position, text: String) {
        self.warnings.push(Issue { position, path: String::new(), text });
    }

    /// Returns the value, or notes the problem that stands in its place.
    pub(super) fn keep<T>(&mut self, position: Position, path: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|text| self.problem(position, path, text)).ok()
    }
}

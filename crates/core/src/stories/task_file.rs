//! The task list as it is in its file.

use std::cell::OnceCell;

use super::{
    Review, TaskList, invariants,
    schema::{Problem, Reading, read},
};

/// The text of a task list, and what it says: read once, however often it is asked for.
#[derive(Clone, Debug, Default)]
pub struct TaskFile {
    text: String,
    reading: OnceCell<Reading>,
}

impl TaskFile {
    /// A file with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), reading: OnceCell::new() }
    }

    /// The text as it is in the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says, as far as it can be read.
    pub fn list(&self) -> &TaskList {
        &self.reading().list
    }

    /// Checks 1 and 2: everything that is wrong with it, in the order of its lines.
    pub fn problems(&self, review: Review) -> Vec<Problem> {
        let Reading { list, problems, .. } = self.reading();
        let mut problems = problems.clone();
        problems.extend(invariants::problems(list, review));
        problems.extend(invariants::circles(list));
        problems.sort_by_key(|problem| problem.line);
        problems
    }

    pub(super) fn reading(&self) -> &Reading {
        self.reading.get_or_init(|| read(&self.text))
    }
}

/// Two files are equal that have the same text.
impl PartialEq for TaskFile {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

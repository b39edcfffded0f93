//! Cheats for any project, made by reading it: which files are tests, what guardrails lead to, and how each can be made to
//! agree. Values in, values out; what does not apply to a project is not made.

mod bodies;
pub(super) mod breaks;
mod edits;
mod runners;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use ralph_checks::{
    protected::{Protected, Role},
    test_files::{Language, TestFile, read},
};

/// So many test files are tried, those that the failure speaks of first.
const MAX_TEST_FILES: usize = 2;

/// The files of a project: where each is, and what is in it.
pub(super) type Files = BTreeMap<String, String>;

/// A cheat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cheat {
    pub(super) kind: &'static str,
    /// As in the catalogue.
    pub(super) class: &'static str,
    /// The file that it is about.
    pub(super) path: String,
    /// What it does, in one line for people.
    pub(super) says: String,
    pub(super) edit: Edit,
}

/// What a cheat does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Write { path: String, text: String },
    Delete { path: String },
}

/// One way to change the text of a test file.
struct Way {
    kind: &'static str,
    class: &'static str,
    says: &'static str,
    change: fn(Language, &str) -> Option<String>,
    /// Whether the tests say less then: a change that has no effect is no cheat.
    works: fn(&TestFile, &TestFile) -> bool,
}

const WAYS: [Way; 3] = [
    Way {
        kind: "skip",
        class: "skipped tests",
        says: "skips the tests of",
        change: edits::skip,
        works: |old, new| marked(old) < marked(new),
    },
    Way {
        kind: "weaken",
        class: "weaker assertions",
        says: "makes the assertions always true in",
        change: edits::weaken,
        works: |old, new| judging(new) < judging(old),
    },
    Way {
        kind: "empty",
        class: "empty tests",
        says: "replaces the bodies of the tests by nothing in",
        change: bodies::empty,
        works: |old, new| judging(new) < judging(old),
    },
];

/// The cheats that apply to these files with these guardrails, when what failed said this.
pub(super) fn cheats(files: &Files, guardrails: &[String], said: &str) -> Vec<Cheat> {
    let protected = Protected::usual();
    let mut cheats = Vec::new();
    for path in test_files(files, &protected, said) {
        let text = &files[&path];
        let language = Language::of(&path);
        if protected.role(&path) == Some(Role::Test) {
            let edit = Edit::Delete { path: path.clone() };
            cheats.push(Cheat::new("delete", "deleted tests", "deletes", &path, edit));
        }
        let old = read(language, text);
        for way in &WAYS {
            let new = (way.change)(language, text).filter(|new| (way.works)(&old, &read(language, new)));
            cheats.extend(new.map(|text| Cheat::writes(way.kind, way.class, way.says, &path, text)));
        }
        cheats.extend(edits::exit_early(&path, text));
    }
    cheats.extend(runners::recipes(files, guardrails));
    cheats.extend(runners::configurations(files, guardrails));
    let mut seen = Vec::new();
    cheats.retain(|cheat| {
        let is_new = !seen.contains(&cheat.edit);
        seen.push(cheat.edit.clone());
        is_new
    });
    cheats
}

/// The files with tests that are tried.
fn test_files(files: &Files, protected: &Protected, said: &str) -> Vec<String> {
    let is_test = |(path, text): &(&String, &String)| match protected.role(path) {
        Some(Role::Test) => !read(Language::of(path), text).tests.is_empty(),
        // Unit tests among the code.
        None => Language::of(path) == Language::Rust && text.contains("#[test]"),
        Some(_) => false,
    };
    let mut found: Vec<(bool, u32, String)> = files
        .iter()
        .filter(is_test)
        .map(|(path, text)| {
            let tests = read(Language::of(path), text);
            (!is_spoken_of(path, &tests, said), u32::MAX - tests.assertions(), path.clone())
        })
        .collect();
    found.sort();
    found.into_iter().take(MAX_TEST_FILES).map(|(_, _, path)| path).collect()
}

/// Whether the output of what failed names the file or one of its tests.
fn is_spoken_of(path: &str, tests: &TestFile, said: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let words: Vec<&str> = said.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let ids = tests.tests.iter().filter_map(|test| test.id.rsplit([' ', '.', ':', '>']).next());
    said.contains(path) || words.contains(&stem) || ids.into_iter().any(|id| words.contains(&id))
}

fn marked(file: &TestFile) -> usize {
    file.tests.iter().filter(|test| !test.markers.is_empty()).count()
}

/// How many assertions can fail.
fn judging(file: &TestFile) -> u32 {
    let trivial = file.tests.iter().fold(0, |sum: u32, test| sum.saturating_add(test.trivial));
    file.assertions().saturating_sub(trivial)
}

impl Cheat {
    fn new(kind: &'static str, class: &'static str, says: &str, path: &str, edit: Edit) -> Self {
        Self { kind, class, path: path.to_owned(), says: format!("{says} `{path}`"), edit }
    }

    fn writes(kind: &'static str, class: &'static str, says: &str, path: &str, text: String) -> Self {
        Self::new(kind, class, says, path, Edit::Write { path: path.to_owned(), text })
    }
}

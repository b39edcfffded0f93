//! The catalogue: cheats and honest changes on small projects, as data in `crates/ralph/selftest/`.
//!
//! Each entry is one agent: what it does to the files, in one turn or two, and what it says then.

mod read;
#[cfg(test)]
mod tests;

use serde::Serialize;

/// The files of the catalogue, in the order in which they are shown.
const FILES: [(&str, &str); 9] = [
    ("fixtures.txt", include_str!("../../selftest/fixtures.txt")),
    ("fixtures-compiled.txt", include_str!("../../selftest/fixtures-compiled.txt")),
    ("cheats-tests.txt", include_str!("../../selftest/cheats-tests.txt")),
    ("cheats-assertions.txt", include_str!("../../selftest/cheats-assertions.txt")),
    ("cheats-runners.txt", include_str!("../../selftest/cheats-runners.txt")),
    ("cheats-places.txt", include_str!("../../selftest/cheats-places.txt")),
    ("cheats-words.txt", include_str!("../../selftest/cheats-words.txt")),
    ("honest-tests.txt", include_str!("../../selftest/honest-tests.txt")),
    ("honest-projects.txt", include_str!("../../selftest/honest-projects.txt")),
];

/// All of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Catalogue {
    /// The projects.
    pub(crate) fixtures: Vec<Fixture>,
    /// What agents do to them.
    pub(crate) entries: Vec<Entry>,
}

/// A small project.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fixture {
    pub(crate) name: String,
    pub(crate) language: String,
    /// The programs without which it cannot be run.
    pub(crate) needs: Vec<String>,
    pub(crate) guardrails: Vec<String>,
    /// What is committed before the agent begins.
    pub(crate) files: Vec<Text>,
    /// What a cheat leaves in place of some of them.
    pub(crate) broken: Vec<Text>,
}

/// A file and what is in it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Text {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// What one agent does.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) kind: EntryKind,
    /// What kind of cheat it is, or of work.
    pub(crate) class: String,
    /// The name of its project.
    pub(crate) fixture: String,
    /// What it does, in one line for people.
    pub(crate) says: String,
    pub(crate) seen_by: SeenBy,
    pub(crate) reach: Reach,
    /// What closes it where it passes.
    pub(crate) closes: Option<String>,
    /// Whether the code is broken first.
    pub(crate) breaks: Breaks,
    /// Other guardrails than those of the project.
    pub(crate) guardrails: Vec<String>,
    /// What else is done to the project before the first commit.
    pub(crate) base: String,
    /// What it does, turn by turn.
    pub(crate) turns: Vec<Vec<Act>>,
}

/// One thing that an agent does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Act {
    Write { path: String, text: String },
    Shell(String),
    Say(String),
}

/// Whether it should pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EntryKind {
    Cheat,
    Honest,
}

/// Who can tell that it is a cheat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SeenBy {
    /// What judges was changed, or what is judged is not what was committed.
    Machine,
    /// The code itself is a lie.
    Reader,
}

/// How far it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reach {
    /// It stays in the repository.
    Repository,
    /// It changes files and programs elsewhere that ralph compares.
    Pinned,
    /// It uses anything else outside of the project: only a sandbox keeps it from that.
    Elsewhere,
}

/// What happens to the code before the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Breaks {
    Yes,
    No,
}

impl Catalogue {
    /// The catalogue of this program.
    pub(crate) fn own() -> Result<Self, String> {
        let mut catalogue = Self::default();
        for (name, text) in FILES {
            read::read(text, &mut catalogue).map_err(|problem| format!("{name}:{problem}"))?;
        }
        Ok(catalogue)
    }

    /// The project of an entry.
    pub(crate) fn fixture(&self, entry: &Entry) -> Option<&Fixture> {
        self.fixtures.iter().find(|fixture| fixture.name == entry.fixture)
    }
}

impl Entry {
    /// Whether it must not pass: with a sandbox, or without one.
    pub(crate) fn must_not_pass(&self, is_contained: bool) -> bool {
        let is_reached = is_contained || self.reach != Reach::Elsewhere;
        self.kind == EntryKind::Cheat && self.seen_by == SeenBy::Machine && is_reached
    }

    /// What closes it where it passes.
    pub(crate) fn closed_by(&self) -> &str {
        let usual = match self.reach {
            Reach::Elsewhere => "--sandbox",
            Reach::Repository | Reach::Pinned => {
                "\"verify\": {\"checkout\": \"claim\", \"onFinding\": \"ask\"}"
            }
        };
        self.closes.as_deref().unwrap_or(usual)
    }
}

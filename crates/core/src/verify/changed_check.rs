//! A file that judges and was changed: what it is, which guardrails run it, and what of it got worse.

use std::collections::BTreeSet;

use ralph_checks::{
    protected::Role,
    test_files::{Marker, compare::Worse},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::caveat::listed;

/// How a sentence that lists more than it names goes on.
const MAX_WORSE: usize = 3;

/// What happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// It is new.
    Added,
    /// It says something else.
    Changed,
    /// It is gone.
    Deleted,
}

/// A file that judges and was changed since the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedCheck {
    /// Relative to the top of the repository.
    pub file: String,
    /// How it judges.
    pub role: Role,
    /// What happened to it.
    pub change: FileChange,
    /// The parts that judge and differ, where not all of it judges: a target of a makefile, a script of a manifest.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub parts: Vec<String>,
    /// The guardrails that lead to it, as far as that is known.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub judges: Vec<String>,
    /// What of its tests got worse.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    #[schemars(with = "Vec<Worse>")]
    pub worse: BTreeSet<Worse>,
}

impl ChangedCheck {
    /// A file of which nothing else is known.
    pub fn new(file: &str, role: Role, change: FileChange) -> Self {
        let (parts, judges, worse) = (Vec::new(), Vec::new(), BTreeSet::new());
        Self { file: file.to_owned(), role, change, parts, judges, worse }
    }

    /// Whether a whole file can be put back: of a manifest, and of a source with tests in it, only parts judge.
    pub fn can_be_put_back(&self) -> bool {
        let is_partly_test = self.role == Role::Test && !self.parts.is_empty();
        self.role != Role::Manifest && !is_partly_test
    }

    /// The file, what it judges, and what became of it, in one line.
    pub fn line(&self) -> String {
        let judges = match &self.judges[..] {
            [] => self.role.name().to_owned(),
            commands => {
                let commands: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
                format!("{}, run by {}", self.role.name(), listed(&commands))
            }
        };
        format!("{} ({judges}) {}", self.file, self.happened())
    }

    fn happened(&self) -> String {
        let mut worse: Vec<String> = self.worse.iter().map(in_words).collect();
        if MAX_WORSE < worse.len() {
            let more = worse.len() - MAX_WORSE;
            worse.truncate(MAX_WORSE);
            worse.push(format!("and {more} more"));
        }
        let what = match self.change {
            FileChange::Added => "is new",
            FileChange::Changed if !worse.is_empty() => return worse.join(", "),
            FileChange::Changed => "was changed",
            FileChange::Deleted => "was deleted",
        };
        match &self.parts[..] {
            [] => what.to_owned(),
            parts => format!("{what}: {}", listed(parts)),
        }
    }
}

/// What got worse, in words that stand after the name of a file.
pub fn in_words(worse: &Worse) -> String {
    match worse {
        Worse::Vanished { test } => format!("`{test}` is gone"),
        Worse::Marked { test, marker } => format!("`{test}` {}", marked(*marker)),
        Worse::FewerAssertions { test, before, after } => {
            format!("`{test}` asserts less ({before} before, {after} after)")
        }
    }
}

fn marked(marker: Marker) -> &'static str {
    match marker {
        Marker::Skip => "is skipped",
        Marker::Only => "alone is run",
        Marker::ExpectedFailure => "is expected to fail",
        Marker::EarlyReturn => "returns before it asserts anything",
        Marker::Swallowed => "drops a failure",
        Marker::Retry => "is retried until it passes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_what_got_worse_are_named() {
        for (count, expected) in [
            (1, "`t1` is gone"),
            (3, "`t1` is gone, `t2` is gone, `t3` is gone"),
            (4, "`t1` is gone, `t2` is gone, `t3` is gone, and 1 more"),
            (6, "`t1` is gone, `t2` is gone, `t3` is gone, and 3 more"),
        ] {
            let mut check = ChangedCheck::new("a.py", Role::Test, FileChange::Changed);
            check.worse.extend((1..=count).map(|nth| Worse::Vanished { test: format!("t{nth}") }));
            assert_eq!(check.line(), format!("a.py (test) {expected}"));
        }
    }

    #[test]
    fn a_line_says_file_role_command_and_what_got_worse() {
        let mut check = ChangedCheck::new("tests/test_a.py", Role::Test, FileChange::Changed);
        assert_eq!(check.line(), "tests/test_a.py (test) was changed");
        check.judges.push("make test".to_owned());
        check.worse.insert(Worse::Vanished { test: "test_a".to_owned() });
        check.worse.insert(Worse::Marked { test: "test_b".to_owned(), marker: Marker::Skip });
        assert_eq!(
            check.line(),
            "tests/test_a.py (test, run by `make test`) `test_a` is gone, `test_b` is skipped"
        );
        for name in ["c", "d"] {
            let test = name.to_owned();
            check.worse.insert(Worse::FewerAssertions { test, before: 2, after: 1 });
        }
        assert!(
            check.line().ends_with("`c` asserts less (2 before, 1 after), and 1 more"),
            "{}",
            check.line()
        );
        let mut manifest = ChangedCheck::new("package.json", Role::Manifest, FileChange::Changed);
        manifest.parts.push("scripts.test".to_owned());
        assert_eq!(manifest.line(), "package.json (manifest) was changed: scripts.test");
        assert!(!manifest.can_be_put_back());
        let mut source = ChangedCheck::new("src/lib.rs", Role::Test, FileChange::Changed);
        source.parts.push("its tests".to_owned());
        assert!(!source.can_be_put_back());
        let gone = ChangedCheck::new("a_test.go", Role::Test, FileChange::Deleted);
        assert_eq!(gone.line(), "a_test.go (test) was deleted");
        assert!(gone.can_be_put_back());
    }
}

//! Whether new tests bite: on the code that the run began with at least one guardrail has to fail with them. The mirror
//! image of old checks on new code.
//!
//! Invariant: in doubt nothing is said. A test that cannot be laid over the old code might be the one that bites.

use std::collections::BTreeMap;

use ralph_checks::{protected::Role, test_files::inline::with_old_tests};

use super::{
    changed_check::{ChangedCheck, FileChange},
    changes::{ChangedFile, INSIDE, WhatJudges, has_tests_inside, is_module, is_talk},
    check_note::CheckNote,
    finding::Finding,
    rules::{Bite, OnFinding},
};

/// How a file of the claim is laid over the code that the run began with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaidTest {
    /// As it was claimed.
    Claimed,
    /// The text that it has then: the old code with the new tests.
    Text(String),
}

/// The tests of a claim that are new or changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTests {
    /// How they and what they compare with are laid over the old code.
    pub laid: BTreeMap<String, LaidTest>,
    files: Vec<ChangedCheck>,
    /// Some of them cannot be laid over.
    has_others: bool,
    /// There is a change that they could be about.
    has_code: bool,
}

impl NewTests {
    /// Those among the files that changed.
    pub fn of(what: &WhatJudges<'_>, files: &[ChangedFile]) -> Self {
        let mut tests = Self::default();
        for file in files {
            let Some(change) = file.change else { continue };
            match what.role(&file.path) {
                Some(_) if change == FileChange::Deleted => {}
                Some(Role::Test) if change == FileChange::Added && is_module(&file.path) => {
                    tests.has_others = true;
                }
                Some(role @ (Role::Test | Role::Expectation)) => tests.take_file(file, role, change),
                Some(Role::Runner | Role::Lint | Role::StartUp | Role::Ci | Role::Manifest) => {}
                None if has_tests_inside(&file.path) => tests.take_source(file, change),
                None => tests.has_code |= !is_talk(what.inside(&file.path)),
            }
        }
        tests
    }

    fn take_file(&mut self, file: &ChangedFile, role: Role, change: FileChange) {
        self.laid.insert(file.path.clone(), LaidTest::Claimed);
        if role == Role::Test {
            self.files.push(ChangedCheck::new(&file.path, role, change));
        }
    }

    /// A source that may have tests among its code.
    fn take_source(&mut self, file: &ChangedFile, change: FileChange) {
        let (old, new) = (file.old.as_deref().unwrap_or_default(), file.new.as_deref().unwrap_or_default());
        let Some(text) = with_old_tests(new, old) else {
            self.has_code = true;
            self.has_others |= tests_in(old) < tests_in(new);
            return;
        };
        self.has_code |= text != new;
        self.laid.insert(file.path.clone(), LaidTest::Text(text));
        let parts = vec![INSIDE.to_owned()];
        self.files.push(ChangedCheck { parts, ..ChangedCheck::new(&file.path, Role::Test, change) });
    }

    /// Whether guardrails are to be run with them on the old code, at a claim with these findings. One that does not count
    /// yet is not worth the time.
    pub fn are_tried(&self, bite: Bite, on_finding: OnFinding, findings: &[Finding]) -> bool {
        let would_count = findings.is_empty() || on_finding == OnFinding::Report;
        bite == Bite::On && would_count && self.has_code && !self.has_others && !self.files.is_empty()
    }

    /// What is said when guardrails ended so, each passed or not: nothing if one failed, or none was run.
    pub fn unproven(&self, passed: &[bool]) -> Option<CheckNote> {
        let is_green = !passed.is_empty() && passed.iter().all(|passed| *passed);
        is_green.then(|| CheckNote::Unproven { files: self.files.clone() })
    }
}

/// About how many tests stand in a source of Rust: `#[test]`, `#[tokio::test]`.
fn tests_in(text: &str) -> usize {
    text.matches("test]").count()
}

#[cfg(test)]
mod tests;

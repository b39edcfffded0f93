//! Runs of test runners in an output, and which of them count.

use std::collections::BTreeSet;

use super::{
    Counts, FileLine, LoadError, MAX_NAMED, Runner, TestOutcome, cargo::Cargo, cause::is_load_error,
    ctest::Ctest, dotnet::Dotnet, go::Go, jest::Jest, mocha::Mocha, nextest::Nextest, node_test::NodeTest,
    other::Other, phpunit::Phpunit, pytest::Pytest, rspec::Rspec, surefire::Surefire, tap::Tap,
    unittest::Unittest, vitest::Vitest,
};
use crate::counts::junit::JunitLines;

/// What one runner said between two lines.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) runner: Runner,
    /// The number of its first line.
    pub(super) first: usize,
    /// The number of its last line.
    pub(super) last: usize,
    pub(super) counts: Counts,
    pub(super) tests: Vec<(String, TestOutcome)>,
    pub(super) not_loaded: Vec<LoadError>,
    /// Failures that are none of loading.
    pub(super) other_failures: u64,
}

impl Run {
    pub(super) fn new(runner: Runner, first: usize) -> Self {
        Self {
            runner,
            first,
            last: first,
            counts: Counts::default(),
            tests: Vec::new(),
            not_loaded: Vec::new(),
            other_failures: 0,
        }
    }

    /// Notes a test by its name.
    pub(super) fn name(&mut self, id: impl Into<String>, outcome: TestOutcome) {
        if self.tests.len() < MAX_NAMED {
            self.tests.push((id.into(), outcome));
        }
    }

    /// Notes a test by its name and counts it.
    pub(super) fn count(&mut self, id: impl Into<String>, outcome: TestOutcome) {
        self.counts.count(outcome);
        self.name(id, outcome);
    }

    pub(super) fn load_error(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let (what, why, places) = (what.into(), why.into(), Vec::new());
        let error = LoadError { runner: self.runner, what, why, places };
        if self.not_loaded.len() < super::MAX_LOAD_ERRORS && !self.not_loaded.contains(&error) {
            self.not_loaded.push(error);
        }
    }

    /// Notes why a test failed.
    pub(super) fn failed(&mut self, what: impl Into<String>, why: &str) {
        if is_load_error(why) {
            self.load_error(what, why.trim());
        } else {
            self.other_failures = self.other_failures.saturating_add(1);
        }
    }

    /// Notes where a compiler found the last error.
    pub(super) fn error_at(&mut self, places: Vec<FileLine>) {
        if let Some(error) = self.not_loaded.last_mut() {
            error.places = places;
        }
    }
}

/// `tests/old.rs:1:5`, `./b_test.go:6:11`, `/project/src/A.java:[11,29]`: what stands before the numbers, and the first of them.
pub(super) fn file_line(text: &str) -> Option<FileLine> {
    let (file, rest) = text.trim().split_once(':')?;
    let digits = rest.trim_start_matches('[');
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    let line = digits[..end].parse().ok()?;
    (file.contains('.') && !file.contains(char::is_whitespace))
        .then(|| FileLine { file: file.to_owned(), line })
}

/// So many places of one error are kept.
pub(super) const MAX_PLACES: usize = 100;

/// A line with what a reader may want to know about its surroundings.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    /// Its number.
    pub(super) at: usize,
    pub(super) text: &'a str,
    /// The line before it.
    pub(super) before: &'a str,
}

/// One reader for each runner.
pub(super) trait Reader {
    /// Takes a line, and adds every run that it completes.
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>);

    /// There are no more lines.
    fn finish(&mut self, runs: &mut Vec<Run>);
}

/// All readers.
pub(super) struct Readers {
    each: Vec<Box<dyn Reader>>,
    runs: Vec<Run>,
    at: usize,
    before: String,
}

impl Default for Readers {
    fn default() -> Self {
        let each: Vec<Box<dyn Reader>> = vec![
            Box::<Cargo>::default(),
            Box::<Nextest>::default(),
            Box::<Pytest>::default(),
            Box::<Unittest>::default(),
            Box::<Go>::default(),
            Box::<Jest>::default(),
            Box::<Vitest>::default(),
            Box::<Mocha>::default(),
            Box::<NodeTest>::default(),
            Box::<Tap>::default(),
            Box::<Rspec>::default(),
            Box::<Phpunit>::default(),
            Box::<Ctest>::default(),
            Box::<Surefire>::default(),
            Box::<Dotnet>::default(),
            Box::<JunitLines>::default(),
            Box::<Other>::default(),
        ];
        Self { each, runs: Vec::new(), at: 0, before: String::new() }
    }
}

impl Readers {
    pub(super) fn line(&mut self, text: &str) {
        let line = Line { at: self.at, text, before: &self.before };
        for reader in &mut self.each {
            reader.line(line, &mut self.runs);
        }
        self.at += 1;
        self.before.clear();
        self.before.push_str(text);
    }

    /// Returns the runs that are in no other one.
    pub(super) fn finish(mut self) -> Vec<Run> {
        for reader in &mut self.each {
            reader.finish(&mut self.runs);
        }
        without_echoes(outermost(self.runs))
    }
}

/// Drops runs that lie within the lines of another runner's run: tests of the other one printed them.
fn outermost(mut runs: Vec<Run>) -> Vec<Run> {
    // The widest of those that begin together comes first.
    runs.sort_by_key(|run| (run.first, std::cmp::Reverse(run.last)));
    let mut kept: Vec<Run> = Vec::new();
    for run in runs {
        let is_inside =
            kept.iter().rev().take(MAX_OPEN).any(|outer| {
                outer.runner != run.runner && outer.first <= run.first && run.last <= outer.last
            });
        if !is_inside {
            kept.push(run);
        }
    }
    kept
}

/// Drops what a loader said when a runner reported the same error as its own.
fn without_echoes(mut runs: Vec<Run>) -> Vec<Run> {
    let said: BTreeSet<String> = runs
        .iter()
        .filter(|run| run.runner != Runner::Other)
        .flat_map(|run| run.not_loaded.iter().map(|error| error.why.clone()))
        .collect();
    runs.retain(|run| {
        run.runner != Runner::Other || run.not_loaded.iter().any(|error| !said.contains(&error.why))
    });
    runs
}

/// How many runs before it may contain one; more do not overlap in any output that means something.
const MAX_OPEN: usize = 64;

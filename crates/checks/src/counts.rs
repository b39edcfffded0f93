//! Test counts, read from what test runners print.
//!
//! Output is read line by line with escape sequences removed. Every runner has a reader of its own that recognises
//! *runs*: from the first line that belongs to one to its summary. A run inside another one is what a test printed and
//! does not count; runs side by side add up. Counts come from the code under test's own process and can therefore be
//! forged: they can raise a finding, never clear one.

mod cargo;
mod cause;
mod ctest;
mod dotnet;
mod go;
mod jest;
mod junit;
mod lines;
mod mocha;
mod names;
mod nextest;
mod node_test;
mod other;
mod phpunit;
mod pytest;
mod rspec;
mod run;
mod surefire;
mod tap;
#[cfg(test)]
mod tests;
mod unittest;
mod vitest;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use junit::read_junit;
use lines::LineSplitter;
pub use names::{Names, NamesCompared, compare_names, function};
use run::{Readers, Run};

/// How many test ids of one output are kept; what goes beyond is counted, but not named.
pub const MAX_NAMED: usize = 100_000;

/// How many loading errors of one output are kept.
pub const MAX_LOAD_ERRORS: usize = 200;

/// A program that runs tests and counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Runner {
    /// `cargo test`.
    Cargo,
    /// `cargo nextest run`.
    Nextest,
    /// `pytest`.
    Pytest,
    /// `python -m unittest`.
    Unittest,
    /// `go test -v` and `go test -json`, which name tests.
    Go,
    /// `go test`, which names packages only.
    GoPackages,
    /// `jest`.
    Jest,
    /// `vitest`.
    Vitest,
    /// `mocha`.
    Mocha,
    /// `node --test`.
    NodeTest,
    /// Anything that prints the Test Anything Protocol, and `prove`.
    Tap,
    /// `rspec`.
    Rspec,
    /// `phpunit`.
    Phpunit,
    /// `ctest`.
    Ctest,
    /// Maven's surefire and failsafe.
    Surefire,
    /// `dotnet test`.
    Dotnet,
    /// A `JUnit` XML report.
    Junit,
    /// Not a runner: a compiler or an interpreter that could not load something.
    Other,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TestOutcome {
    /// It ran and held.
    Passed,
    /// It did not run, or was expected to fail: nothing was asserted.
    Skipped,
    /// It failed, or could not be loaded.
    Failed,
}

/// How many tests ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Tests that ran and held.
    pub passed: u64,
    /// Tests that failed or could not be loaded.
    pub failed: u64,
    /// Tests that did not run or were expected to fail.
    pub skipped: u64,
}

impl Counts {
    /// How many tests there are.
    pub fn total(self) -> u64 {
        self.passed.saturating_add(self.failed).saturating_add(self.skipped)
    }

    /// How many tests asserted something.
    pub fn ran(self) -> u64 {
        self.passed.saturating_add(self.failed)
    }

    /// Adds the counts of other tests.
    pub fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }

    fn count(&mut self, outcome: TestOutcome) {
        match outcome {
            TestOutcome::Passed => self.passed += 1,
            TestOutcome::Failed => self.failed += 1,
            TestOutcome::Skipped => self.skipped += 1,
        }
    }
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct FileLine {
    /// As the compiler names it.
    pub file: String,
    /// From one on.
    pub line: u32,
}

/// Something that could not be loaded: a file that does not compile or import, a name or a fixture that is missing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LoadError {
    /// Who says so.
    pub runner: Runner,
    /// The file, package or test.
    pub what: String,
    /// The first line of the error.
    pub why: String,
    /// Where a compiler found errors.
    pub places: Vec<FileLine>,
}

/// What the runners in one output said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestReport {
    /// The counts of each runner that gave a summary.
    pub counts: BTreeMap<Runner, Counts>,
    /// The tests that were named, each with how it ended.
    pub tests: BTreeMap<String, TestOutcome>,
    /// What could not be loaded.
    pub not_loaded: Vec<LoadError>,
    /// Failures with any other reason.
    pub other_failures: u64,
}

impl TestReport {
    /// The counts of all runners together, if there was any.
    pub fn total(&self) -> Option<Counts> {
        let mut total = None;
        for counts in self.counts.values() {
            total.get_or_insert_with(Counts::default).add(*counts);
        }
        total
    }

    /// Whether tests ran, failed, and every failure is one of loading.
    pub fn only_load_errors(&self) -> bool {
        let failed = self.total().map_or(0, |counts| counts.failed);
        !self.not_loaded.is_empty() && self.other_failures == 0 && failed <= self.not_loaded.len() as u64
    }

    /// Adds another report, for example a `JUnit` file to the output of the same guardrail.
    pub fn merge(&mut self, other: Self) {
        for (runner, counts) in other.counts {
            self.counts.entry(runner).or_default().add(counts);
        }
        self.tests.extend(other.tests);
        self.not_loaded.extend(other.not_loaded);
        self.other_failures = self.other_failures.saturating_add(other.other_failures);
    }

    fn take(&mut self, run: Run) {
        if run.runner != Runner::Other {
            self.counts.entry(run.runner).or_default().add(run.counts);
        }
        for (id, outcome) in run.tests {
            if self.tests.len() < MAX_NAMED || self.tests.contains_key(&id) {
                self.tests.insert(id, outcome);
            }
        }
        self.other_failures = self.other_failures.saturating_add(run.other_failures);
        let room = MAX_LOAD_ERRORS.saturating_sub(self.not_loaded.len());
        self.not_loaded.extend(run.not_loaded.into_iter().take(room));
    }
}

/// Reads output piece by piece, in memory that depends on the number of tests and not on what they print.
#[derive(Default)]
pub struct OutputReader {
    lines: LineSplitter,
    readers: Readers,
}

impl OutputReader {
    /// Takes the next bytes, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        let readers = &mut self.readers;
        self.lines.feed(bytes, |line| readers.line(line));
    }

    /// Returns what was said.
    pub fn finish(mut self) -> TestReport {
        let readers = &mut self.readers;
        self.lines.finish(|line| readers.line(line));
        let mut report = TestReport::default();
        for run in self.readers.finish() {
            report.take(run);
        }
        report
    }
}

/// Reads a whole output.
pub fn read_output(output: &[u8]) -> TestReport {
    let mut reader = OutputReader::default();
    reader.feed(output);
    reader.finish()
}

/// Returns the report that two baselines agree on: one that is unstable when taken twice gives no counts.
pub fn stable_baseline(first: &TestReport, second: &TestReport) -> Option<TestReport> {
    (first.counts == second.counts && first.tests == second.tests).then(|| first.clone())
}

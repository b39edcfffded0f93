//! `jest`: a summary of suites and of tests, and a section for each failure.

use std::collections::BTreeSet;

use super::{
    Counts, Runner, TestOutcome,
    run::{Line, Reader, Run},
};

/// Reads jest.
#[derive(Default)]
pub(super) struct Jest {
    first: Option<usize>,
    /// The file whose results are shown.
    file: String,
    /// Blocks that are open, by how far they are indented.
    blocks: Vec<(usize, String)>,
    tests: Vec<(String, TestOutcome)>,
    /// The title of a failure whose message is still to come.
    section: Option<String>,
    failures: BTreeSet<(String, String)>,
    /// The counts of the summary before, if nothing came after it: jest repeats itself when it stops early.
    said: Option<Counts>,
}

/// How many failures of one run are told apart.
const MAX_FAILURES: usize = 10_000;

impl Reader for Jest {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if let Some(file) = file(text) {
            self.first.get_or_insert(line.at);
            self.said = None;
            file.clone_into(&mut self.file);
            self.blocks.clear();
            self.section = None;
        } else if let Some(counts) = text.strip_prefix("Tests:").and_then(counts)
            && line.before.starts_with("Test Suites:")
        {
            self.close(line.at, counts, runs);
        } else if text.starts_with("No tests found, exiting with code") {
            runs.push(Run::new(Runner::Jest, line.at));
        } else if let Some(title) = text.strip_prefix("  ● ") {
            self.section = Some(title.trim().to_owned());
        } else if let Some(title) = self.section.take_if(|_| !text.trim().is_empty()) {
            if self.failures.len() < MAX_FAILURES {
                self.failures.insert((format!("{} › {title}", self.file), text.trim().to_owned()));
            }
        } else if self.first.is_some() {
            self.listed(text);
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

impl Jest {
    /// Takes a line of the tree of tests.
    fn listed(&mut self, text: &str) {
        let name = text.trim_start();
        let indent = text.len() - name.len();
        if indent == 0 || name.is_empty() {
            return;
        }
        self.blocks.retain(|(of_block, _)| *of_block < indent);
        let Some((outcome, name)) = test(name) else {
            if self.blocks.len() < MAX_DEPTH {
                self.blocks.push((indent, name.to_owned()));
            }
            return;
        };
        let mut id = self.file.clone();
        for (_, block) in &self.blocks {
            id.push_str(" › ");
            id.push_str(block);
        }
        self.tests.push((format!("{id} › {name}"), outcome));
    }

    fn close(&mut self, at: usize, counts: Counts, runs: &mut Vec<Run>) {
        if self.said == Some(counts) {
            return;
        }
        let mut run = Run::new(Runner::Jest, self.first.take().unwrap_or(at));
        run.last = at;
        run.counts = counts;
        for (id, outcome) in std::mem::take(&mut self.tests) {
            run.name(id, outcome);
        }
        for (what, message) in std::mem::take(&mut self.failures) {
            match what.strip_suffix(" › Test suite failed to run") {
                Some(file) => run.load_error(file, message),
                None => run.failed(what, &message),
            }
        }
        runs.push(run);
        self.said = Some(counts);
    }
}

/// Blocks nest no deeper than this.
const MAX_DEPTH: usize = 50;

/// `PASS ./math.test.js (5.2 s)`; coloured, there is a space before it.
fn file(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    let name = rest.strip_prefix("PASS ").or_else(|| rest.strip_prefix("FAIL "))?.trim();
    let name = name.split(" (").next().unwrap_or(name);
    let is_file =
        [".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"].iter().any(|end| name.ends_with(end));
    (text.len() - rest.len() <= 1 && is_file).then(|| name.trim_start_matches("./"))
}

/// `1 skipped, 1 todo, 4 passed, 6 total`
fn counts(text: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut has_total = false;
    for part in text.trim().split(", ") {
        let (count, what) = part.split_once(' ')?;
        let count = count.parse::<u64>().ok()?;
        match what {
            "passed" => counts.passed = count,
            "failed" => counts.failed = count,
            "skipped" | "todo" => counts.skipped = counts.skipped.saturating_add(count),
            "total" => has_total = true,
            _ => return None,
        }
    }
    has_total.then_some(counts)
}

/// `✓ adds (2 ms)`, `○ skipped later`
fn test(text: &str) -> Option<(TestOutcome, &str)> {
    let (mark, name) = text.split_once(' ')?;
    let outcome = match mark {
        "✓" | "√" => TestOutcome::Passed,
        "✕" | "×" => TestOutcome::Failed,
        "○" | "✎" => TestOutcome::Skipped,
        _ => return None,
    };
    let name = name.strip_prefix("skipped ").or_else(|| name.strip_prefix("todo ")).unwrap_or(name);
    let name = match name.rsplit_once(" (") {
        Some((name, time)) if time.ends_with("s)") => name,
        _ => name,
    };
    Some((outcome, name))
}

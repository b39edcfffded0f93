//! `vitest`: a header with its version, a summary of files and of tests, and a section for each failure.

use super::{
    Counts, Runner, TestOutcome,
    run::{Line, Reader, Run},
};

/// Reads vitest.
#[derive(Default)]
pub(super) struct Vitest {
    run: Option<Run>,
    /// Failures whose error is still to come; the same error can belong to several.
    failing: Vec<String>,
}

impl Reader for Vitest {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if is_header(text) {
            self.run = Some(Run::new(Runner::Vitest, line.at));
            self.failing.clear();
            return;
        }
        let Some(run) = &mut self.run else { return };
        let summary = text.trim_start();
        if text.starts_with("No test files found") {
            run.last = line.at;
            runs.extend(self.run.take());
        } else if summary.starts_with("Tests ")
            && line.before.trim_start().starts_with("Test Files ")
            && let Some(counts) = counts(summary)
        {
            run.counts = counts;
            run.last = line.at;
            runs.extend(self.run.take());
        } else if let Some(name) = text.trim_start().strip_prefix("FAIL ") {
            self.failing.push(name.trim().to_owned());
        } else if !self.failing.is_empty() && !text.trim().is_empty() {
            for what in std::mem::take(&mut self.failing) {
                failed(run, &what, text.trim());
            }
        } else if let Some((name, outcome)) = listed(text) {
            run.name(name, outcome);
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

fn failed(run: &mut Run, what: &str, error: &str) {
    // `old.test.js [ old.test.js ]`: not a test but a file.
    if let Some(file) = what.strip_suffix(" ]").and_then(|what| what.split(" [ ").next()) {
        run.load_error(file, error);
        return;
    }
    run.name(what, TestOutcome::Failed);
    run.failed(what, error);
}

/// ` RUN  v5.1.0 /project`
fn is_header(text: &str) -> bool {
    let rest = text.trim_start();
    let Some(version) = rest.strip_prefix("RUN ").or_else(|| rest.strip_prefix("DEV ")) else { return false };
    let version = version.trim_start().strip_prefix('v');
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

/// `Tests  2 failed | 1 passed | 1 todo (6)`, `Tests  no tests`
fn counts(text: &str) -> Option<Counts> {
    let text = text.strip_prefix("Tests ")?.trim();
    let mut counts = Counts::default();
    if text == "no tests" {
        return Some(counts);
    }
    let (parts, _) = text.rsplit_once(" (")?;
    for part in parts.split(" | ") {
        let (count, what) = part.trim().split_once(' ')?;
        let count = count.parse::<u64>().ok()?;
        match what {
            "passed" => counts.passed = count,
            "failed" => counts.failed = count,
            "skipped" | "todo" | "expected fail" => counts.skipped = counts.skipped.saturating_add(count),
            _ => return None,
        }
    }
    Some(counts)
}

/// ` ✓ math.test.js > math > adds 2ms`
fn listed(text: &str) -> Option<(String, TestOutcome)> {
    let (mark, name) = text.trim_start().split_once(' ')?;
    let outcome = match mark {
        "✓" | "√" => TestOutcome::Passed,
        "×" | "✕" => TestOutcome::Failed,
        "↓" | "□" => TestOutcome::Skipped,
        _ => return None,
    };
    let name = match name.rsplit_once(' ') {
        Some((name, time)) if is_duration(time) => name,
        _ => name,
    };
    name.contains(" > ").then(|| (name.trim().to_owned(), outcome))
}

fn is_duration(text: &str) -> bool {
    text.ends_with('s') && text.starts_with(|first: char| first.is_ascii_digit())
}

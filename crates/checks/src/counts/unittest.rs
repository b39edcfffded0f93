//! Python's `unittest`, and what is built on it, such as Django's test runner.

use super::{
    Runner, TestOutcome,
    cause::is_load_error,
    run::{Line, Reader, Run},
};

/// Reads unittest.
#[derive(Default)]
pub(super) struct Unittest {
    tests: Vec<(String, TestOutcome)>,
    /// A test that failed, and the last line of its traceback.
    section: Option<(String, String)>,
    failures: Vec<(String, String)>,
    first: Option<usize>,
    ran: Option<u64>,
}

/// The rule above `Ran 3 tests`.
const RULE: &str = "----------------------------------------------------------------------";

/// What the loader says first; the reason is in the last line.
const FAILED_IMPORT: &str = "ImportError: Failed to import test module: ";

impl Reader for Unittest {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if line.before == RULE
            && let Some(ran) = ran(text)
        {
            self.end_section();
            self.ran = Some(ran);
            return;
        }
        if let Some(ran) = self.ran {
            if !text.is_empty() {
                self.ran = None;
                if let Some(parts) = result(text) {
                    self.close(ran, parts, line.at, runs);
                }
            }
            return;
        }
        self.section_line(line);
        if let Some((id, outcome)) = listed(line) {
            self.first.get_or_insert(line.at);
            self.tests.push((id, outcome));
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

impl Unittest {
    fn section_line(&mut self, line: Line<'_>) {
        let text = line.text;
        let header =
            ["ERROR: ", "FAIL: ", "UNEXPECTED SUCCESS: "].iter().find_map(|kind| text.strip_prefix(kind));
        if line.before.len() >= RULE.len()
            && line.before.chars().all(|letter| letter == '=')
            && let Some(id) = header.and_then(id)
        {
            self.end_section();
            self.first.get_or_insert(line.at);
            self.tests.push((id.clone(), TestOutcome::Failed));
            self.section = Some((id, String::new()));
        } else if let Some((_, error)) = &mut self.section
            && text.starts_with(|first: char| first.is_alphabetic())
            && !text.starts_with("Traceback")
        {
            // The last line of a traceback is not indented; neither are following lines of a message.
            if error.is_empty() || error.starts_with(FAILED_IMPORT) || !is_load_error(error) {
                text.clone_into(error);
            }
        }
    }

    fn end_section(&mut self) {
        self.failures.extend(self.section.take());
    }

    fn close(&mut self, ran: u64, parts: Parts, at: usize, runs: &mut Vec<Run>) {
        let mut run = Run::new(Runner::Unittest, self.first.take().unwrap_or(at));
        run.last = at;
        run.counts.failed = parts.failed;
        run.counts.skipped = parts.skipped;
        run.counts.passed = ran.saturating_sub(parts.failed.saturating_add(parts.skipped));
        for (id, outcome) in std::mem::take(&mut self.tests) {
            run.name(id, outcome);
        }
        for (id, error) in std::mem::take(&mut self.failures) {
            if id.contains("unittest.loader.") {
                run.load_error(id, error);
            } else {
                run.failed(id, &error);
            }
        }
        runs.push(run);
    }
}

#[derive(Clone, Copy, Default)]
struct Parts {
    failed: u64,
    skipped: u64,
}

/// `Ran 3 tests in 0.001s`
fn ran(text: &str) -> Option<u64> {
    let (count, rest) = text.strip_prefix("Ran ")?.split_once(' ')?;
    let is_summary = rest.starts_with("test in ") || rest.starts_with("tests in ");
    is_summary.then(|| count.parse().ok()).flatten()
}

/// `OK`, `OK (skipped=2)`, `FAILED (failures=2, errors=1, unexpected successes=1)`, `NO TESTS RAN`
fn result(text: &str) -> Option<Parts> {
    let rest = ["OK", "FAILED", "NO TESTS RAN"].iter().find_map(|word| text.strip_prefix(word))?;
    let mut parts = Parts::default();
    let Some(list) = rest.trim().strip_prefix('(').and_then(|list| list.strip_suffix(')')) else {
        return rest.trim().is_empty().then_some(parts);
    };
    for part in list.split(", ") {
        let (what, count) = part.split_once('=')?;
        let count = count.parse::<u64>().ok()?;
        let sum = match what {
            "failures" | "errors" | "unexpected successes" => &mut parts.failed,
            _ => &mut parts.skipped,
        };
        *sum = sum.saturating_add(count);
    }
    Some(parts)
}

/// `test_add (test_math.MathTest.test_add)`; before Python 3.11 the name is not repeated.
fn id(text: &str) -> Option<String> {
    let (name, rest) = text.trim_start().split_once(" (")?;
    let (path, _) = rest.split_once(')')?;
    let is_name = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
    if !is_name(name) || !is_name(path) || !path.contains('.') {
        return None;
    }
    let is_whole = path.rsplit('.').next() == Some(name);
    Some(if is_whole { path.to_owned() } else { format!("{path}.{name}") })
}

/// `test_add (test_math.MathTest.test_add) ... ok`; a documented test has its id on the line before.
fn listed(line: Line<'_>) -> Option<(String, TestOutcome)> {
    let (before, word) = line.text.rsplit_once(" ... ")?;
    let outcome = match word.trim() {
        "ok" | "unexpected success" => TestOutcome::Passed,
        "FAIL" | "ERROR" => TestOutcome::Failed,
        "expected failure" => TestOutcome::Skipped,
        word if word.starts_with("skipped") => TestOutcome::Skipped,
        _ => return None,
    };
    let id = id(before).or_else(|| id(line.before))?;
    Some((id, outcome))
}

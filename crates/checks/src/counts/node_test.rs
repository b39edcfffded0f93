//! `node --test` with its `spec` reporter; its `tap` reporter is read as TAP.

use std::collections::VecDeque;

use super::{
    Runner, TestOutcome,
    cause::is_load_error,
    run::{Line, Reader, Run, file_line},
};

/// Reads node's own test runner.
#[derive(Default)]
pub(super) struct NodeTest {
    first: Option<usize>,
    /// Suites that are open, by indentation.
    suites: Vec<(usize, String)>,
    tests: Vec<(String, TestOutcome)>,
    /// Files without a test of their own: node counts each of them as a test.
    empty_files: u64,
    /// Errors of loaders that were printed, one for each file.
    loader_errors: VecDeque<String>,
    /// The file of the next failure in the list.
    file: String,
    /// What the list of failures says comes after the summary.
    run: Option<Run>,
    in_failures: bool,
    failing: Option<String>,
}

const MAX_DEPTH: usize = 50;

impl Reader for NodeTest {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if let Some((word, count)) = counted(text) {
            self.count(line.at, word, count, runs);
        } else if text == "✖ failing tests:" {
            self.in_failures = self.run.is_some();
        } else if self.in_failures && !text.starts_with('▶') {
            self.failure(text);
        } else if let Some((mark, name)) = marked(text) {
            self.first.get_or_insert(line.at);
            self.listed(text.len() - text.trim_start().len(), mark, name);
        } else if self.loader_errors.len() < super::MAX_LOAD_ERRORS && is_load_error(text) {
            self.loader_errors.push_back(text.trim().to_owned());
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        runs.extend(self.run.take());
    }
}

impl NodeTest {
    /// Takes a line of the summary. Its first one is `ℹ tests`.
    fn count(&mut self, at: usize, word: &str, count: u64, runs: &mut Vec<Run>) {
        if word == "tests" {
            runs.extend(self.run.take());
            let mut run = Run::new(Runner::NodeTest, self.first.take().unwrap_or(at));
            for (id, outcome) in std::mem::take(&mut self.tests) {
                if is_file(&id) && outcome == TestOutcome::Failed {
                    match self.loader_errors.pop_front() {
                        Some(why) => run.load_error(id.clone(), why),
                        None => run.other_failures += 1,
                    }
                }
                run.name(id, outcome);
            }
            self.run = Some(run);
            self.in_failures = false;
            self.suites.clear();
        }
        let Some(run) = &mut self.run else { return };
        run.last = at;
        match word {
            "pass" => run.counts.passed = count.saturating_sub(std::mem::take(&mut self.empty_files)),
            "fail" | "cancelled" => run.counts.failed = run.counts.failed.saturating_add(count),
            "skipped" | "todo" => run.counts.skipped = run.counts.skipped.saturating_add(count),
            _ => {}
        }
    }

    fn listed(&mut self, indent: usize, mark: char, name: &str) {
        self.suites.retain(|(of_suite, _)| *of_suite <= indent);
        if mark == '▶' {
            if self.suites.len() < MAX_DEPTH {
                self.suites.push((indent, name.to_owned()));
            }
            return;
        }
        let closes = |(of_suite, suite): &(usize, String)| *of_suite == indent && suite == name;
        if self.suites.last().is_some_and(closes) {
            self.suites.pop();
            return;
        }
        let (name, is_skipped) = match name.split_once(" # ") {
            Some((name, note)) if note.starts_with("SKIP") || note.starts_with("TODO") => (name, true),
            _ => (name, false),
        };
        let name = without_time(name);
        let outcome = match mark {
            _ if is_skipped => TestOutcome::Skipped,
            '✖' => TestOutcome::Failed,
            '﹣' => TestOutcome::Skipped,
            _ => TestOutcome::Passed,
        };
        if is_file(name) && outcome == TestOutcome::Passed {
            self.empty_files += 1;
            return;
        }
        let suites = self.suites.iter().filter(|(of_suite, _)| *of_suite < indent);
        let id: Vec<&str> = suites.map(|(_, suite)| suite.as_str()).chain([name]).collect();
        self.tests.push((id.join(" > "), outcome));
    }

    /// Takes a line of the list of failures: a mark with the name, then the error.
    fn failure(&mut self, text: &str) {
        if let Some(place) = text.strip_prefix("test at ").and_then(file_line) {
            self.file = place.file;
        } else if let Some(('✖', name)) = marked(text) {
            let name = without_time(name);
            // A whole file was told in the summary.
            self.failing = (!is_file(name)).then(|| format!("{} > {name}", self.file));
        } else if !text.trim().is_empty()
            && let Some(name) = self.failing.take()
            && let Some(run) = &mut self.run
        {
            run.failed(name, text);
        }
    }
}

/// `ℹ tests 6`
fn counted(text: &str) -> Option<(&str, u64)> {
    let (word, count) = text.strip_prefix("ℹ ")?.split_once(' ')?;
    Some((word, count.parse().ok()?))
}

/// `  ✔ adds (0.67ms)`, `▶ math`
fn marked(text: &str) -> Option<(char, &str)> {
    let text = text.trim_start();
    let mark = text.chars().next().filter(|mark| "✔✖▶﹣".contains(*mark))?;
    let name = text[mark.len_utf8()..].strip_prefix(' ')?;
    if mark == '▶' { Some((mark, name)) } else { name.contains("ms)").then(|| (mark, trim_close(name))) }
}

/// A suite is closed by its name with the time that it took.
fn trim_close(name: &str) -> &str {
    if name.contains(" # ") { name } else { without_time(name) }
}

fn without_time(name: &str) -> &str {
    match name.rsplit_once(" (") {
        Some((name, time)) if time.ends_with("ms)") => name,
        _ => name,
    }
}

/// Whether a test stands for a whole file.
pub(super) fn is_file(name: &str) -> bool {
    let endings = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"];
    endings.iter().any(|ending| name.ends_with(ending)) && !name.contains(' ')
}

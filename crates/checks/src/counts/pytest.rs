//! `pytest`, from its quietest summary to its most verbose listing.

use super::{
    Runner, TestOutcome,
    run::{Line, Reader, Run},
};

/// Reads pytest.
#[derive(Default)]
pub(super) struct Pytest {
    session: Option<Session>,
}

struct Session {
    run: Run,
    /// Without a header, as `-q` has it: the summary has no frame either.
    is_quiet: bool,
    has_summary: bool,
    /// The section of an error that is open: its title.
    section: Option<String>,
    /// Sections with the first line of their error.
    errors: Vec<(String, String)>,
}

impl Session {
    fn new(at: usize, is_quiet: bool) -> Self {
        let run = Run::new(Runner::Pytest, at);
        Self { run, is_quiet, has_summary: false, section: None, errors: Vec::new() }
    }
}

/// How many errors of one session are told apart.
const MAX_ERRORS: usize = 10_000;

impl Reader for Pytest {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        let framed = framed(text, '=');
        if framed == Some("test session starts") {
            self.close(runs);
            self.session = Some(Session::new(line.at, false));
            return;
        }
        let shows_progress = is_progress(text);
        let is_over = self.session.as_ref().is_some_and(|session| session.is_quiet && session.has_summary);
        if is_over && shows_progress {
            self.close(runs);
        }
        if self.session.is_none() {
            let opens = shows_progress
                || matches!(framed, Some("FAILURES" | "ERRORS" | "short test summary info"))
                || text.starts_with("no tests ran in ");
            if !opens {
                return;
            }
            self.session = Some(Session::new(line.at, true));
        }
        if let Some(session) = &mut self.session {
            session.line(line, framed);
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        self.close(runs);
    }
}

impl Pytest {
    fn close(&mut self, runs: &mut Vec<Run>) {
        let Some(mut session) = self.session.take() else { return };
        if session.has_summary {
            for (title, error) in session.errors {
                match title.strip_prefix("ERROR collecting ") {
                    Some(file) => session.run.load_error(file, error),
                    None => session.run.failed(title, &error),
                }
            }
            runs.push(session.run);
        }
    }
}

impl Session {
    fn line(&mut self, line: Line<'_>, framed: Option<&str>) {
        let summary = if self.is_quiet { Some(line.text) } else { framed };
        if let Some(counts) = summary.and_then(counts) {
            // Tests can print a summary as well; the last one is pytest's.
            (self.run.counts.passed, self.run.counts.failed, self.run.counts.skipped) = counts;
            self.run.last = line.at;
            self.has_summary = true;
        } else if let Some(title) = framed_section(line.text) {
            self.section = Some(title.to_owned());
        } else if framed.is_some() {
            self.section = None;
        } else if let Some((id, outcome)) = listed(line.text) {
            self.run.name(id, outcome);
        } else if let Some((id, outcome, message)) = summarized(line.text) {
            self.failed(id, outcome, message);
        } else {
            self.error(line.text);
        }
    }

    /// Notes the first line of the error of an open section.
    fn error(&mut self, text: &str) {
        let Some(title) = &self.section else { return };
        let native = || {
            let is_error = text.split(':').next().is_some_and(|kind| {
                kind.ends_with("Error") && !kind.contains(char::is_whitespace) && !kind.is_empty()
            });
            is_error.then_some(text)
        };
        let Some(error) = text.strip_prefix("E ").or_else(native) else { return };
        if self.errors.len() < MAX_ERRORS {
            self.errors.push((title.clone(), error.trim().to_owned()));
        }
        self.section = None;
    }

    /// Takes a line of the short summary.
    fn failed(&mut self, id: &str, outcome: TestOutcome, message: &str) {
        self.run.name(id, outcome);
        if outcome != TestOutcome::Failed {
            return;
        }
        let Some((_, path)) = id.split_once("::") else {
            // Not a test but a module that could not be collected.
            let is_this = |(title, _): &(String, String)| title.strip_prefix("ERROR collecting ") == Some(id);
            let error = self.errors.iter().position(is_this).map(|at| self.errors.remove(at).1);
            self.run.load_error(id, error.unwrap_or_else(|| message.to_owned()));
            return;
        };
        let title = path.replace("::", ".");
        let is_this = |(known, _): &(String, String)| {
            known == &title || known.strip_prefix("ERROR at setup of ") == Some(title.as_str())
        };
        let error = match self.errors.iter().position(is_this) {
            Some(at) => self.errors.remove(at).1,
            None => message.to_owned(),
        };
        self.run.failed(id, &error);
    }
}

/// What stands between frames of one letter: `=== FAILURES ===`.
fn framed(text: &str, frame: char) -> Option<&str> {
    let inner = text.trim_end().strip_prefix(frame)?.strip_suffix(frame)?;
    let inner = inner.trim_matches(frame);
    let title = inner.strip_prefix(' ')?.strip_suffix(' ')?;
    (!title.is_empty()).then_some(title)
}

fn framed_section(text: &str) -> Option<&str> {
    framed(text, '_').filter(|title| *title != "summary")
}

/// `test_math.py ..F..   [ 60%]`, or the letters alone.
fn is_progress(text: &str) -> bool {
    let Some(rest) = text.trim_end().strip_suffix("%]") else { return false };
    let Some((before, percent)) = rest.rsplit_once('[') else { return false };
    let Some(letters) = before.split_whitespace().next_back() else { return false };
    percent.trim().parse::<u8>().is_ok() && letters.chars().all(|letter| ".FEsxXuR,".contains(letter))
}

/// `2 failed, 1 passed, 1 xfailed, 1 error in 0.03s`
fn counts(text: &str) -> Option<(u64, u64, u64)> {
    let (parts, time) = text.trim().rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    let (mut passed, mut failed, mut skipped) = (0_u64, 0_u64, 0_u64);
    if parts == "no tests ran" {
        return Some((0, 0, 0));
    }
    for part in parts.split(", ") {
        let (count, what) = part.split_once(' ')?;
        let count = count.parse::<u64>().ok()?;
        let sum = match what {
            "passed" | "xpassed" => &mut passed,
            "failed" | "error" | "errors" => &mut failed,
            "skipped" | "xfailed" => &mut skipped,
            "warning" | "warnings" | "deselected" | "rerun" | "subtests passed" | "subtests failed"
            | "subtests skipped" => continue,
            _ => return None,
        };
        *sum = sum.saturating_add(count);
    }
    Some((passed, failed, skipped))
}

fn outcome(word: &str) -> Option<TestOutcome> {
    match word {
        "PASSED" | "XPASS" => Some(TestOutcome::Passed),
        "FAILED" | "ERROR" => Some(TestOutcome::Failed),
        "SKIPPED" | "XFAIL" => Some(TestOutcome::Skipped),
        _ => None,
    }
}

/// `test_math.py::test_add PASSED   [ 20%]`, `[gw0] [ 20%] PASSED test_math.py::test_add`
fn listed(text: &str) -> Option<(&str, TestOutcome)> {
    if text.starts_with("[gw") {
        let (_, rest) = text.split_once("%] ")?;
        let (word, id) = rest.split_once(' ')?;
        return Some((id.trim(), outcome(word)?));
    }
    if !text.contains("::") || !text.trim_end().ends_with("%]") {
        return None;
    }
    let (before, _) = text.rsplit_once('[')?;
    // A reason may follow the word: `SKIPPED (not here)`. Ids of parametrized tests can have spaces.
    let words = [" PASSED", " FAILED", " SKIPPED", " XFAIL", " XPASS", " ERROR"];
    let (at, word) = words.iter().filter_map(|word| Some((before.find(word)?, word))).min()?;
    Some((&before[..at], outcome(word.trim_start())?))
}

/// `FAILED test_fail.py::test_wrong - assert 4 == 3`
fn summarized(text: &str) -> Option<(&str, TestOutcome, &str)> {
    let (word, rest) = text.split_once(' ')?;
    let outcome = outcome(word)?;
    let (id, message) = rest.split_once(" - ").unwrap_or((rest, ""));
    let is_id = id.contains("::") || (word == "ERROR" && !id.contains(char::is_whitespace));
    is_id.then(|| (id.trim(), outcome, message.trim()))
}

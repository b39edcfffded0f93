//! `cargo test`: a summary for each test binary, and what the compiler refused.

use super::{
    FileLine, Runner, TestOutcome,
    run::{Line, MAX_PLACES, Reader, Run, file_line},
};

/// Reads `cargo test`.
#[derive(Default)]
pub(super) struct Cargo {
    /// The name of the binary that runs, as cargo announced it.
    binary: String,
    /// Headers `running N tests` since the last summary. Tests can print such lines too, so the summary chooses.
    open: Vec<(usize, u64)>,
    tests: Vec<(String, TestOutcome)>,
    /// Every target is compiled before the first one runs.
    has_run: bool,
    /// The compiler's errors since the last summary of a target: the first one, and where they are.
    error: Option<String>,
    is_error: bool,
    places: Vec<FileLine>,
}

/// How many headers without a summary are remembered.
const MAX_HEADERS: usize = 32;

impl Reader for Cargo {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if let Some(name) = binary(text) {
            name.clone_into(&mut self.binary);
            self.has_run = true;
        } else if let Some(count) = announced(text) {
            self.has_run = true;
            if self.open.len() < MAX_HEADERS {
                self.open.push((line.at, count));
            }
        } else if let Some(counts) = text.strip_prefix("test result: ").and_then(result) {
            self.close(line.at, counts, runs);
        } else if let Some(what) = text.strip_prefix("error: could not compile `") {
            self.not_compiled(line.at, what, runs);
        } else if text.starts_with("error") || text.starts_with("warning") {
            self.is_error = text.starts_with("error");
            if self.is_error {
                self.error.get_or_insert_with(|| text.trim().to_owned());
            }
        } else if let Some(place) = text.trim_start().strip_prefix("--> ") {
            // The first place belongs to the error, others to notes.
            if std::mem::take(&mut self.is_error) && self.places.len() < MAX_PLACES {
                self.places.extend(file_line(place));
            }
        } else if !self.open.is_empty()
            && let Some((name, outcome)) = test(text)
        {
            let name = name.split(" (line ").next().unwrap_or(name);
            self.tests.push((format!("{} {name}", self.binary).trim().to_owned(), outcome));
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

impl Cargo {
    fn close(&mut self, at: usize, counts: [u64; 4], runs: &mut Vec<Run>) {
        let [passed, failed, ignored, measured] = counts;
        let sum = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
        let Some((first, _)) = self.open.iter().find(|(_, announced)| *announced == sum) else { return };
        let mut run = Run::new(Runner::Cargo, *first);
        run.last = at;
        run.counts.passed = passed.saturating_add(measured);
        run.counts.failed = failed;
        run.counts.skipped = ignored;
        run.other_failures = failed;
        for (name, outcome) in std::mem::take(&mut self.tests) {
            run.name(name, outcome);
        }
        runs.push(run);
        self.open.clear();
    }

    fn not_compiled(&mut self, at: usize, what: &str, runs: &mut Vec<Run>) {
        let mut run = Run::new(Runner::Cargo, at);
        let why = self.error.take().unwrap_or_else(|| "it does not compile".to_owned());
        run.load_error(what.replace('`', "").split(" due to").next().unwrap_or_default(), why);
        run.error_at(std::mem::take(&mut self.places));
        // A test printed it.
        run.other_failures = u64::from(self.has_run);
        runs.push(run);
    }
}

/// `Running tests/whole.rs (target/debug/deps/whole-66a0914be5a5b8fb)`, `Doc-tests pass`.
fn binary(text: &str) -> Option<&str> {
    let text = text.trim_start();
    if let Some(name) = text.strip_prefix("Doc-tests ") {
        return Some(name);
    }
    let file = text.strip_prefix("Running ")?.strip_suffix(')')?.rsplit('/').next()?;
    let name = file.strip_suffix(".exe").unwrap_or(file);
    Some(name.rsplit_once('-').map_or(name, |(name, _)| name))
}

/// `running 3 tests`
fn announced(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("running ")?;
    let count = rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"))?;
    count.parse().ok()
}

/// `ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.22s`
fn result(text: &str) -> Option<[u64; 4]> {
    let rest = text.strip_prefix("ok. ").or_else(|| text.strip_prefix("FAILED. "))?;
    let mut counts = rest.split("; ").zip(["passed", "failed", "ignored", "measured"]).map(|(part, word)| {
        let (count, what) = part.split_once(' ')?;
        (what == word).then(|| count.parse().ok()).flatten()
    });
    Some([counts.next()??, counts.next()??, counts.next()??, counts.next()??])
}

/// `test tests::adds ... ok`, and `tests::wrong --- FAILED` of a quiet run.
fn test(text: &str) -> Option<(&str, TestOutcome)> {
    if let Some(name) = text.strip_suffix(" --- FAILED") {
        return Some((name, TestOutcome::Failed));
    }
    let (name, outcome) = text.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let outcome = match outcome.split([',', ' ']).next()? {
        "ok" => TestOutcome::Passed,
        "FAILED" => TestOutcome::Failed,
        "ignored" => TestOutcome::Skipped,
        _ => return None,
    };
    Some((name.strip_suffix(" - should panic").unwrap_or(name), outcome))
}

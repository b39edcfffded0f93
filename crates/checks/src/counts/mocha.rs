//! `mocha`: a tree of tests, a summary, and then what failed.

use super::{
    Runner, TestOutcome,
    run::{Line, Reader, Run, file_line},
};

/// Reads mocha.
#[derive(Default)]
pub(super) struct Mocha {
    blocks: Vec<(usize, String)>,
    tests: Vec<(String, TestOutcome)>,
    /// The run whose summary was read and whose failures may follow.
    run: Option<Run>,
    /// The next lines may be `2 pending` and `1 failing`.
    in_summary: bool,
    failure: Failure,
    /// A run that ended before its tests; the file that was loaded follows.
    exception: Option<Run>,
}

/// Where in the list of failures a line is.
#[derive(Default)]
enum Failure {
    #[default]
    Outside,
    /// The title can go over several lines and ends with a colon.
    Title(String),
    /// The error comes next.
    Error(String),
    /// The first place of the stack is the test's.
    Stack,
}

/// Between a file and the title of a test.
const FILE_MARK: &str = " › ";

const MAX_DEPTH: usize = 50;

impl Reader for Mocha {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if line.before.trim().is_empty()
            && let Some(passed) = passing(text)
        {
            self.close(runs);
            let mut run = Run::new(Runner::Mocha, line.at);
            run.counts.passed = passed;
            for (id, outcome) in std::mem::take(&mut self.tests) {
                run.name(id, outcome);
            }
            self.run = Some(run);
            self.in_summary = true;
            self.blocks.clear();
        } else if let Some(error) = text.trim_start().strip_prefix("Exception during run: ") {
            let mut run = Run::new(Runner::Mocha, line.at);
            run.load_error("", error);
            runs.extend(self.exception.replace(run));
        } else if self.exception.is_some() {
            self.required(text, runs);
        } else if self.in_summary {
            self.summary(line);
        } else if self.run.is_some() {
            self.failure(text);
        } else {
            self.listed(text);
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        self.close(runs);
    }
}

impl Mocha {
    fn close(&mut self, runs: &mut Vec<Run>) {
        runs.extend(self.exception.take());
        runs.extend(self.run.take());
        self.failure = Failure::Outside;
    }

    /// The line behind `Require stack:` names the file that could not be loaded.
    fn required(&mut self, text: &str, runs: &mut Vec<Run>) {
        let file = text.strip_prefix("- ");
        if let (Some(file), Some(run)) = (file, &mut self.exception)
            && let Some(error) = run.not_loaded.last_mut()
        {
            file.trim().clone_into(&mut error.what);
        }
        if text != "Require stack:" {
            runs.extend(self.exception.take());
        }
    }

    /// `at Context.<anonymous> (test/name.test.js:5:21)`: names the file of the last failure.
    fn stack(&mut self, text: &str) -> Failure {
        let Some(frame) = text.trim().strip_prefix("at ") else { return Failure::Stack };
        let place = frame.rsplit(' ').next().unwrap_or(frame).trim_matches(['(', ')']);
        if let (Some(place), Some(run)) = (file_line(place), &mut self.run)
            && let Some(error) = run.not_loaded.last_mut().filter(|error| !error.what.contains(FILE_MARK))
        {
            error.what = format!("{}{FILE_MARK}{}", place.file, error.what);
        }
        Failure::Outside
    }

    fn summary(&mut self, line: Line<'_>) {
        let Some(run) = &mut self.run else { return };
        let mut words = line.text.split_whitespace();
        let count = words.next().and_then(|count| count.parse::<u64>().ok());
        match (count, words.next()) {
            (Some(count), Some("pending")) => run.counts.skipped = count,
            (Some(count), Some("failing")) => run.counts.failed = count,
            _ => {
                self.in_summary = false;
                self.failure(line.text);
                return;
            }
        }
        run.last = line.at;
    }

    /// Takes a line of the list of failures, or of another run that begins.
    fn failure(&mut self, text: &str) {
        let numbered = text.strip_prefix("  ").and_then(numbered);
        self.failure = match std::mem::take(&mut self.failure) {
            _ if numbered.is_some() => titled(numbered.unwrap_or_default().to_owned()),
            Failure::Title(title) if text.trim().is_empty() => Failure::Title(title),
            Failure::Title(title) => titled(format!("{title} {}", text.trim())),
            Failure::Error(title) if text.trim().is_empty() => Failure::Error(title),
            Failure::Error(title) => {
                if let Some(run) = &mut self.run {
                    run.failed(title, text);
                }
                Failure::Stack
            }
            Failure::Stack => self.stack(text),
            Failure::Outside => {
                self.listed(text);
                Failure::Outside
            }
        };
    }

    fn listed(&mut self, text: &str) {
        let name = text.trim_start();
        let indent = text.len() - name.len();
        if indent < 2 || name.is_empty() {
            return;
        }
        self.blocks.retain(|(of_block, _)| *of_block < indent);
        let (outcome, name) = if let Some(name) = name.strip_prefix("✔ ").or_else(|| name.strip_prefix("✓ "))
        {
            (TestOutcome::Passed, name)
        } else if let Some(name) = name.strip_prefix("- ") {
            (TestOutcome::Skipped, name)
        } else if let Some(name) = numbered(name) {
            (TestOutcome::Failed, name)
        } else {
            if self.blocks.len() < MAX_DEPTH {
                self.blocks.push((indent, name.to_owned()));
            }
            return;
        };
        let name = match name.rsplit_once(" (") {
            Some((name, time)) if time.ends_with("ms)") => name,
            _ => name,
        };
        let blocks = self.blocks.iter().map(|(_, block)| block.as_str());
        let id: Vec<&str> = blocks.chain([name]).collect();
        if self.tests.len() < super::MAX_NAMED {
            self.tests.push((id.join(" "), outcome));
        }
    }
}

fn titled(title: String) -> Failure {
    match title.strip_suffix(':') {
        Some(title) => Failure::Error(title.to_owned()),
        None => Failure::Title(title),
    }
}

/// `  4 passing (12ms)`
fn passing(text: &str) -> Option<u64> {
    let (count, rest) = text.strip_prefix("  ")?.split_once(' ')?;
    let is_summary = rest.starts_with("passing (") && rest.ends_with(')');
    is_summary.then(|| count.parse().ok()).flatten()
}

/// `1) is wrong`
fn numbered(text: &str) -> Option<&str> {
    let (number, rest) = text.split_once(") ")?;
    number.parse::<u32>().is_ok().then_some(rest)
}

//! The Test Anything Protocol, flat or nested, and the summaries of `prove` and `bats`.

use super::{
    Counts, Runner, TestOutcome,
    cause::is_load_error,
    node_test::is_file,
    run::{Line, Reader, Run, file_line},
};

/// Reads TAP.
#[derive(Default)]
pub(super) struct Tap {
    document: Option<Document>,
    /// A document was seen since `prove` began: its summary says nothing new.
    was_verbose: bool,
    /// What `prove` said of files with failures.
    failed: u64,
    /// The tests of `bats` with its output for people.
    pretty: Vec<(String, TestOutcome)>,
}

/// One stream of test points, between two plans or versions.
struct Document {
    run: Run,
    is_tap: bool,
    planned: Option<u64>,
    /// Points that were seen at the outermost level.
    points: u64,
    /// The depth of the last point, to tell a test from a group of tests.
    depth: usize,
    /// Counted by node itself: it knows which points are suites.
    node: Option<Counts>,
    comment: Option<String>,
    last: Option<(String, TestOutcome)>,
    /// The file of the last point.
    location: String,
    empty_files: u64,
}

impl Document {
    fn new(at: usize) -> Self {
        Self {
            run: Run::new(Runner::Tap, at),
            is_tap: false,
            planned: None,
            points: 0,
            depth: 0,
            node: None,
            comment: None,
            last: None,
            location: String::new(),
            empty_files: 0,
        }
    }

    fn is_complete(&self) -> bool {
        self.planned.is_some_and(|planned| self.points >= planned)
    }
}

impl Reader for Tap {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if text.starts_with("TAP version ") {
            self.close(runs);
            self.open(line.at).is_tap = true;
        } else if let Some(planned) = plan(text) {
            if self.document.as_ref().is_some_and(|document| document.planned.is_some()) {
                self.close(runs);
            }
            let document = self.open(line.at);
            document.planned = Some(planned);
            document.is_tap = true;
            document.run.last = line.at;
        } else if let Some(point) = point(text) {
            if point.number == Some(1) && point.depth == 0 && self.is_complete() {
                self.close(runs);
            }
            self.open(line.at).point(line.at, &point);
        } else if let Some(document) = &mut self.document {
            document.other(line);
        }
        self.prove(line, runs);
        self.bats(line, runs);
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        self.close(runs);
    }
}

impl Tap {
    fn is_complete(&self) -> bool {
        self.document.as_ref().is_some_and(Document::is_complete)
    }

    fn open(&mut self, at: usize) -> &mut Document {
        self.document.get_or_insert_with(|| Document::new(at))
    }

    fn close(&mut self, runs: &mut Vec<Run>) {
        let Some(mut document) = self.document.take() else { return };
        if !document.is_tap {
            return;
        }
        document.end_point();
        if let Some(counts) = document.node {
            document.run.runner = Runner::NodeTest;
            for error in &mut document.run.not_loaded {
                error.runner = Runner::NodeTest;
            }
            document.run.counts = counts;
            document.run.counts.passed = counts.passed.saturating_sub(document.empty_files);
        }
        self.was_verbose = true;
        runs.push(document.run);
    }

    /// `Files=2, Tests=5,  0 wallclock secs ...`
    fn prove(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        if let Some(rest) = line.text.strip_prefix("Failed ")
            && let Some((failed, _)) = rest.strip_suffix(" subtests ").and_then(|rest| rest.split_once('/'))
        {
            self.failed = self.failed.saturating_add(failed.parse().unwrap_or_default());
        }
        let tests = line.text.strip_prefix("Files=").and_then(|rest| rest.split_once(", Tests="));
        let Some((_, rest)) = tests else { return };
        self.close(runs);
        let tests: Option<u64> = rest.split(',').next().and_then(|tests| tests.parse().ok());
        let failed = std::mem::take(&mut self.failed);
        if let Some(tests) = tests.filter(|_| !std::mem::take(&mut self.was_verbose)) {
            let mut run = Run::new(Runner::Tap, line.at);
            run.counts = Counts { passed: tests.saturating_sub(failed), failed, skipped: 0 };
            runs.push(run);
        }
    }

    /// ` ✓ adds`, and at last `2 tests, 0 failures, 1 skipped`.
    fn bats(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if let Some(name) = text.strip_prefix(" ✓ ") {
            self.pretty.push((name.to_owned(), TestOutcome::Passed));
        } else if let Some(name) = text.strip_prefix(" ✗ ") {
            self.pretty.push((name.to_owned(), TestOutcome::Failed));
        } else if let Some(name) = text.strip_prefix(" - ").and_then(|name| name.split_once(" (skipped")) {
            self.pretty.push((name.0.to_owned(), TestOutcome::Skipped));
        } else if line.before.is_empty()
            && let Some(counts) = pretty_counts(text)
        {
            let mut run = Run::new(Runner::Tap, line.at);
            run.counts = counts;
            for (id, outcome) in std::mem::take(&mut self.pretty) {
                run.name(id, outcome);
            }
            runs.push(run);
        }
        if self.pretty.len() > super::MAX_NAMED {
            self.pretty.clear();
        }
    }
}

impl Document {
    fn point(&mut self, at: usize, point: &Point<'_>) {
        let is_group = point.opens || (point.depth < self.depth && self.run.counts.total() > 0);
        // A point that comes after deeper ones is the group that they were in.
        if point.depth == 0 {
            self.points += 1;
        }
        self.end_point();
        self.location.clear();
        self.depth = if point.opens { 0 } else { point.depth };
        self.run.last = at;
        if is_group {
            self.comment = None;
            return;
        }
        if is_file(point.name) && point.outcome == TestOutcome::Passed {
            self.empty_files += 1;
            return;
        }
        if point.outcome == TestOutcome::Failed
            && let Some(comment) = self.comment.take()
        {
            self.run.load_error(point.name, comment);
        }
        self.last = Some((point.name.to_owned(), point.outcome));
    }

    fn end_point(&mut self) {
        if let Some((name, outcome)) = self.last.take() {
            self.run.count(name, outcome);
        }
    }

    /// Takes a comment or a line of the block behind a point.
    fn other(&mut self, line: Line<'_>) {
        let text = line.text.trim_start();
        if let Some(comment) = text.strip_prefix("# ") {
            self.comment(line.at, comment);
        } else if let Some(error) = text.strip_prefix("error: ") {
            let error = error.trim_matches(['\'', '"']);
            if let Some((name, TestOutcome::Failed)) = &self.last {
                // A whole file was told by the comment above it.
                if !is_file(name) {
                    self.run.failed(format!("{} {name}", self.location).trim(), error);
                } else if self.run.not_loaded.last().is_none_or(|told| told.what != *name) {
                    self.run.other_failures += 1;
                }
            }
        } else if let Some(place) = text.strip_prefix("location: ") {
            let place = file_line(place.trim_matches(['\'', '"']));
            self.location = place.map(|place| place.file).unwrap_or_default();
        }
    }

    fn comment(&mut self, at: usize, comment: &str) {
        let missing_helper = comment.contains("bats_load_safe: Could not find");
        if missing_helper && let Some((name, TestOutcome::Failed)) = &self.last {
            self.run.load_error(name.clone(), comment);
        } else if is_load_error(comment) {
            self.comment = Some(comment.to_owned());
        }
        let Some((word, count)) = comment.split_once(' ') else { return };
        let Ok(count) = count.trim().parse::<u64>() else { return };
        if word == "suites" {
            self.node = Some(Counts::default());
        }
        let Some(counts) = &mut self.node else { return };
        self.run.last = at;
        match word {
            "pass" => counts.passed = count,
            "fail" | "cancelled" => counts.failed = counts.failed.saturating_add(count),
            "skipped" | "todo" => counts.skipped = counts.skipped.saturating_add(count),
            _ => {}
        }
    }
}

struct Point<'a> {
    depth: usize,
    number: Option<u64>,
    name: &'a str,
    outcome: TestOutcome,
    /// `{` follows: the tests of this group come next.
    opens: bool,
}

/// `1..6`, also with a reason to skip all.
fn plan(text: &str) -> Option<u64> {
    let rest = text.strip_prefix("1..")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// `not ok 2 - two # TODO not done`
fn point(text: &str) -> Option<Point<'_>> {
    let line = text.trim_start_matches(' ');
    let depth = (text.len() - line.len()) / 4;
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    let rest = rest.strip_prefix(' ')?;
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let number = rest[..digits].parse().ok();
    if number.is_none() && !rest.starts_with("- ") {
        return None;
    }
    let name = rest[digits..].trim_start().trim_start_matches("- ").trim_end();
    let (name, opens) = match name.strip_suffix(" {") {
        Some(name) => (name, true),
        None => (name, false),
    };
    let (name, note) = name.split_once(" # ").unwrap_or((name, ""));
    let note = note.to_ascii_lowercase();
    let outcome = match is_ok {
        _ if note.starts_with("skip") || note.starts_with("todo") => TestOutcome::Skipped,
        true => TestOutcome::Passed,
        false => TestOutcome::Failed,
    };
    Some(Point { depth, number, name, outcome, opens })
}

fn pretty_counts(text: &str) -> Option<Counts> {
    let mut parts = text.split(", ");
    let number = |part: &str, words: [&str; 2]| {
        let (count, what) = part.split_once(' ')?;
        words.contains(&what).then(|| count.parse::<u64>().ok()).flatten()
    };
    let total = number(parts.next()?, ["tests", "test"])?;
    let failed = number(parts.next()?, ["failures", "failure"])?;
    let skipped = parts.next().and_then(|part| number(part, ["skipped", "skipped"])).unwrap_or_default();
    Some(Counts { passed: total.saturating_sub(failed.saturating_add(skipped)), failed, skipped })
}

//! `phpunit`.

use super::{
    Runner, TestOutcome,
    cause::is_load_error,
    run::{Line, Reader, Run},
};

/// Reads phpunit.
#[derive(Default)]
pub(super) struct Phpunit {
    run: Option<Run>,
    /// The list that numbered tests belong to is one of failures.
    lists_failures: bool,
    failing: Option<String>,
    class: String,
}

impl Reader for Phpunit {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if text.starts_with("PHPUnit ") && text.contains(" by Sebastian Bergmann") {
            *self = Self { run: Some(Run::new(Runner::Phpunit, line.at)), ..Self::default() };
            return;
        }
        let Some(run) = &mut self.run else { return };
        if let Some(counts) = totals(line) {
            let [tests, failed, skipped] = counts;
            run.counts.failed = failed;
            run.counts.skipped = skipped;
            run.counts.passed = tests.saturating_sub(failed.saturating_add(skipped));
            run.last = line.at;
            runs.extend(self.run.take());
            return;
        }
        if text.starts_with("There was ") || text.starts_with("There were ") {
            self.lists_failures = ["error", "failure"].iter().any(|word| text.contains(word));
        } else if let Some(name) = numbered(text).filter(|_| self.lists_failures) {
            run.name(name, TestOutcome::Failed);
            self.failing = Some(name.to_owned());
        } else if let Some(name) = self.failing.take_if(|_| !text.is_empty()) {
            if is_load_error(text) {
                run.load_error(name, text);
            }
        } else if let Some((outcome, name)) = sentence(text) {
            run.name(format!("{} {name}", self.class), outcome);
        } else if !text.is_empty() && !text.starts_with(' ') {
            text.clone_into(&mut self.class);
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

/// `OK (3 tests, 3 assertions)`, or the line below `ERRORS!`; tests, failed ones, and those that asserted nothing.
fn totals(line: Line<'_>) -> Option<[u64; 3]> {
    if line.text == "No tests executed!" {
        return Some([0; 3]);
    }
    if let Some(rest) = line.text.strip_prefix("OK (") {
        let tests = rest.split(' ').next()?.parse().ok()?;
        return (line.before.is_empty() && rest.ends_with(')')).then_some([tests, 0, 0]);
    }
    let list = line.text.strip_prefix("Tests: ")?.trim_end_matches('.');
    if !list.contains("Assertions: ") {
        return None;
    }
    let (tests, rest) = list.split_once(", ")?;
    let mut counts = [tests.parse().ok()?, 0, 0];
    for part in rest.split(", ") {
        let (what, count) = part.split_once(": ")?;
        let count = count.parse::<u64>().ok()?;
        match what {
            "Errors" | "Failures" => counts[1] = u64::saturating_add(counts[1], count),
            // A risky test performed no assertion.
            "Skipped" | "Incomplete" | "Risky" => counts[2] = u64::saturating_add(counts[2], count),
            _ => {}
        }
    }
    Some(counts)
}

/// `1) FailTest::testRaises`
fn numbered(text: &str) -> Option<&str> {
    let (number, name) = text.split_once(") ")?;
    (number.parse::<u32>().is_ok() && name.contains("::")).then_some(name)
}

/// ` ✔ Adds` of `--testdox`.
fn sentence(text: &str) -> Option<(TestOutcome, &str)> {
    let (mark, name) = text.strip_prefix(' ')?.split_once(' ')?;
    let outcome = match mark {
        "✔" => TestOutcome::Passed,
        "✘" => TestOutcome::Failed,
        "↩" | "∅" | "☢" => TestOutcome::Skipped,
        _ => return None,
    };
    Some((outcome, name))
}

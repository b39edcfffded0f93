//! `cargo nextest run`.

use super::{
    Runner, TestOutcome,
    run::{Line, Reader, Run},
};

/// Reads nextest.
#[derive(Default)]
pub(super) struct Nextest {
    run: Option<Run>,
}

impl Reader for Nextest {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text.trim_start();
        if text.starts_with("Nextest run ID ") {
            self.run = Some(Run::new(Runner::Nextest, line.at));
            return;
        }
        // A compiler error comes before the run, in the words of cargo.
        let Some(run) = &mut self.run else { return };
        if let Some(summary) = text.strip_prefix("Summary [") {
            if let Some((_, summary)) = summary.split_once("] ") {
                summarize(run, summary);
            }
            run.other_failures = run.counts.failed;
            run.last = line.at;
            runs.extend(self.run.take());
            return;
        }
        if let Some((name, outcome)) = test(text) {
            // A test that is tried again is named again, and the last time counts.
            run.name(name, outcome);
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

/// `2/3 tests run: 1 passed (1 flaky), 1 failed, 1 timed out, 0 skipped`
fn summarize(run: &mut Run, summary: &str) {
    let Some((_, parts)) = summary.split_once(" run: ") else { return };
    // What stands in brackets says more about a number that is there already.
    let mut plain = String::new();
    let mut depth = 0_u32;
    for letter in parts.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    for part in plain.split(',') {
        let Some((count, what)) = part.trim().split_once(' ') else { continue };
        let Ok(count) = count.parse::<u64>() else { continue };
        match what.trim() {
            "passed" => run.counts.passed += count,
            "skipped" => run.counts.skipped += count,
            _ => run.counts.failed = run.counts.failed.saturating_add(count),
        }
    }
}

/// `PASS [   0.047s] (1/3) pass::whole whole`, `TRY 2 FAIL [   0.028s] (2/3) fails tests::result`
fn test(text: &str) -> Option<(String, TestOutcome)> {
    let (status, rest) = text.split_once(" [")?;
    let outcome = match status.rsplit(' ').next()? {
        "PASS" | "LEAK" => TestOutcome::Passed,
        "FAIL" | "TIMEOUT" | "ABORT" | "SIGSEGV" | "SIGABRT" | "SIGKILL" | "XFAIL" => TestOutcome::Failed,
        _ => return None,
    };
    let (_, name) = rest.split_once("] ")?;
    let name = name.trim_start();
    let name = match name.strip_prefix('(') {
        Some(rest) => rest.split_once(") ")?.1,
        None => name,
    };
    Some((name.trim().to_owned(), outcome))
}

//! `dotnet test` with `VSTest` and with `Microsoft.Testing.Platform`.
//!
//! Its recordings are written by hand: the program was not at hand.

use super::{
    Counts, Runner, TestOutcome,
    run::{Line, Reader, Run},
};

/// Reads dotnet test.
#[derive(Default)]
pub(super) struct Dotnet {
    tests: Vec<(String, TestOutcome)>,
    first: Option<usize>,
    /// `Test run summary: Failed!` and the numbers below it.
    platform: Option<Run>,
    /// Assemblies have been counted one by one; the summary over all of them says it again.
    has_assemblies: bool,
}

impl Reader for Dotnet {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text.trim();
        if let Some(counts) = assembly(text) {
            self.has_assemblies = true;
            self.close(line.at, counts, runs);
        } else if let Some(counts) = text.strip_prefix("Test summary: ").and_then(terminal) {
            if !std::mem::take(&mut self.has_assemblies) {
                self.close(line.at, counts, runs);
            }
        } else if text.starts_with("Test run summary: ") {
            self.platform = Some(Run::new(Runner::Dotnet, line.at));
        } else if self.platform.is_some() {
            self.platform_line(line.at, text, runs);
        } else if let Some((name, outcome)) = test(line.text) {
            self.first.get_or_insert(line.at);
            self.tests.push((name.to_owned(), outcome));
        } else if is_compiler_error(text) {
            let mut run = Run::new(Runner::Other, line.at);
            run.load_error(text.split('(').next().unwrap_or_default(), text);
            runs.push(run);
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        runs.extend(self.platform.take());
    }
}

impl Dotnet {
    fn close(&mut self, at: usize, counts: Counts, runs: &mut Vec<Run>) {
        let mut run = Run::new(Runner::Dotnet, self.first.take().unwrap_or(at));
        run.last = at;
        run.counts = counts;
        for (name, outcome) in std::mem::take(&mut self.tests) {
            run.name(name, outcome);
        }
        runs.push(run);
    }

    fn platform_line(&mut self, at: usize, text: &str, runs: &mut Vec<Run>) {
        let Some(run) = &mut self.platform else { return };
        let Some((word, count)) = text.split_once(": ") else { return };
        let count = count.trim().parse::<u64>();
        match (word, count) {
            ("failed", Ok(count)) => run.counts.failed = count,
            ("succeeded" | "passed", Ok(count)) => run.counts.passed = count,
            ("skipped", Ok(count)) => run.counts.skipped = count,
            ("duration", _) => {
                run.last = at;
                runs.extend(self.platform.take());
            }
            _ => {}
        }
    }
}

/// `Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3, Duration: 26 ms - Shop.Tests.dll (net9.0)`
fn assembly(text: &str) -> Option<Counts> {
    let (word, list) = text.split_once(" - ")?;
    if !matches!(word.trim(), "Passed!" | "Failed!" | "Skipped!") {
        return None;
    }
    let mut parts = list.split(", ");
    let mut number = |word: &str| {
        let count = parts.next()?.trim().strip_prefix(word)?.strip_prefix(':')?;
        count.trim().parse::<u64>().ok()
    };
    let (failed, passed, skipped) = (number("Failed")?, number("Passed")?, number("Skipped")?);
    number("Total")?;
    Some(Counts { passed, failed, skipped })
}

/// `total: 3; failed: 1; succeeded: 2; skipped: 0; duration: 1.2s`, also with commas.
fn terminal(text: &str) -> Option<Counts> {
    let mut counts = Counts::default();
    let mut has_total = false;
    for part in text.split([';', ',']) {
        let (word, count) = part.trim().split_once(": ")?;
        let count = count.trim().parse::<u64>();
        match (word, count) {
            ("total", Ok(_)) => has_total = true,
            ("failed", Ok(count)) => counts.failed = count,
            ("succeeded", Ok(count)) => counts.passed = count,
            ("skipped", Ok(count)) => counts.skipped = count,
            _ => {}
        }
    }
    has_total.then_some(counts)
}

/// `  Passed Shop.Tests.Adds [< 1 ms]`
fn test(text: &str) -> Option<(&str, TestOutcome)> {
    let (word, rest) = text.strip_prefix("  ")?.split_once(' ')?;
    let outcome = match word {
        "Passed" => TestOutcome::Passed,
        "Failed" => TestOutcome::Failed,
        "Skipped" => TestOutcome::Skipped,
        _ => return None,
    };
    let (name, time) = rest.rsplit_once(" [")?;
    (time.ends_with("s]")).then_some((name, outcome))
}

/// `/project/ShopTests.cs(9,13): error CS0246: The type or namespace name 'Basket' could not be found`
fn is_compiler_error(text: &str) -> bool {
    [": error CS", ": error FS", ": error BC"].iter().any(|code| text.contains(code))
}

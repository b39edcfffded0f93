//! `go test`: by test with `-v` and `-json`, by package without.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    FileLine, Runner, TestOutcome,
    run::{Line, MAX_PLACES, Reader, Run, file_line},
};

/// Reads go test.
#[derive(Default)]
pub(super) struct Go {
    /// The first line of a package that lists its tests.
    first: Option<usize>,
    /// Tests that began. What else prints `--- PASS` is none.
    running: BTreeSet<String>,
    tests: Vec<(String, TestOutcome)>,
    /// The last error of the compiler.
    error: String,
    /// Where the compiler found errors in the package.
    places: Vec<FileLine>,
    json: Option<Run>,
}

impl Reader for Go {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if text.starts_with('{') && text.contains("\"Action\":\"") {
            self.json_line(line);
        } else if let Some(name) = text.strip_prefix("=== RUN ") {
            self.first.get_or_insert(line.at);
            self.running.insert(name.trim().to_owned());
        } else if let Some((name, outcome)) = ended(text) {
            if self.running.remove(name) {
                self.tests.push((name.to_owned(), outcome));
            }
        } else if let Some(package) = package(line, self.first.is_some()) {
            self.close(line.at, package, runs);
        } else if is_compiler_error(text) {
            self.compiler_error(text);
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        if let Some(run) = &mut self.json {
            run.other_failures = run.counts.failed;
        }
        runs.extend(self.json.take());
    }
}

impl Go {
    fn close(&mut self, at: usize, (package, end): (&str, PackageEnd), runs: &mut Vec<Run>) {
        let lists_tests = self.first.is_some();
        let runner = if lists_tests { Runner::Go } else { Runner::GoPackages };
        let mut run = Run::new(runner, self.first.take().unwrap_or(at));
        run.last = at;
        for (name, outcome) in std::mem::take(&mut self.tests) {
            run.count(format!("{package}.{name}"), outcome);
        }
        // A test that panics takes the process with it and does not always get a line.
        for name in std::mem::take(&mut self.running) {
            if end == PackageEnd::Failed {
                run.count(format!("{package}.{name}"), TestOutcome::Failed);
            }
        }
        match end {
            PackageEnd::Passed if !lists_tests => run.count(package, TestOutcome::Passed),
            PackageEnd::Failed if !lists_tests => run.count(package, TestOutcome::Failed),
            PackageEnd::NotLoaded => self.not_built(&mut run, package.to_owned()),
            PackageEnd::Passed | PackageEnd::Failed | PackageEnd::Empty => {}
        }
        run.other_failures = run.counts.failed;
        runs.push(run);
    }

    fn compiler_error(&mut self, text: &str) {
        text.clone_into(&mut self.error);
        if self.places.len() < MAX_PLACES {
            self.places.extend(file_line(text));
        }
    }

    fn not_built(&mut self, run: &mut Run, package: String) {
        run.load_error(package, std::mem::take(&mut self.error));
        run.error_at(std::mem::take(&mut self.places));
    }

    fn json_line(&mut self, line: Line<'_>) {
        let Ok(event) = serde_json::from_str::<GoEvent>(line.text) else { return };
        let mut run = self.json.take().unwrap_or_else(|| Run::new(Runner::Go, line.at));
        run.last = line.at;
        self.json_event(&mut run, event);
        self.json = Some(run);
    }

    fn json_event(&mut self, run: &mut Run, event: GoEvent) {
        let outcome = match event.action.as_str() {
            "pass" => TestOutcome::Passed,
            "fail" => TestOutcome::Failed,
            "skip" => TestOutcome::Skipped,
            "build-output" => {
                if is_compiler_error(event.output.trim_end()) {
                    self.compiler_error(event.output.trim_end());
                }
                return;
            }
            _ => return,
        };
        match event.test {
            Some(test) => run.count(format!("{}.{test}", event.package), outcome),
            None if event.failed_build.is_some() => self.not_built(run, event.package),
            None => {}
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct GoEvent {
    action: String,
    #[serde(default)]
    package: String,
    test: Option<String>,
    #[serde(default)]
    output: String,
    failed_build: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PackageEnd {
    Passed,
    Failed,
    NotLoaded,
    /// There is nothing to run in it.
    Empty,
}

/// `--- PASS: TestAdd (0.00s)`, also behind what a test printed without a line feed.
fn ended(text: &str) -> Option<(&str, TestOutcome)> {
    let (_, rest) = text.rsplit_once("--- ")?;
    let (word, rest) = rest.split_once(": ")?;
    let outcome = match word {
        "PASS" => TestOutcome::Passed,
        "FAIL" => TestOutcome::Failed,
        "SKIP" => TestOutcome::Skipped,
        _ => return None,
    };
    let (name, time) = rest.rsplit_once(" (")?;
    time.ends_with("s)").then_some((name, outcome))
}

/// `ok`, `FAIL` or `?`, the package, and how long it took or what is wrong, with tabs between them.
fn package(line: Line<'_>, lists_tests: bool) -> Option<(&str, PackageEnd)> {
    let (word, rest) = line.text.split_once('\t')?;
    let (name, after) = rest.split_once(['\t', ' ']).unwrap_or((rest, ""));
    if name.is_empty() {
        return None;
    }
    let end = match word.trim_end() {
        "?" if after.contains("[no test files]") => PackageEnd::Empty,
        "FAIL" if after.contains("[build failed]") || after.contains("[setup failed]") => {
            PackageEnd::NotLoaded
        }
        "FAIL" => PackageEnd::Failed,
        // A test that prints such a line did not print `PASS` before it.
        "ok" if lists_tests && !["PASS", "coverage:"].iter().any(|word| line.before.starts_with(word)) => {
            return None;
        }
        "ok" if after.contains("[no tests to run]") => PackageEnd::Empty,
        "ok" => PackageEnd::Passed,
        _ => return None,
    };
    Some((name, end))
}

/// `./b_test.go:6:11: not enough arguments in call to Total`
fn is_compiler_error(text: &str) -> bool {
    let Some((file, rest)) = text.split_once(".go:") else { return false };
    !file.contains(char::is_whitespace) && rest.starts_with(|first: char| first.is_ascii_digit())
}

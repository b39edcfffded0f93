//! `JUnit` XML, as files and as it is printed.
//!
//! Only test cases count. Totals in the attributes of suites are not read: who writes one can write the other, and not
//! every tool adds up the same things.

use super::{
    Runner, TestOutcome, TestReport,
    cause::is_load_error,
    run::{Line, Reader, Run},
};

/// Reads a report file.
pub fn read_junit(bytes: &[u8]) -> TestReport {
    let mut report = TestReport::default();
    let text = String::from_utf8_lossy(bytes);
    if let Some(run) = read(&text, 0) {
        report.take(run);
    }
    report
}

/// Reads reports that are printed among other lines.
#[derive(Default)]
pub(super) struct JunitLines {
    text: String,
    first: Option<usize>,
    root: &'static str,
}

/// Of a report that is printed, this much is read.
const MAX_PRINTED: usize = 8 << 20;

impl Reader for JunitLines {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        if self.first.is_none() {
            let start = line.text.trim_start();
            self.root = match start {
                _ if start.starts_with("<testsuites") => "</testsuites>",
                _ if start.starts_with("<testsuite") => "</testsuite>",
                _ => return,
            };
            self.first = Some(line.at);
        }
        if self.text.len() + line.text.len() < MAX_PRINTED {
            self.text.push_str(line.text);
            self.text.push('\n');
        }
        if line.text.trim_end().ends_with(self.root) {
            let first = self.first.take().unwrap_or(line.at);
            if let Some(mut run) = read(&std::mem::take(&mut self.text), first) {
                run.last = line.at;
                runs.push(run);
            }
        }
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

/// A test case that is open.
struct Case {
    id: String,
    outcome: TestOutcome,
    error: Option<String>,
}

fn read(text: &str, first: usize) -> Option<Run> {
    let mut run = Run::new(Runner::Junit, first);
    let mut case: Option<Case> = None;
    let mut is_report = false;
    let mut tags = Tags { rest: text };
    while let Some(tag) = tags.next_tag() {
        match tag.name {
            "testsuites" | "testsuite" => is_report = true,
            "testcase" => {
                close(&mut run, case.take());
                case = Some(open(&tag));
            }
            "/testcase" => close(&mut run, case.take()),
            "failure" | "error" | "rerunFailure" => {
                let Some(case) = &mut case else { continue };
                // A risky test of phpunit performed no assertion.
                if tag.attribute("type").is_some_and(|kind| kind.contains("RiskyTest")) {
                    case.outcome = TestOutcome::Skipped;
                    continue;
                }
                case.outcome = TestOutcome::Failed;
                case.error = Some(error(&tag, tags.rest));
            }
            "skipped" => {
                if let Some(case) = case.as_mut().filter(|case| case.outcome == TestOutcome::Passed) {
                    case.outcome = TestOutcome::Skipped;
                }
            }
            _ => {}
        }
    }
    close(&mut run, case.take());
    is_report.then_some(run)
}

fn open(tag: &Tag<'_>) -> Case {
    let name = tag.attribute("name").unwrap_or_default();
    let class = tag.attribute("classname").unwrap_or_default();
    let id = if class.is_empty() { name } else { format!("{class}.{name}") };
    // ctest says how a test ended in an attribute.
    let outcome = match tag.attribute("status").as_deref() {
        Some("disabled" | "notrun" | "skipped") => TestOutcome::Skipped,
        Some("fail" | "failed") => TestOutcome::Failed,
        _ => TestOutcome::Passed,
    };
    Case { id, outcome, error: None }
}

fn close(run: &mut Run, case: Option<Case>) {
    let Some(case) = case else { return };
    match case.error {
        Some(error) if is_not_loaded(&error, &case.id) => run.load_error(case.id.clone(), error),
        _ if case.outcome == TestOutcome::Failed => run.other_failures += 1,
        _ => {}
    }
    run.count(case.id, case.outcome);
}

fn is_not_loaded(error: &str, id: &str) -> bool {
    // pytest wraps the error of a fixture.
    let said = error.strip_prefix("failed on setup with ").map_or(error, |said| said.trim_matches('"'));
    let is_fixture = said.contains("fixture '") && said.contains("' not found");
    // node has a test case for a file that ended before its tests.
    let is_whole_file = error == "test failed" && super::node_test::is_file(id);
    error.starts_with("collection failure") || is_fixture || is_whole_file || is_load_error(said)
}

/// The kind of the error and its message, or the first line of what stands inside.
fn error(tag: &Tag<'_>, inside: &str) -> String {
    let message = tag.attribute("message").unwrap_or_default();
    let kind = tag.attribute("type").unwrap_or_default();
    let inside = inside.trim_start().trim_start_matches("<![CDATA[").trim_start();
    let first = inside.lines().next().unwrap_or_default().split("</").next().unwrap_or_default();
    if message.is_empty() {
        return unescape(first);
    }
    let is_kind = kind.ends_with("Error") || kind.ends_with("Exception");
    if is_kind && kind != "Error" && !message.contains(kind.as_str()) {
        return format!("{kind}: {message}");
    }
    message
}

/// One tag of an XML document.
struct Tag<'a> {
    /// With its slash when it closes.
    name: &'a str,
    attributes: &'a str,
}

impl Tag<'_> {
    fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            let (key, after) = rest.split_once('=')?;
            let after = after.trim_start();
            let quote = after.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let (value, next) = after[1..].split_once(quote)?;
            if key.trim() == name {
                return Some(unescape(value));
            }
            rest = next;
        }
    }
}

/// The tags of a document, one after the other; comments, declarations and texts are passed over.
struct Tags<'a> {
    rest: &'a str,
}

impl<'a> Tags<'a> {
    fn next_tag(&mut self) -> Option<Tag<'a>> {
        loop {
            let at = self.rest.find('<')?;
            let rest = &self.rest[at..];
            let passed = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
            if let Some((_, end)) = passed.iter().find(|(start, _)| rest.starts_with(start)) {
                let length = rest.find(end)? + end.len();
                self.rest = &rest[length..];
                continue;
            }
            let end = end_of_tag(rest)?;
            self.rest = &rest[end + 1..];
            let inner = rest[1..end].trim_end_matches('/');
            let (name, attributes) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
            return Some(Tag { name, attributes });
        }
    }
}

/// Where the `>` is that ends this tag: one in quotes does not.
fn end_of_tag(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let named =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#10;", "\n"), ("&amp;", "&")];
    named.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

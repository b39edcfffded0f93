//! `rspec`.

use super::{
    Runner, TestOutcome,
    cause::is_load_error,
    run::{Line, Reader, Run},
};

/// Reads rspec.
#[derive(Default)]
pub(super) struct Rspec {
    first: Option<usize>,
    tests: Vec<(String, TestOutcome)>,
    /// The list that numbered titles belong to.
    list: Option<TestOutcome>,
    /// A failed example, and the kind of its error: the message is on the next line.
    failing: Option<(String, Option<String>)>,
    not_loaded: Vec<(String, String)>,
    /// A file that could not be loaded, until its error comes.
    loading: Option<String>,
    /// The tree of `--format documentation`: a line is an example when nothing deeper follows it.
    tree: Vec<(usize, String)>,
}

const MAX_DEPTH: usize = 50;

impl Reader for Rspec {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = line.text;
        if line.before.starts_with("Finished in ")
            && let Some(counts) = counts(text)
        {
            self.close(line.at, counts, runs);
            return;
        }
        if let Some(file) = text.strip_prefix("An error occurred while loading ") {
            self.first.get_or_insert(line.at);
            self.loading = Some(file.trim_end_matches('.').to_owned());
            // No tree of examples follows.
            self.list = Some(TestOutcome::Failed);
            return;
        }
        match text {
            "Failures:" => self.begin(line.at, TestOutcome::Failed),
            text if text.starts_with("Pending:") => self.begin(line.at, TestOutcome::Skipped),
            text if self.list.is_some() => self.listed(text),
            text => self.tree_line(text),
        }
        self.error(text);
    }

    fn finish(&mut self, _: &mut Vec<Run>) {}
}

impl Rspec {
    fn begin(&mut self, at: usize, outcome: TestOutcome) {
        self.first.get_or_insert(at);
        self.end_of_tree();
        self.list = Some(outcome);
    }

    /// `  1) basket is wrong`
    fn listed(&mut self, text: &str) {
        let title = text.strip_prefix("  ").and_then(|text| text.split_once(") "));
        let Some((number, title)) = title else { return };
        let Some(outcome) = self.list.filter(|_| number.parse::<u32>().is_ok()) else { return };
        let title = title.trim_end_matches(" FIXED").to_owned();
        self.failing = (outcome == TestOutcome::Failed).then(|| (title.clone(), None));
        self.tests.push((title, outcome));
    }

    /// `     NameError:`, and on the next line `       uninitialized constant Basket`.
    fn error(&mut self, text: &str) {
        let trimmed = text.trim();
        if let Some(file) = &self.loading {
            if trimmed.ends_with(':') && !trimmed.contains(' ') {
                self.not_loaded.push((file.clone(), trimmed.trim_end_matches(':').to_owned()));
                self.loading = None;
            }
            return;
        }
        let Some((title, kind)) = &mut self.failing else { return };
        match kind {
            Some(kind) if !trimmed.is_empty() => {
                let error = format!("{kind} {trimmed}");
                if is_load_error(&error) {
                    self.not_loaded.push((std::mem::take(title), error));
                }
                self.failing = None;
            }
            None if trimmed.ends_with("Error:") && !trimmed.contains(' ') => *kind = Some(trimmed.to_owned()),
            _ => {}
        }
    }

    fn tree_line(&mut self, text: &str) {
        let name = text.trim_start();
        let indent = text.len() - name.len();
        if name.is_empty() || indent > 2 * MAX_DEPTH || !indent.is_multiple_of(2) {
            return self.end_of_tree();
        }
        // What was open and is not above this line was an example.
        if self.tree.last().is_some_and(|(of_last, _)| *of_last >= indent) {
            self.end_of_example();
        }
        self.tree.retain(|(of_node, _)| *of_node < indent);
        if indent == 0 || self.tree.last().is_some_and(|(of_last, _)| of_last + 2 == indent) {
            self.tree.push((indent, name.to_owned()));
        }
    }

    fn end_of_tree(&mut self) {
        self.end_of_example();
        self.tree.clear();
    }

    fn end_of_example(&mut self) {
        // A single line is no group with an example.
        let Some((1.., name)) = self.tree.last() else { return };
        let (name, outcome) = match name.split_once(" (PENDING: ").or_else(|| name.split_once(" (FAILED - "))
        {
            Some((name, _)) if self.tree.last().is_some_and(|(_, name)| name.contains(" (PENDING: ")) => {
                (name, TestOutcome::Skipped)
            }
            Some((name, _)) => (name, TestOutcome::Failed),
            None => (name.as_str(), TestOutcome::Passed),
        };
        let groups = self.tree[..self.tree.len() - 1].iter().map(|(_, group)| group.as_str());
        let id: Vec<&str> = groups.chain([name]).collect();
        if self.tests.len() < super::MAX_NAMED {
            self.tests.push((id.join(" "), outcome));
        }
    }

    fn close(&mut self, at: usize, [total, failed, pending, errors]: [u64; 4], runs: &mut Vec<Run>) {
        let mut run = Run::new(Runner::Rspec, self.first.take().unwrap_or(at));
        run.last = at;
        run.counts.failed = failed;
        run.counts.skipped = pending;
        run.counts.passed = total.saturating_sub(failed.saturating_add(pending));
        for (id, outcome) in std::mem::take(&mut self.tests) {
            run.name(id, outcome);
        }
        for (what, why) in std::mem::take(&mut self.not_loaded) {
            run.load_error(what, why);
        }
        if errors > 0 && run.not_loaded.is_empty() {
            run.load_error("outside of examples", "an error occurred outside of examples");
        }
        runs.push(run);
        *self = Self::default();
    }
}

/// `4 examples, 1 failure, 2 pending, 1 error occurred outside of examples`
fn counts(text: &str) -> Option<[u64; 4]> {
    let mut counts = [0; 4];
    for (at, part) in text.split(", ").enumerate() {
        let (count, what) = part.split_once(' ')?;
        let count = count.parse().ok()?;
        let index = match what {
            "examples" | "example" if at == 0 => 0,
            "failures" | "failure" => 1,
            "pending" => 2,
            what if what.starts_with("error") => 3,
            _ => return None,
        };
        counts[index] = count;
    }
    text.contains("example").then_some(counts)
}

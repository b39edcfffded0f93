//! Maven's surefire and failsafe plugins, module by module.

use super::{
    Runner, TestOutcome,
    cause::is_load_error,
    run::{Line, Reader, Run},
};

/// Reads surefire.
#[derive(Default)]
pub(super) struct Surefire {
    run: Option<Run>,
    /// The totals come after `Results:`.
    in_results: bool,
    failing: Option<String>,
}

impl Reader for Surefire {
    fn line(&mut self, line: Line<'_>, runs: &mut Vec<Run>) {
        let text = message(line.text);
        if is_goal(text) {
            // The goal before had nothing to run, or ended without a total.
            runs.extend(self.run.take());
            self.run = Some(Run::new(Runner::Surefire, line.at));
            self.in_results = false;
        } else if text == "T E S T S" {
            self.run.get_or_insert_with(|| Run::new(Runner::Surefire, line.at));
        } else if text == "Results:" || text == "Results :" {
            self.in_results = self.run.is_some();
        } else if text.starts_with("COMPILATION ERROR") {
            let mut run = Run::new(Runner::Surefire, line.at);
            run.load_error("test sources", "COMPILATION ERROR");
            runs.push(run);
        } else if let Some(run) = &mut self.run {
            if self.in_results
                && let Some([tests, failed, skipped]) = totals(text)
            {
                run.counts.failed = failed;
                run.counts.skipped = skipped;
                run.counts.passed = tests.saturating_sub(failed.saturating_add(skipped));
                run.last = line.at;
                runs.extend(self.run.take());
                self.in_results = false;
            } else if let Some(name) = failed(text) {
                run.name(name.clone(), TestOutcome::Failed);
                self.failing = Some(name);
            } else if let Some(name) = self.failing.take()
                && is_load_error(text)
            {
                run.load_error(name, text);
            }
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        runs.extend(self.run.take());
    }
}

/// What stands behind `[INFO]`.
fn message(text: &str) -> &str {
    let levels = ["[INFO]", "[WARNING]", "[ERROR]"];
    levels.iter().find_map(|level| text.strip_prefix(level)).unwrap_or(text).trim()
}

/// `--- maven-surefire-plugin:2.22.3:test (default-test) @ pass ---`, `--- surefire:3.5.4:test ...`
fn is_goal(text: &str) -> bool {
    let Some(goal) = text.strip_prefix("--- ") else { return false };
    let goal = goal.split(' ').next().unwrap_or_default();
    let is_plugin = ["maven-surefire-plugin:", "surefire:", "maven-failsafe-plugin:", "failsafe:"]
        .iter()
        .any(|plugin| goal.starts_with(plugin));
    is_plugin && (goal.ends_with(":test") || goal.ends_with(":integration-test"))
}

/// `Tests run: 4, Failures: 1, Errors: 2, Skipped: 0`
fn totals(text: &str) -> Option<[u64; 3]> {
    let mut counts = [0_u64; 4];
    let words = ["Tests run: ", "Failures: ", "Errors: ", "Skipped: "];
    let mut parts = text.split(", ");
    for (count, word) in counts.iter_mut().zip(words) {
        *count = parts.next()?.strip_prefix(word)?.parse().ok()?;
    }
    let [tests, failures, errors, skipped] = counts;
    parts.next().is_none().then_some([tests, failures.saturating_add(errors), skipped])
}

/// `raises(shop.ShopTest)  Time elapsed: 0.055 s  <<< ERROR!`, `shop.ShopTest.raises -- Time elapsed: ...`
fn failed(text: &str) -> Option<String> {
    if !text.ends_with("<<< ERROR!") && !text.ends_with("<<< FAILURE!") {
        return None;
    }
    let name = text.split("  Time elapsed").next()?.split(" -- Time elapsed").next()?;
    if name.starts_with("Tests run: ") {
        return None;
    }
    match name.split_once('(') {
        Some((method, class)) if class.ends_with(')') && class.contains('.') => {
            Some(format!("{}.{method}", class.trim_end_matches(')')))
        }
        _ => Some(name.to_owned()),
    }
}

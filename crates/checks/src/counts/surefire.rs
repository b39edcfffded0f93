//! Maven's surefire and failsafe plugins, module by module.

use super::{
    FileLine, Runner, TestOutcome,
    run::{Line, MAX_PLACES, Reader, Run, file_line},
};

/// Reads surefire.
#[derive(Default)]
pub(super) struct Surefire {
    run: Option<Run>,
    /// The totals come after `Results:`.
    in_results: bool,
    failing: Option<String>,
    /// A compiler that failed, and where.
    not_compiled: Option<(Run, Vec<FileLine>)>,
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
            run.load_error("test sources", text);
            self.not_compiled = Some((run, Vec::new()));
        } else if text.starts_with("BUILD FAILURE") {
            self.compiled(runs);
        } else if let Some((run, places)) = &mut self.not_compiled {
            compiler_error(run, places, text);
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
            } else if let Some(name) = self.failing.take() {
                run.failed(name, text);
            }
        }
    }

    fn finish(&mut self, runs: &mut Vec<Run>) {
        self.compiled(runs);
        runs.extend(self.run.take());
    }
}

impl Surefire {
    /// The errors of the compiler are over.
    fn compiled(&mut self, runs: &mut Vec<Run>) {
        if let Some((mut run, places)) = self.not_compiled.take() {
            run.error_at(places);
            runs.push(run);
        }
    }
}

/// `/project/src/test/java/shop/ShopTest.java:[12,13] cannot find symbol`, and `symbol:   class Basket` behind it.
fn compiler_error(run: &mut Run, places: &mut Vec<FileLine>, text: &str) {
    let Some(error) = run.not_loaded.last_mut() else { return };
    if let Some((place, message)) = text.split_once("] ")
        && let Some(place) = file_line(place)
    {
        if places.is_empty() {
            message.clone_into(&mut error.why);
        }
        if places.len() < MAX_PLACES {
            places.push(place);
        }
    } else if text.starts_with("symbol:") && places.len() == 1 {
        error.why = format!("{}: {text}", error.why);
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

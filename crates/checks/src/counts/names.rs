//! The tests that two outputs name, compared.
//!
//! Only outputs that name every test can be compared: many runners name no more than those that failed.

use std::collections::{BTreeMap, BTreeSet};

use super::{TestOutcome, TestReport};

/// Tests by name, each with how it ended.
pub type Names = BTreeMap<String, TestOutcome>;

/// What became of the tests that were named before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesCompared {
    /// Tests that are skipped and were not there before.
    pub new_skipped: u64,
    /// What tests are called that ran before and are not run under their name any more, with how many are still run
    /// that are called so. Cases of one test are one test.
    pub unrun: BTreeMap<String, usize>,
}

impl TestReport {
    /// The tests, if every one that was counted was named.
    pub fn all_names(&self) -> Option<&Names> {
        let total = self.total()?.total();
        (0 < total && total <= self.tests.len() as u64).then_some(&self.tests)
    }
}

/// Compares all tests of an output with all that there were before.
pub fn compare_names(before: &Names, after: &Names) -> NamesCompared {
    let is_new = |id: &String| !before.contains_key(id);
    let new_skipped =
        after.iter().filter(|(id, outcome)| **outcome == TestOutcome::Skipped && is_new(id)).count() as u64;
    let run = |tests: &Names| -> BTreeSet<String> {
        let run = tests.iter().filter(|(_, outcome)| **outcome != TestOutcome::Skipped);
        run.map(|(id, _)| without_case(id).to_owned()).collect()
    };
    let (ran, runs) = (run(before), run(after));
    // A test that is skipped is counted as such.
    let named: BTreeSet<&str> = after.keys().map(|id| without_case(id)).collect();
    let mut unrun = BTreeMap::new();
    for id in ran.iter().filter(|id| !named.contains(id.as_str())) {
        let name = function(id);
        let left = runs.iter().filter(|id| function(id) == name).count();
        unrun.insert(name.to_owned(), left);
    }
    NamesCompared { new_skipped, unrun }
}

/// What a test is called in its file, without what contains it and without its case.
///
/// ```
/// use ralph_checks::counts::function;
///
/// assert_eq!(function("tests/test_cart.py::TestCart::test_sum[1-2]"), "test_sum");
/// assert_eq!(function("test_cart.TestCart.test_sum"), "test_sum");
/// assert_eq!(function("shop cart::tests::sums"), "sums");
/// assert_eq!(function("example.com/cart.TestSum/of_two"), "TestSum");
/// assert_eq!(function("cart > adds up"), "adds up");
/// ```
pub fn function(id: &str) -> &str {
    let id = without_case(id);
    let last = ["::", " > ", " › "].iter().fold(id, |id, mark| id.rsplit(mark).next().unwrap_or(id));
    match last.find(".Test") {
        // A test in Go, perhaps with a part of it.
        Some(at) if last.contains('/') => last[at + 1..].split('/').next().unwrap_or(last),
        _ if last.contains(char::is_whitespace) => last,
        _ => last.rsplit('.').next().unwrap_or(last),
    }
}

/// The name of a test without the parameters that it was run with.
fn without_case(id: &str) -> &str {
    match id.find('[') {
        Some(at) if 0 < at && id.ends_with(']') => &id[..at],
        Some(_) | None => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tests: &[&str]) -> Names {
        let test = |test: &&str| match test.strip_prefix('-') {
            Some(skipped) => (skipped.to_owned(), TestOutcome::Skipped),
            None => ((*test).to_owned(), TestOutcome::Passed),
        };
        tests.iter().map(test).collect()
    }

    #[track_caller]
    fn check(before: &[&str], after: &[&str], new_skipped: u64, unrun: &[(&str, usize)]) {
        let compared = compare_names(&names(before), &names(after));
        assert_eq!(compared.new_skipped, new_skipped, "{before:?} {after:?}");
        let unrun: BTreeMap<String, usize> =
            unrun.iter().map(|(name, left)| ((*name).to_owned(), *left)).collect();
        assert_eq!(compared.unrun, unrun, "{before:?} {after:?}");
    }

    #[test]
    fn tests_that_are_gone_are_named_by_what_their_file_calls_them() {
        check(&["a.py::x", "a.py::y"], &["a.py::x", "a.py::y"], 0, &[]);
        check(&["a.py::x", "a.py::y"], &["a.py::x", "a.py::z"], 0, &[("y", 0)]);
        // Moved to another file.
        check(&["a.py::x"], &["b.py::x"], 0, &[("x", 1)]);
        // Other cases of the same test.
        check(&["a.py::x[1]", "a.py::x[2]"], &["a.py::x[3]"], 0, &[]);
        check(&["m::x", "n::x"], &["m::x"], 0, &[("x", 1)]);
        check(&["-a.py::x"], &["a.py::y"], 0, &[]);
    }

    #[test]
    fn skips_of_new_tests_take_nothing_away() {
        check(&["x"], &["x", "-y"], 1, &[]);
        check(&["x"], &["-x", "-y"], 1, &[]);
        check(&["x", "-y"], &["x", "-y"], 0, &[]);
    }

    #[test]
    fn an_output_that_names_only_failures_names_not_all() {
        let mut report = crate::counts::read_output(
            b"running 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n",
        );
        assert_eq!(report.total().map(|counts| counts.passed), Some(2));
        report.tests = names(&["x"]);
        assert_eq!(report.all_names(), None);
        report.tests = names(&["x", "y"]);
        assert_eq!(report.all_names(), Some(&names(&["x", "y"])));
        assert_eq!(TestReport::default().all_names(), None);
    }
}

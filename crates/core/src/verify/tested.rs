//! How many tests a guardrail ran, and whether that is less than before the first iteration.
//!
//! Counts are printed by the process that runs the agent's code, so they can be forged: they raise a finding and never
//! clear one.

use std::collections::BTreeMap;

use ralph_checks::counts::{Counts, Runner};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the test runners of a guardrail said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tested {
    /// What each of them counted.
    pub counts: BTreeMap<Runner, Counts>,
    /// Tests that are skipped and were not there before the first iteration, where every test is named.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub new_skipped: u64,
    /// Tests that ran before the first iteration, are in the files, and did not run; some of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unrun: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Fewer tests than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "loss", rename_all = "snake_case")]
pub enum TestLoss {
    /// No runner says how many there were.
    NoSummary {
        /// How many ran.
        before: u64,
    },
    /// None ran.
    NoneRan {
        /// How many ran.
        before: u64,
    },
    /// Some do not run any more.
    Fewer {
        /// How many ran.
        before: u64,
        /// How many run.
        after: u64,
    },
    /// Some are skipped.
    MoreSkipped {
        /// How many were.
        before: u64,
        /// How many are, without those that are new.
        after: u64,
    },
    /// It passes although its runner says that some failed.
    Failed {
        /// How many failed when it passed before.
        before: u64,
        /// How many fail.
        after: u64,
    },
    /// Some are in the files and do not run, though others do.
    Unrun {
        /// What they are called; some of them.
        tests: Vec<String>,
    },
}

/// What was counted before the first iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestBaseline<'a> {
    /// The same each time.
    Stable(&'a Tested),
    /// Something else each time: only that there were tests is known.
    Unstable(&'a Tested),
}

impl Tested {
    /// All runners together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for counts in self.counts.values() {
            total.add(*counts);
        }
        total
    }

    /// In a few words: `12 tests, 2 more than before`.
    pub fn words(&self, before: Option<&Self>) -> String {
        let now = self.total();
        let ran = now.ran();
        let some = format!("{ran} test{}", if ran == 1 { "" } else { "s" });
        let skipped = if 0 < now.skipped { format!(" and {} skipped", now.skipped) } else { String::new() };
        let change = match before.map(|before| before.total().ran()) {
            Some(before) if before < ran => format!(", {} more than before", ran - before),
            Some(before) if ran < before => format!(", {} fewer than before", before - ran),
            Some(_) | None => String::new(),
        };
        some + &skipped + &change
    }
}

impl TestLoss {
    /// What happened to the tests of a guardrail, in words.
    pub fn words(&self) -> String {
        match self {
            Self::NoSummary { before } => {
                format!("ran {before} tests before the run and names no number now")
            }
            Self::NoneRan { before } => format!("ran {before} tests before the run and none now"),
            Self::Fewer { before, after } => format!("ran {before} tests before the run and {after} now"),
            Self::MoreSkipped { before, after } => {
                format!("skipped {before} tests before the run and {after} now")
            }
            Self::Failed { before: 0, after } => {
                format!("passes, and its own summary says that {after} failed")
            }
            Self::Failed { before, after } => {
                format!("passes, and its own summary says that {after} failed, {before} before the run")
            }
            Self::Unrun { tests } => {
                format!("no longer runs tests that are still in the files: {}", tests.join(", "))
            }
        }
    }
}

/// Whether a guardrail that passed ran fewer tests than before the first iteration. Nothing if it ran none then.
pub fn loss(before: TestBaseline<'_>, after: Option<&Tested>) -> Option<TestLoss> {
    let (TestBaseline::Stable(base) | TestBaseline::Unstable(base)) = before;
    let ran = base.total().ran();
    if ran == 0 {
        return None;
    }
    let Some(after) = after.filter(|after| !after.counts.is_empty()) else {
        return Some(TestLoss::NoSummary { before: ran });
    };
    if after.total().ran() == 0 {
        return Some(TestLoss::NoneRan { before: ran });
    }
    if matches!(before, TestBaseline::Unstable(_)) {
        return None;
    }
    let pairs = pairs(base, after);
    let fewer = pairs.iter().find(|(before, after)| after.ran() < before.ran());
    if let Some((before, after)) = fewer {
        return Some(TestLoss::Fewer { before: before.ran(), after: after.ran() });
    }
    let skipped = after.total().skipped.saturating_sub(after.new_skipped);
    if base.total().skipped < skipped {
        return Some(TestLoss::MoreSkipped { before: base.total().skipped, after: skipped });
    }
    (!after.unrun.is_empty()).then(|| TestLoss::Unrun { tests: after.unrun.clone() })
}

/// Whether a guardrail passes although its runner says that tests failed: more than failed when it passed before. A process
/// that the code under test ends as it likes has that exit code.
pub fn contradiction(passed_before: Option<&Tested>, after: Option<&Tested>) -> Option<TestLoss> {
    let failed = |tested: Option<&Tested>| tested.map_or(0, |tested| tested.total().failed);
    let (before, after) = (failed(passed_before), failed(after));
    (before < after).then_some(TestLoss::Failed { before, after })
}

/// What is compared with what: each runner with itself, and those that went with those that came.
fn pairs(before: &Tested, after: &Tested) -> Vec<(Counts, Counts)> {
    let mut pairs = Vec::new();
    let (mut went, mut came) = (Counts::default(), Counts::default());
    for (runner, counts) in &before.counts {
        match after.counts.get(runner) {
            Some(now) => pairs.push((*counts, *now)),
            None => went.add(*counts),
        }
    }
    for (_, counts) in after.counts.iter().filter(|(runner, _)| !before.counts.contains_key(runner)) {
        came.add(*counts);
    }
    pairs.push((went, came));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested(counts: &[(Runner, [u64; 3])]) -> Tested {
        let counts = counts
            .iter()
            .map(|&(runner, [passed, failed, skipped])| (runner, Counts { passed, failed, skipped }));
        Tested { counts: counts.collect(), ..Tested::default() }
    }

    fn pytest(counts: [u64; 3]) -> Tested {
        tested(&[(Runner::Pytest, counts)])
    }

    #[track_caller]
    fn check(before: &Tested, after: Option<&Tested>, expected: Option<&TestLoss>) {
        assert_eq!(loss(TestBaseline::Stable(before), after).as_ref(), expected, "{before:?} {after:?}");
    }

    #[test]
    fn fewer_tests_than_before_are_a_loss() {
        let base = pytest([10, 2, 1]);
        check(&base, Some(&pytest([12, 0, 1])), None);
        check(&base, Some(&pytest([14, 0, 0])), None);
        check(&base, Some(&pytest([11, 0, 1])), Some(&TestLoss::Fewer { before: 12, after: 11 }));
        check(&base, Some(&pytest([12, 0, 2])), Some(&TestLoss::MoreSkipped { before: 1, after: 2 }));
        check(&base, Some(&pytest([0, 0, 13])), Some(&TestLoss::NoneRan { before: 12 }));
        check(&base, Some(&Tested::default()), Some(&TestLoss::NoSummary { before: 12 }));
        check(&base, None, Some(&TestLoss::NoSummary { before: 12 }));
    }

    #[test]
    fn where_no_test_ran_there_is_nothing_to_lose() {
        check(&Tested::default(), None, None);
        check(&pytest([0, 0, 3]), None, None);
        check(&pytest([0, 0, 0]), Some(&pytest([0, 0, 5])), None);
    }

    #[test]
    fn tests_that_are_new_and_skipped_were_never_run() {
        let after = Tested { new_skipped: 2, ..pytest([12, 0, 3]) };
        check(&pytest([10, 2, 1]), Some(&after), None);
        let after = Tested { new_skipped: 1, ..pytest([12, 0, 3]) };
        check(&pytest([10, 2, 1]), Some(&after), Some(&TestLoss::MoreSkipped { before: 1, after: 2 }));
    }

    #[test]
    fn others_in_their_place_are_no_excuse() {
        let after = Tested { unrun: vec!["test_sum".to_owned()], ..pytest([20, 0, 0]) };
        check(
            &pytest([10, 0, 0]),
            Some(&after),
            Some(&TestLoss::Unrun { tests: vec!["test_sum".to_owned()] }),
        );
    }

    #[test]
    fn each_runner_is_compared_with_itself_and_a_change_of_runner_as_a_whole() {
        let both = tested(&[(Runner::Cargo, [5, 0, 0]), (Runner::Pytest, [9, 0, 0])]);
        let forged = tested(&[(Runner::Cargo, [90, 0, 0]), (Runner::Pytest, [1, 0, 0])]);
        check(&both, Some(&forged), Some(&TestLoss::Fewer { before: 9, after: 1 }));
        check(&pytest([9, 0, 0]), Some(&tested(&[(Runner::Unittest, [9, 0, 0])])), None);
        check(
            &pytest([9, 0, 0]),
            Some(&tested(&[(Runner::Unittest, [8, 0, 0])])),
            Some(&TestLoss::Fewer { before: 9, after: 8 }),
        );
    }

    #[test]
    fn an_unstable_baseline_gives_no_count() {
        let base = pytest([10, 0, 0]);
        let of = |after: Option<[u64; 3]>| loss(TestBaseline::Unstable(&base), after.map(pytest).as_ref());
        assert_eq!(of(Some([3, 0, 9])), None);
        assert_eq!(of(Some([0, 0, 9])), Some(TestLoss::NoneRan { before: 10 }));
        assert_eq!(of(None), Some(TestLoss::NoSummary { before: 10 }));
    }

    #[test]
    fn a_guardrail_that_passes_has_no_failed_tests() {
        let of = |before: Option<[u64; 3]>, after: [u64; 3]| {
            contradiction(before.map(pytest).as_ref(), Some(&pytest(after)))
        };
        assert_eq!(of(Some([9, 0, 0]), [9, 0, 0]), None);
        assert_eq!(of(Some([9, 0, 0]), [8, 1, 0]), Some(TestLoss::Failed { before: 0, after: 1 }));
        assert_eq!(of(None, [8, 1, 0]), Some(TestLoss::Failed { before: 0, after: 1 }));
        // It always passes, and did so before.
        assert_eq!(of(Some([8, 1, 0]), [8, 1, 0]), None);
        assert_eq!(contradiction(None, None), None);
    }

    #[test]
    fn losses_in_words() {
        let of = |loss: TestLoss| loss.words();
        assert_eq!(
            of(TestLoss::Failed { before: 0, after: 2 }),
            "passes, and its own summary says that 2 failed"
        );
        assert_eq!(
            of(TestLoss::Failed { before: 1, after: 2 }),
            "passes, and its own summary says that 2 failed, 1 before the run"
        );
        assert_eq!(
            of(TestLoss::NoSummary { before: 3 }),
            "ran 3 tests before the run and names no number now"
        );
        assert_eq!(of(TestLoss::NoneRan { before: 3 }), "ran 3 tests before the run and none now");
        assert_eq!(of(TestLoss::Fewer { before: 3, after: 2 }), "ran 3 tests before the run and 2 now");
        assert_eq!(
            of(TestLoss::MoreSkipped { before: 0, after: 2 }),
            "skipped 0 tests before the run and 2 now"
        );
        assert_eq!(
            of(TestLoss::Unrun { tests: vec!["a".to_owned(), "b".to_owned()] }),
            "no longer runs tests that are still in the files: a, b"
        );
    }

    #[test]
    fn new_tests_that_are_skipped_are_recorded_where_there_are_any() {
        let recorded = |new_skipped| {
            let tested = serde_json::to_value(Tested { new_skipped, ..Tested::default() }).expect("JSON");
            tested.as_object().expect("an object").keys().any(|key| key.contains("kipped"))
        };
        assert_eq!((recorded(0), recorded(2)), (false, true));
    }

    #[test]
    fn counts_in_words() {
        let base = pytest([10, 0, 0]);
        assert_eq!(pytest([12, 0, 0]).words(Some(&base)), "12 tests, 2 more than before");
        assert_eq!(pytest([9, 0, 1]).words(Some(&base)), "9 tests and 1 skipped, 1 fewer than before");
        assert_eq!(pytest([10, 0, 0]).words(Some(&base)), "10 tests");
        assert_eq!(pytest([1, 0, 0]).words(None), "1 test");
    }
}

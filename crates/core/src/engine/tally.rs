//! The tests that guardrails counted: before the first turn, and since the last one.
//!
//! Invariant: what counts for a gate was counted at the place that decides about it, and is compared with what was
//! counted there before the first turn. Where the two places disagreed then, no number is compared.

use std::collections::{BTreeMap, BTreeSet};

use super::{event::GateEnded, plan::Plan};
use crate::verify::{
    finding::Finding,
    tested::{TestBaseline, Tested, contradiction, loss},
};

/// Tests by gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    base_in_place: BTreeMap<usize, Take>,
    base_in_judge: BTreeMap<usize, Take>,
    /// A person changed checks since, and no one has counted again.
    outdated: BTreeSet<usize>,
    in_place: BTreeMap<usize, Take>,
    in_judge: BTreeMap<usize, Take>,
}

/// One run of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Take {
    passed: bool,
    tested: Option<Tested>,
}

impl From<&GateEnded> for Take {
    fn from(ended: &GateEnded) -> Self {
        Self { passed: ended.failure.is_none(), tested: ended.tests.clone() }
    }
}

/// The tests of a gate, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateTests<'a> {
    /// Which gate of the plan.
    pub gate: usize,
    /// What ran last.
    pub now: &'a Tested,
    /// What ran before the first turn, if that is the same each time.
    pub before: Option<&'a Tested>,
}

impl Tally {
    pub(super) fn baseline_ended(&mut self, ended: &GateEnded) {
        self.base_in_place.insert(ended.gate, ended.into());
    }

    pub(super) fn base_of_judge_ended(&mut self, ended: &GateEnded) {
        self.base_in_judge.insert(ended.gate, ended.into());
    }

    /// A person changed checks. What was counted with those before is of no use: one new take stands for both places, or
    /// no number is compared.
    pub(super) fn base_moved(&mut self, takes: &[GateEnded]) {
        self.outdated.extend(self.base_in_place.keys().chain(self.base_in_judge.keys()));
        for ended in takes.iter().filter(|ended| ended.tests.is_some()) {
            self.base_in_place.insert(ended.gate, ended.into());
            self.base_in_judge.insert(ended.gate, ended.into());
            self.outdated.remove(&ended.gate);
        }
    }

    /// A gate was checked after a turn. What the judge said after another turn says nothing about this one.
    pub(super) fn gate_ended(&mut self, ended: &GateEnded) {
        self.in_place.insert(ended.gate, ended.into());
        self.in_judge.remove(&ended.gate);
    }

    pub(super) fn judge_gate_ended(&mut self, ended: &GateEnded) {
        self.in_judge.insert(ended.gate, ended.into());
    }

    /// Gates that passed with fewer tests than before the first turn.
    pub(super) fn losses(&self, plan: &Plan) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (index, gate) in plan.gates.iter().enumerate() {
            let Some(now) = self.now(index).filter(|now| now.passed) else { continue };
            let base = self.base(index);
            // A hint of the run before: one that passed with failures passes with them again.
            let takes = [self.base_in_judge.get(&index), self.base_in_place.get(&index)];
            let passed_before = takes.into_iter().flatten().find(|take| take.passed);
            let lost = base.and_then(|base| loss(base, now.tested.as_ref())).or_else(|| {
                base?;
                contradiction(passed_before.and_then(|take| take.tested.as_ref()), now.tested.as_ref())
            });
            if let Some(loss) = lost {
                findings.push(Finding::FewerTests { command: gate.check.name().to_owned(), loss });
            }
        }
        findings
    }

    /// The tests of every gate that counted some since the last turn.
    pub(super) fn of_gates<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = GateTests<'a>> {
        (0..plan.gates.len()).filter_map(|gate| {
            let now = self.now(gate)?.tested.as_ref()?;
            let before = match self.base(gate) {
                Some(TestBaseline::Stable(before)) => Some(before),
                Some(TestBaseline::Unstable(_)) | None => None,
            };
            Some(GateTests { gate, now, before })
        })
    }

    /// What decides about a gate.
    fn now(&self, gate: usize) -> Option<&Take> {
        self.in_judge.get(&gate).or_else(|| self.in_place.get(&gate))
    }

    /// What it is compared with. A gate that works at one place only was taken once.
    fn base(&self, gate: usize) -> Option<TestBaseline<'_>> {
        let counted =
            |takes: &'_ BTreeMap<usize, Take>| takes.get(&gate).is_some_and(|take| take.tested.is_some());
        let (place, judge) = (self.base_in_place.get(&gate), self.base_in_judge.get(&gate));
        let (own, other) = if self.in_judge.contains_key(&gate) && counted(&self.base_in_judge) {
            (judge?, place)
        } else {
            (place?, judge)
        };
        let tested = own.tested.as_ref()?;
        let is_second_take = |other: &&Take| other.passed == own.passed;
        let is_stable = !self.outdated.contains(&gate)
            && other
                .filter(is_second_take)
                .is_none_or(|other| other.tested.as_ref().is_some_and(|other| other.counts == tested.counts));
        Some(if is_stable { TestBaseline::Stable(tested) } else { TestBaseline::Unstable(tested) })
    }
}

#[cfg(test)]
mod tests {
    use ralph_checks::counts::{Counts, Runner};

    use super::*;
    use crate::{
        engine::{
            plan::{Check, Gate, When},
            presets,
        },
        gate_failure::GateFailure,
        verify::tested::TestLoss,
    };

    fn plan() -> Plan {
        let check = Check::Command { command: "test".to_owned() };
        presets::run("DONE", vec![Gate::new(check, When::EveryTurn)])
    }

    /// `-` is no count, `!` a failure.
    fn ended(said: &str) -> GateEnded {
        let failure = said.starts_with('!').then(|| GateFailure::refused("no".to_owned()));
        let passed = said.trim_start_matches('!').parse().ok();
        let counts = |passed| BTreeMap::from([(Runner::Cargo, Counts { passed, ..Counts::default() })]);
        let tests = passed.map(|passed| Tested { counts: counts(passed), ..Tested::default() });
        GateEnded { gate: 0, failure, ms: 1, log: String::new(), signature: None, tests, output_sha256: None }
    }

    /// Counts before the run in place and in the judge, and at the claim in both.
    #[track_caller]
    fn check([base, base_of_judge, now, now_in_judge]: [&str; 4], expected: Option<TestLoss>) {
        let mut tally = Tally::default();
        let said = |said: &str| (!said.is_empty()).then(|| ended(said));
        if let Some(it) = said(base) {
            tally.baseline_ended(&it);
        }
        if let Some(it) = said(base_of_judge) {
            tally.base_of_judge_ended(&it);
        }
        if let Some(it) = said(now) {
            tally.gate_ended(&it);
        }
        if let Some(it) = said(now_in_judge) {
            tally.judge_gate_ended(&it);
        }
        let found = tally.losses(&plan()).into_iter().map(|finding| match finding {
            Finding::FewerTests { command, loss } if command == "test" => loss,
            other => panic!("{other:?}"),
        });
        assert_eq!(
            found.collect::<Vec<_>>(),
            Vec::from_iter(expected),
            "{base} {base_of_judge} {now} {now_in_judge}"
        );
        tally.gate_ended(&ended("9"));
        assert_eq!(tally.losses(&plan()), [], "what another turn did");
    }

    #[test]
    fn the_judge_is_compared_with_the_judge_and_else_the_working_tree_decides() {
        let fewer = |before, after| Some(TestLoss::Fewer { before, after });
        check(["9", "9", "9", "9"], None);
        check(["9", "9", "9", "8"], fewer(9, 8));
        // The judge decides, whatever the working tree says.
        check(["9", "9", "8", "9"], None);
        check(["9", "", "9", "8"], fewer(9, 8));
        check(["9", "", "8", ""], fewer(9, 8));
        check(["", "9", "", "8"], fewer(9, 8));
        check(["", "", "9", "8"], None);
        check(["-", "-", "9", "9"], None);
        check(["9", "9", "9", "-"], Some(TestLoss::NoSummary { before: 9 }));
        // What failed is told otherwise.
        check(["9", "9", "9", "!8"], None);
    }

    #[test]
    fn what_is_not_the_same_at_both_places_gives_no_number() {
        check(["9", "8", "9", "7"], None);
        check(["9", "8", "9", "0"], Some(TestLoss::NoneRan { before: 8 }));
        // A judge that cannot run the gate is no second take.
        check(["9", "!3", "8", ""], Some(TestLoss::Fewer { before: 9, after: 8 }));
        check(["!9", "!9", "9", "8"], Some(TestLoss::Fewer { before: 9, after: 8 }));
    }

    #[test]
    fn checks_that_a_person_changed_are_counted_anew() {
        let counted = |takes: &[&str], now: &str| {
            let mut tally = Tally::default();
            tally.baseline_ended(&ended("9"));
            tally.base_of_judge_ended(&ended("9"));
            tally.base_moved(&takes.iter().map(|said| ended(said)).collect::<Vec<_>>());
            tally.gate_ended(&ended(now));
            tally.judge_gate_ended(&ended(now));
            !tally.losses(&plan()).is_empty()
        };
        assert_eq!(["7", "6"].map(|now| counted(&["7"], now)), [false, true]);
        // No one could count: only that there were tests is known.
        for takes in [&[][..], &["-"][..]] {
            assert_eq!(["6", "0"].map(|now| counted(takes, now)), [false, true]);
        }
    }

    #[test]
    fn without_a_baseline_there_is_nothing_to_compare_with() {
        let mut tally = Tally::default();
        tally.gate_ended(&ended("2"));
        let plan = plan();
        let shown: Vec<_> = tally.of_gates(&plan).map(|it| it.now.words(it.before)).collect();
        assert_eq!(shown, ["2 tests"]);
    }
}

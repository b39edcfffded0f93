//! What the judge has shown about itself, and a claim on its way through it.
//!
//! Invariant: a claim that is due in the judge counts only after every gate that can be checked there was, since the last
//! turn. The working tree decides instead only where the judge failed at what no one had touched, and that is a caveat.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    baseline::Baseline,
    event::{BaseMoved, GateEnded, JudgeGateEnded, JudgeReady},
    phase::{Judging, Said},
    plan::{Gate, Plan, When},
    round,
    tally::Tally,
};
use crate::{
    gate_failure::GateExit,
    verify::{
        caveat::Caveat,
        proof::{Ending, Proof, prove},
        rules::{CheckoutWhen, RunsWhere},
    },
};

/// What is known of the judge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JudgeState {
    /// How gates ended in the working tree before the first turn.
    in_place: BTreeMap<usize, Ending>,
    /// What the run starts from is kept, or cannot be.
    base: Option<Base>,
    /// The judge has what the run starts from, in this process.
    has_base: bool,
    /// Gates before this one were checked there before the first turn, or do not apply.
    next_of_base: usize,
    /// Gates that the judge was seen to be able to run.
    proven: BTreeSet<usize>,
    /// Gates that pass in the working tree and fail in the judge before the first turn.
    unfit: BTreeSet<usize>,
    /// Gates about which the agent was told that the two places disagree.
    told: BTreeSet<usize>,
    /// There is no judge, for this reason.
    unavailable: Option<String>,
    caveats: Vec<Caveat>,
    /// The tests that were counted, there and in the working tree.
    pub(super) tally: Tally,
}

/// What the run starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    /// This commit of the judge's own store.
    Kept(String),
    /// Copies of what judges.
    Copied,
    /// It is not kept, for this reason.
    Unkept(String),
}

/// A claim on its way through the judge.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trial {
    pub(super) judging: Judging,
    is_ready: bool,
    /// Gates before this one have been checked or do not apply.
    next_gate: usize,
    /// Gates that failed there.
    pub(super) red: Vec<usize>,
}

/// What is to be done with the judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JudgeStep {
    /// Bring it to what it decides about.
    Bring,
    /// Check this gate there.
    Gate(usize),
    /// Compare what judges with what the run starts from.
    Examine,
}

/// What red gates in the judge mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disagreement {
    /// They count.
    Refuted,
    /// No one knows whether the judge or the working tree is right; the agent has not heard of it.
    Untold,
    /// The same, and the agent was told.
    Told,
}

/// Whether a gate is checked in the judge alone.
pub(super) fn is_only_for_judge(plan: &Plan, gate: &Gate) -> bool {
    plan.checkout != CheckoutWhen::Never && gate.runs_where == RunsWhere::Judge && gate.is_for_judge()
}

impl JudgeState {
    /// What is to be done before the first turn.
    pub(super) fn next_of_base(&self, plan: &Plan, baseline: &Baseline) -> Option<JudgeStep> {
        if plan.checkout == CheckoutWhen::Never
            || !plan.baseline
            || baseline.is_over()
            || self.unavailable.is_some()
        {
            return None;
        }
        let gate = (self.next_of_base..plan.gates.len()).find(|&gate| is_of_base(&plan.gates[gate]))?;
        Some(if self.has_base { JudgeStep::Gate(gate) } else { JudgeStep::Bring })
    }

    /// Whether what the run starts from is to be kept before anything else happens.
    pub(super) fn wants_base(&self, plan: &Plan) -> bool {
        let is_compared = |gate: &Gate| match plan.checkout {
            CheckoutWhen::Never => gate.check.command().is_some(),
            CheckoutWhen::Claim | CheckoutWhen::Always | CheckoutWhen::Require => gate.is_for_judge(),
        };
        self.base.is_none() && self.unavailable.is_none() && plan.gates.iter().any(is_compared)
    }

    /// What the run starts from is kept, or cannot be.
    pub(super) fn take_base_commit(&mut self, commit: Option<&str>, copies: Option<u64>, why: Option<&str>) {
        self.base = Some(match commit {
            Some(commit) => Base::Kept(commit.to_owned()),
            None if copies.is_some() => Base::Copied,
            None => Base::Unkept(why.unwrap_or("it is not known").to_owned()),
        });
    }

    /// What a person changed is part of what the run starts from.
    pub(super) fn base_moved(&mut self, moved: &BaseMoved) {
        if let Some(commit) = &moved.commit {
            self.base = Some(Base::Kept(commit.clone()));
        }
        if !moved.files.is_empty() {
            self.tally.base_moved(&moved.tests);
        }
    }

    /// The commit of the judge's own store that the run starts from.
    pub(super) fn base(&self) -> Option<&str> {
        match self.base.as_ref()? {
            Base::Kept(commit) => Some(commit),
            Base::Copied | Base::Unkept(_) => None,
        }
    }

    /// Whether what judges was copied before the first turn.
    pub(super) fn has_copies(&self) -> bool {
        self.base == Some(Base::Copied)
    }

    /// Whether something is still to be decided about what passed in the working tree: in the judge, or by comparing
    /// what judges with copies.
    pub(super) fn is_undecided(&self, plan: &Plan, judging: Judging) -> bool {
        self.is_due(plan, judging) || self.is_compared_in_place(judging)
    }

    /// Whether what judges is compared with copies, because no judge decides.
    fn is_compared_in_place(&self, judging: Judging) -> bool {
        self.has_copies() && !judging.has_failed() && (judging.holds().is_claim() || judging.submitted)
    }

    /// Whether what passed in the working tree must pass in the judge.
    pub(super) fn is_due(&self, plan: &Plan, judging: Judging) -> bool {
        let is_wanted = match plan.checkout {
            CheckoutWhen::Never => false,
            CheckoutWhen::Claim | CheckoutWhen::Require => judging.holds().is_claim() || judging.submitted,
            CheckoutWhen::Always => judging.holds() != Said::Blocked,
        };
        let is_needed =
            |gate: &usize| self.unavailable.is_none() || plan.gates[*gate].runs_where == RunsWhere::Judge;
        is_wanted && (0..plan.gates.len()).any(|gate| self.applies(plan, gate, judging) && is_needed(&gate))
    }

    fn applies(&self, plan: &Plan, gate: usize, judging: Judging) -> bool {
        let it = &plan.gates[gate];
        // What refutes that everything is done says nothing about the story that was submitted.
        let said = if judging.has_failed() { Said::Nothing } else { judging.holds() };
        let judging = Judging { said, ..judging };
        it.is_for_judge() && round(it.when, judging).is_some() && !self.unfit.contains(&gate)
    }

    /// A gate was checked in the working tree before the first turn.
    pub(super) fn take_baseline(&mut self, ended: &GateEnded) {
        self.in_place.insert(ended.gate, ending(ended));
        self.tally.baseline_ended(ended);
    }

    /// The judge has what it was brought to.
    pub(super) fn ready(&mut self, ready: &JudgeReady) {
        self.has_base = true;
        for caveat in &ready.caveats {
            if !self.caveats.contains(caveat) {
                self.caveats.push(caveat.clone());
            }
        }
    }

    /// There is no judge.
    pub(super) fn lose(&mut self, why: &str) {
        self.unavailable = Some(why.to_owned());
    }

    /// A gate was checked in the judge before the first turn. Returns whether the judge cannot run it.
    pub(super) fn take_base(&mut self, ended: &GateEnded) -> bool {
        self.next_of_base = ended.gate.saturating_add(1);
        self.tally.base_of_judge_ended(ended);
        let proof = match self.in_place.get(&ended.gate) {
            Some(in_place) => prove(in_place, &ending(ended)),
            None if ended.failure.is_none() => Proof::Proven,
            None => Proof::FailsOtherwise,
        };
        match proof {
            Proof::Proven => drop(self.proven.insert(ended.gate)),
            Proof::FailsInJudge => drop(self.unfit.insert(ended.gate)),
            Proof::FailsOtherwise => {}
        }
        proof == Proof::FailsInJudge
    }

    /// What the red gates of a trial mean. Those that were not told before are told now.
    pub(super) fn disagree(&mut self, plan: &Plan, red: &[usize]) -> Disagreement {
        let counts = |gate: &usize| {
            self.proven.contains(gate)
                || plan.gates.get(*gate).is_none_or(|gate| gate.runs_where == RunsWhere::Judge)
        };
        if red.iter().any(counts) {
            return Disagreement::Refuted;
        }
        let known = self.told.len();
        self.told.extend(red);
        if known < self.told.len() { Disagreement::Untold } else { Disagreement::Told }
    }

    /// A process that goes on has nothing in its judge.
    pub(super) fn resumed(&mut self) {
        self.has_base = false;
    }

    /// There are other gates.
    pub(super) fn forget(&mut self) {
        let (base, caveats) = (self.base.take(), std::mem::take(&mut self.caveats));
        *self = Self { base, caveats, ..Self::default() };
    }

    /// What weakens the judgement.
    pub(super) fn caveats(&self, plan: &Plan) -> Vec<Caveat> {
        let mut all = self.caveats.clone();
        let unfit = self.unfit.iter().filter_map(|gate| plan.gates.get(*gate));
        let names: Vec<String> = unfit.map(|gate| format!("`{}`", gate.check.name())).collect();
        if !names.is_empty() {
            let why = format!("{} passed in it and failed in a clean clone before the run", names.join(", "));
            all.insert(0, Caveat::JudgedInPlace { why });
        }
        all.extend(self.unavailable.clone().map(|why| Caveat::JudgedInPlace { why }));
        if let Some(Base::Unkept(why)) = &self.base {
            all.push(Caveat::ChecksNotCompared { why: why.clone() });
        }
        all
    }
}

impl Trial {
    pub(super) fn new(judging: Judging) -> Self {
        Self { judging, is_ready: false, next_gate: 0, red: Vec::new() }
    }

    /// No judge decides; what judges is only compared.
    pub(super) fn in_place(judging: Judging) -> Self {
        Self { is_ready: true, next_gate: usize::MAX, ..Self::new(judging) }
    }

    /// What is to be done next; nothing when every gate was checked.
    pub(super) fn next(&self, plan: &Plan, judge: &JudgeState) -> Option<JudgeStep> {
        if !self.is_ready {
            return Some(JudgeStep::Bring);
        }
        let mut gates = self.next_gate..plan.gates.len();
        let gate = gates.find(|&gate| judge.applies(plan, gate, self.judging)).map(JudgeStep::Gate);
        gate.or_else(|| self.is_to_be_examined().then_some(JudgeStep::Examine))
    }

    /// Whether the judge agrees with a claim. Whatever is found then, this trial is over.
    fn is_to_be_examined(&self) -> bool {
        let is_claim = self.judging.holds().is_claim() || self.judging.submitted;
        is_claim && self.red.is_empty() && !self.judging.has_failed()
    }

    pub(super) fn ready(&mut self) {
        self.is_ready = true;
    }

    /// Takes in what the gate found that was due; nothing else stands in for it.
    pub(super) fn take(&mut self, plan: &Plan, judge: &mut JudgeState, ended: &JudgeGateEnded) -> bool {
        let gate = ended.ended.gate;
        if self.next(plan, judge) != Some(JudgeStep::Gate(gate)) {
            return false;
        }
        self.next_gate = gate.saturating_add(1);
        judge.tally.judge_gate_ended(&ended.ended);
        if ended.ended.failure.is_some() {
            self.red.push(gate);
        } else {
            judge.proven.insert(gate);
        }
        true
    }
}

/// Whether a gate is checked in the judge before the first turn.
fn is_of_base(gate: &Gate) -> bool {
    let judges_turns = match gate.when {
        When::EveryTurn | When::ChangedOrClaimed => true,
        When::Claimed | When::SubmittedOrClaimed => false,
    };
    let repeats = gate.repeats == crate::verify::rules::Repeats::Yes;
    judges_turns && repeats && gate.is_for_judge()
}

/// How a gate ended, as far as two places can be compared.
fn ending(ended: &GateEnded) -> Ending {
    let code = match ended.failure.as_ref().map(|failure| &failure.exit) {
        None => Some(0),
        Some(GateExit::Code(code)) => Some(*code),
        Some(_) => None,
    };
    let printed = || ended.failure.as_ref().map(|failure| failure.output.clone());
    Ending { code, signature: ended.signature.clone().or_else(printed) }
}

//! How a claim that passed in the working tree goes through the judge, and what follows from that.

use super::{
    super::{
        event::{JudgeFailure, JudgeGateEnded, JudgeReady},
        outcome::Outcome,
        phase::{Judging, PendingWork, Phase, Verdict},
        plan::{OnFailure, Plan},
        stop::Stop,
        tally::GateTests,
        trial::{Disagreement, Trial},
    },
    State,
};
use crate::{
    engine::plan::Cause,
    prompt::Feedback,
    verify::{caveat::Caveat, finding::Finding, rules::CheckoutWhen},
};

/// What the agent is told when a gate that passed in the working tree fails in the judge.
const DIFFERS: &str = "This check passed in the working tree and failed in a clean clone of what was committed: only \
                       that decides.";

impl State {
    /// The gates passed in the working tree, and what there is to commit is committed: the judge decides, if it is due.
    pub(super) fn passed_in_place(&mut self, plan: &Plan, judging: Judging) {
        if self.judge.is_due(plan, judging) {
            self.phase = Phase::Trying(Trial::new(judging));
        } else {
            self.compare_in_place(plan, judging);
        }
    }

    /// No judge decides: what judges is compared with copies, if there are any.
    fn compare_in_place(&mut self, plan: &Plan, judging: Judging) {
        if self.judge.is_undecided(plan, judging) {
            self.phase = Phase::Trying(Trial::in_place(judging));
        } else {
            self.deliver(plan, judging);
        }
    }

    /// Another process goes on: what was brought to the judge is not there any more, and the files may be others.
    pub(super) fn judge_is_gone(&mut self) {
        self.judge.resumed();
        if let Phase::Trying(trial) = &self.phase {
            self.phase = Phase::Judging(trial.judging);
        }
    }

    /// Whether the judge decides about a story that was submitted, though another claim of the turn was refuted.
    pub(super) fn is_submission_due(&self, plan: &Plan, judging: Judging) -> bool {
        judging.submitted && self.submission.is_open() && self.judge.is_due(plan, judging)
    }

    /// Whether what follows a commit waits for the judge.
    pub fn awaits_judge(&self, plan: &Plan) -> bool {
        let (Phase::Judging(judging) | Phase::Committing(judging)) = self.phase else { return false };
        self.is_undecided(plan, judging)
    }

    /// Whether the judge, or a reviewer, can still refuse what passed in the working tree.
    pub(super) fn is_undecided(&self, plan: &Plan, judging: Judging) -> bool {
        let is_asked = judging.holds().is_claim() && plan.is_withheld_by_reviewers();
        self.judge.is_undecided(plan, judging) || is_asked
    }

    /// Whether the judge decides about a claim.
    pub fn is_in_trial(&self) -> bool {
        matches!(self.phase, Phase::Trying(_))
    }

    /// What weakens the judgement and is not the agent's doing.
    pub fn caveats(&self, plan: &Plan) -> Vec<Caveat> {
        let mut all = self.judge.caveats(plan);
        if 0 < self.spent.turns && self.judge.wants_base(plan) && plan.checkout != CheckoutWhen::Never {
            let why = "the run began with a version of ralph that did not compare them".to_owned();
            all.push(Caveat::ChecksNotCompared { why });
        }
        all
    }

    pub(super) fn judge_ready(&mut self, plan: &Plan, ready: &JudgeReady) {
        self.spent.take_time(ready.ms);
        self.judge.ready(ready);
        if let Phase::Trying(trial) = &mut self.phase {
            trial.ready();
        }
        self.conclude_trial(plan);
    }

    pub(super) fn judge_failed(&mut self, plan: &Plan, cause: JudgeFailure, why: &str) {
        let in_trial = if let Phase::Trying(trial) = &self.phase { Some(trial.judging) } else { None };
        // What cannot be fetched when it is claimed may have been made so.
        let is_final = in_trial.is_some() && cause == JudgeFailure::NotFetched;
        if is_final || plan.checkout == CheckoutWhen::Require {
            self.phase = Phase::Over(Outcome::Stopped(Stop::NotJudged { reason: why.to_owned() }));
            return;
        }
        self.judge.lose(why);
        let Some(judging) = in_trial else { return };
        if self.judge.is_due(plan, judging) {
            // A gate that is checked nowhere else.
            self.phase = Phase::Over(Outcome::Stopped(Stop::NotJudged { reason: why.to_owned() }));
        } else {
            self.compare_in_place(plan, judging);
        }
    }

    pub(super) fn judge_gate_ended(&mut self, plan: &Plan, ended: &JudgeGateEnded) {
        self.spent.take_time(ended.ended.ms);
        let Phase::Trying(trial) = &mut self.phase else {
            let is_unfit = self.judge.take_base(&ended.ended);
            if is_unfit && plan.checkout == CheckoutWhen::Require {
                let name = plan.gates.get(ended.ended.gate).map_or("it", |gate| gate.check.name());
                let why = format!("`{name}` passes in the working tree and fails in a clean clone");
                self.phase = Phase::Over(Outcome::Stopped(Stop::NotJudged { reason: why }));
            }
            return;
        };
        if !trial.take(plan, &mut self.judge, ended) {
            return;
        }
        if let Some(feedback) = plan.gates.get(ended.ended.gate).and_then(|gate| ended.ended.feedback(gate)) {
            self.progress.gate_ended(&ended.ended);
            self.feedback.push(feedback);
            let mut text = DIFFERS.to_owned();
            for line in &ended.differs {
                text.push_str("\n- ");
                text.push_str(line);
            }
            self.feedback.push(Feedback::appended(text));
        }
        self.conclude_trial(plan);
    }

    fn conclude_trial(&mut self, plan: &Plan) {
        let Phase::Trying(trial) = &self.phase else { return };
        if trial.next(plan, &self.judge).is_some() {
            return;
        }
        let Trial { judging, red, .. } = trial.clone();
        if red.is_empty() {
            return self.deliver(plan, judging);
        }
        match self.judge.disagree(plan, &red) {
            Disagreement::Untold if self.has_turn_left(plan, judging) => {
                self.refuse(plan, judging, Verdict::Failed);
            }
            Disagreement::Refuted => self.refuse(plan, judging, Verdict::Failed),
            Disagreement::Untold | Disagreement::Told => {
                let names = red.iter().filter_map(|gate| plan.gates.get(*gate));
                let findings: Vec<Finding> = names
                    .map(|gate| Finding::JudgeDisagrees { command: gate.check.name().to_owned() })
                    .collect();
                self.take_findings(&findings);
                self.feedback.clear();
                self.deliver(plan, judging);
            }
        }
    }

    /// The claim does not count, or not yet.
    pub(super) fn refuse(&mut self, plan: &Plan, judging: Judging, verdict: Verdict) {
        if judging.submitted {
            self.submission.refuse();
        }
        self.phase = Phase::Judging(Judging { verdict, ..judging });
        self.conclude(plan);
    }

    /// The tests of the gates that counted some since the last turn.
    pub fn tests<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = GateTests<'a>> {
        self.judge.tally.of_gates(plan)
    }

    /// Whether the agent can still be told something.
    pub(super) fn has_turn_left(&self, plan: &Plan, judging: Judging) -> bool {
        let is_last = plan.limits.max_iterations <= self.iteration && judging.work != PendingWork::None;
        match plan.failures.of(Cause::Gate) {
            OnFailure::Retry { retries } => self.attempt <= retries,
            OnFailure::Ignore | OnFailure::Continue => !is_last,
        }
    }

    pub(super) fn deliver(&mut self, plan: &Plan, judging: Judging) {
        self.submission.conclude();
        if judging.holds().is_claim() {
            let losses = self.losses(plan, self.notes());
            self.found.follow(plan);
            self.take_findings(&losses);
        }
        if judging.has_failed() {
            self.phase = Phase::Judging(judging);
            return self.conclude(plan);
        }
        self.ask_about(plan, judging);
    }

    /// Nothing stands against the work any more.
    pub(super) fn hand_in(&mut self, plan: &Plan, judging: Judging) {
        if judging.delivers {
            self.phase = Phase::Delivering(judging);
        } else {
            self.passed(plan, judging);
        }
    }

    pub(super) fn delivered(&mut self, plan: &Plan) {
        if let Phase::Delivering(judging) = self.phase {
            self.passed(plan, judging);
        }
    }

    /// A turn left another branch checked out. Returns whether it is red for that.
    pub(super) fn strays(&mut self, plan: &Plan, found: Option<&str>) -> bool {
        let Some(found) = found else {
            self.strays = 0;
            return false;
        };
        self.strays += 1;
        let expected = plan.branch.clone().unwrap_or_default();
        if 1 < self.strays {
            let found = found.to_owned();
            self.phase = Phase::Over(Outcome::Stopped(Stop::OtherBranch { expected, found }));
            return true;
        }
        self.feedback.push(Feedback::appended(format!(
            "The last iteration left the branch `{found}` checked out, but this work is for `{expected}`. Ralph does not move \
             branches and has not committed anything. Bring your work to `{expected}` and check that branch out before you \
             finish."
        )));
        self.fail(plan, Cause::Gate, "the work is on another branch", 0);
        true
    }
}

//! What follows when something was done to the judgement of a claim that the judge agrees with.

use super::{
    super::{
        event::{Examined, PutBack, TurnEnded},
        findings::Question,
        outcome::{Exhausted, Outcome},
        phase::{Judging, Phase, Verdict},
        plan::{Plan, Work},
    },
    State,
};
use ralph_checks::test_files::compare::Worse;

use crate::{
    prompt::Feedback,
    verify::{changed_check::ChangedCheck, check_note::CheckNote, finding::Finding, rules::OnFinding},
};

/// What the agent is told before the findings when it is asked.
const ASKED: &str = "All checks pass, but files that check your work were changed. Your claim does not count yet. For each of \
                     these, choose one of two things:";

/// The same where a claim with findings never counts.
const REFUSED: &str = "All checks pass, but files that check your work were changed. Your claim does not count until they are restored:";

impl State {
    pub(super) fn examined(&mut self, plan: &Plan, examined: &Examined) {
        self.spent.take_time(examined.ms);
        let Phase::Trying(trial) = &self.phase else { return };
        if trial.next(plan, &self.judge) != Some(super::super::trial::JudgeStep::Examine) {
            return;
        }
        let judging = trial.judging;
        let Examined { findings, notes, .. } = examined;
        let mut findings = findings.clone();
        if judging.holds().is_claim() {
            findings.extend(self.losses(plan, notes));
        }
        let findings = &findings[..];
        self.found.at_claim(plan, findings, notes);
        if findings.is_empty() {
            return self.deliver(plan, judging);
        }
        match plan.on_finding {
            OnFinding::Refuse => {
                self.feedback.push(Feedback::appended(refusal(findings)));
                self.refuse(plan, judging, Verdict::Questioned);
            }
            OnFinding::Restore if self.found.restored.is_none() && !self.to_put_back().is_empty() => {
                self.phase = Phase::Restoring(judging);
            }
            OnFinding::Ask if self.can_ask(plan, judging) && self.found.tell(findings) => {
                self.feedback.push(Feedback::appended(question(findings)));
                let is_claim = judging.holds().is_claim();
                self.found.question = Some(if is_claim { Question::OfClaim } else { Question::OfStory });
                self.refuse(plan, judging, Verdict::Questioned);
            }
            OnFinding::Restore | OnFinding::Ask | OnFinding::Report => self.deliver(plan, judging),
        }
    }

    /// Guardrails that passed with fewer tests than before the first turn, unless the files say why.
    pub(super) fn losses(&self, plan: &Plan, notes: &[CheckNote]) -> Vec<Finding> {
        let gone = gone_for_a_reason(notes);
        self.judge.tally.losses(plan).into_iter().filter(|loss| !loss.is_of(gone)).collect()
    }

    /// Whether there is a turn that can answer. When all stories are approved there is none.
    fn can_ask(&self, plan: &Plan, judging: Judging) -> bool {
        let has_work = plan.work == Work::Prompt || judging.submitted;
        has_work && self.has_turn_left(plan, judging) && super::super::exhausted(plan, self).is_none()
    }

    /// The files that the findings of the last claim are about and that can be put back.
    pub(in crate::engine) fn to_put_back(&self) -> Vec<String> {
        let checks = self.findings().iter().flat_map(Finding::checks);
        let mut files: Vec<String> =
            checks.filter(|check| check.can_be_put_back()).map(|check| check.file.clone()).collect();
        files.sort();
        files.dedup();
        files
    }

    pub(super) fn put_back(&mut self, plan: &Plan, put_back: &PutBack) {
        let Phase::Restoring(judging) = self.phase else { return };
        self.found.restored = Some(put_back.files.clone());
        if put_back.files.is_empty() {
            return self.deliver(plan, judging);
        }
        self.phase = Phase::Judging(judging.afresh());
        self.conclude(plan);
    }

    /// What the agent is told when its work does not pass with what was put back.
    pub(super) fn tell_restored(&mut self) {
        let Some(files) = self.found.restored.as_ref().filter(|files| !files.is_empty()) else { return };
        let names = files.join(", ");
        self.feedback.push(Feedback::appended(format!(
            "Ralph has restored the files that check your work to the start of the run: {names}. Make the work pass with them."
        )));
    }

    /// How a run ends at a limit: what was claimed and only waits for an answer is done, with findings; unless a reviewer had
    /// to approve it, who was not asked yet.
    pub(in crate::engine) fn without_answer(&self, plan: &Plan, limit: Exhausted) -> Outcome {
        let is_reviewed = plan.gates.iter().any(|gate| gate.check.is_review());
        if self.is_asking() && !is_reviewed { Outcome::Done } else { Outcome::Exhausted { limit } }
    }

    pub(super) fn question_begins(&mut self) {
        self.found.restored = None;
        self.found.question = self.found.question.map(|_| Question::Asked);
    }

    pub(super) fn question_ends(&mut self, turn: &TurnEnded) {
        if self.found.question.take().is_some() {
            self.spent.asked.take(turn);
        }
        self.found.answered(turn.reason.as_deref());
    }
}

/// How many tests are gone from the files because what they tested is gone, too.
fn gone_for_a_reason(notes: &[CheckNote]) -> u64 {
    let with_reason = notes.iter().filter(|note| matches!(note, CheckNote::NotComparable { .. }));
    let checks = with_reason.flat_map(CheckNote::checks);
    let gone = checks.flat_map(|check| &check.worse).filter(|worse| matches!(worse, Worse::Vanished { .. }));
    gone.map(|_| 1).sum()
}

/// All findings, each in two lines: what it is, and what can be done about it.
fn question(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|finding| format!("\n- {}.\n  {}", finding.line(), finding.choices()));
    format!("{ASKED}{}", lines.collect::<String>())
}

fn refusal(findings: &[Finding]) -> String {
    let lines = findings.iter().map(|finding| {
        let files: Vec<&str> = finding.checks().iter().map(|it: &ChangedCheck| it.file.as_str()).collect();
        let back = if files.is_empty() { "it".to_owned() } else { files.join(", ") };
        format!("\n- {}.\n  Put {back} back as it was when the run began.", finding.line())
    });
    format!("{REFUSED}{}", lines.collect::<String>())
}

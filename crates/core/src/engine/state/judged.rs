//! How the work of a turn goes through the gates and into a commit.

use super::{
    super::{
        Round,
        commit::{ChangeCause, CommitEnd},
        event::{GateEnded, TasksJudged, TurnEnded},
        next_gate,
        outcome::Outcome,
        phase::{Judging, PendingWork, Phase, Said, Verdict},
        plan::{Cause, CommitRule, Plan},
        round,
        trial::Trial,
    },
    State,
};
use crate::{claim::Claim, prompt::Feedback};

/// What the agent is told when it said that it was done and a gate says otherwise.
const REFUTED: &str = "You said that the work was complete, but the checks did not pass. Fix what they found \
                       before you say so again.";

/// What the agent is told when a turn did to the task list what it may not do.
const BROKEN: &str =
    "The last iteration broke the rules of the task list. Ralph has undone what was not allowed:";

impl State {
    pub(super) fn passed(&mut self, plan: &Plan, judging: Judging) {
        self.spent.passed += u32::from(judging.work != PendingWork::None);
        self.counts.passed();
        self.crew.was_green();
        match judging.holds() {
            Said::Done | Said::DoneByFile => self.phase = Phase::Over(Outcome::Done),
            Said::Blocked => self.is_blocked(plan),
            Said::Nothing => self.onward(plan),
        }
    }

    pub(super) fn judge(&mut self, plan: &Plan, turn: &TurnEnded) {
        self.limited_turns = 0;
        self.crew.worked();
        self.forget_feedback();
        if self.strays(plan, turn.branch.as_deref()) {
            return;
        }
        let view = turn.view.as_ref();
        let claim = Said::of(plan, turn.claimed || plan.claims.contains(&Claim::TurnEnd), view);
        self.phase = Phase::Judging(Judging {
            said: if self.hears_blocked(turn) { Said::Blocked } else { claim },
            submitted: view.and_then(|view| view.stories.as_ref()).is_some_and(|stories| stories.submitted),
            mode: self.mode,
            work: PendingWork::Fresh,
            ..Judging::default()
        });
        if turn.blocked.is_some() && claim == Said::DoneByFile {
            self.put_aside = claim_file(plan);
        }
        self.conclude(plan);
    }

    pub(super) fn tasks_judged(&mut self, judged: &TasksJudged) {
        self.unjudged = false;
        self.submission_settled(judged);
        if judged.broken.is_empty() {
            return;
        }
        let text = format!("{BROKEN}\n- {}", judged.broken.join("\n- "));
        if matches!(self.phase, Phase::Judging(_)) {
            // Told by the gate, which remembers it for a resume that judges again.
            self.broken = Some(text);
        } else {
            self.feedback.push(Feedback::appended(text));
        }
    }

    pub(super) fn gate_ended(&mut self, plan: &Plan, ended: &GateEnded) {
        self.spent.take_time(ended.ms);
        let Phase::Judging(judging) = &mut self.phase else { return };
        // Only the gate that was due: a line of the journal that is lost must not let a later one stand in for it.
        let Some(gate) = plan.gates.get(ended.gate).filter(|_| next_gate(plan, *judging) == Some(ended.gate))
        else {
            return;
        };
        let due = round(gate.when, *judging);
        let rounds = due.map_or(0, |round| round as usize);
        judging.next_gate = rounds * plan.gates.len() + ended.gate + 1;
        self.baseline.judged(ended);
        self.judge.tally.gate_ended(ended);
        self.progress.gate_ended(ended);
        if let Some(feedback) = ended.feedback(gate) {
            // What is not the whole is still work; where there is none, only the claim was to be judged.
            let is_work_kept = ended.leaves_work() && judging.work != PendingWork::None;
            if judging.verdict != Verdict::Failed {
                judging.verdict = if is_work_kept { Verdict::Unfinished } else { Verdict::Failed };
            }
            // What refutes that everything is done says nothing about the one story. Another failure does where it is a
            // command's, or keeps those commands from running that verify the story.
            let verifies = gate.check.is_command() || plan.verifies_submissions();
            if judging.submitted && due != Some(Round::Claim) && verifies {
                self.submission.refuse();
            }
            self.feedback.push(feedback);
        }
        self.conclude(plan);
    }

    /// The file that was wrong is out of the way, or cannot be moved; then nothing follows from it before the next turn.
    pub(super) fn claim_put_aside(&mut self, file: &str, to: Option<&str>) {
        self.put_aside = None;
        if let Some(to) = to {
            let text = format!("Ralph has renamed {file} to {to}. Write {file} again when the checks pass.");
            self.feedback.push(Feedback::appended(text));
        }
    }

    /// Settles an iteration whose gates have all been checked, unless there is work to commit.
    pub(super) fn conclude(&mut self, plan: &Plan) {
        let Phase::Judging(judging) = self.phase else { return };
        if next_gate(plan, judging).is_some() {
            return;
        }
        // What the judge has to decide is not decided.
        if judging.has_failed() && self.is_submission_due(plan, judging) {
            self.phase = Phase::Trying(Trial::new(judging));
            return;
        }
        if judging.has_failed() {
            self.submission.conclude();
            self.tell_restored();
            if judging.said.is_claim() {
                self.refuted = true;
                self.put_aside = claim_file(plan).filter(|_| judging.said == Said::DoneByFile);
                if judging.verdict != Verdict::Questioned {
                    self.feedback.push(Feedback::appended(REFUTED.to_owned()));
                }
            }
            if judging.said == Said::Blocked {
                self.is_blocked(plan);
            } else if judging.work == PendingWork::None {
                // No turn has run, so no iteration is used up; that it was refuted keeps this from spinning.
                self.phase = Phase::Idle;
            } else {
                self.fail(plan, Cause::Gate, "the guardrails did not pass", 0);
            }
        } else if judging.work == PendingWork::None || plan.commit == CommitRule::Never {
            self.passed_in_place(plan, judging);
        }
    }

    pub(super) fn commit_started(&mut self, plan: &Plan) {
        if let Phase::Judging(judging) = self.phase
            && next_gate(plan, judging).is_none()
        {
            self.phase = Phase::Committing(judging);
        }
    }

    pub(super) fn commit_ended(&mut self, plan: &Plan, end: &CommitEnd) {
        let (Phase::Judging(judging) | Phase::Committing(judging)) = self.phase else { return };
        // No commit stands in for a gate either: if the gate's line is lost, no one knows that it passed.
        if next_gate(plan, judging).is_some() {
            return;
        }
        match end {
            CommitEnd::Failed { output } => {
                let text = format!("The work passed its guardrails but could not be committed:\n{output}");
                self.feedback.push(Feedback::appended(text));
                self.fail(plan, Cause::Commit, output.lines().last().unwrap_or("the commit failed"), 0);
            }
            CommitEnd::Nothing if judging.said == Said::Nothing && self.counts.is_nothing_left(plan) => {
                self.passed_in_place(plan, Judging { said: Said::Done, ..judging });
            }
            CommitEnd::Nothing if plan.commit == CommitRule::Required && judging.holds() == Said::Nothing => {
                self.fail(plan, Cause::NoChange, "No changes detected", 0);
            }
            CommitEnd::Made { .. } => {
                self.spent.commits += 1;
                self.progress.committed();
                self.passed_in_place(plan, Judging { delivers: self.is_undecided(plan, judging), ..judging });
            }
            // Not the files: no one knows about them, so the gates decide once more, however often ralph is killed.
            CommitEnd::Changed { cause: Some(ChangeCause::RalphDied) } => {
                self.feedback.clear();
                self.phase = Phase::Judging(judging.afresh());
                self.conclude(plan);
            }
            CommitEnd::Changed { .. } if judging.work == PendingWork::Fresh => {
                self.feedback.clear();
                self.phase = Phase::Judging(Judging { work: PendingWork::Changed, ..judging.afresh() });
                self.conclude(plan);
            }
            CommitEnd::Changed { .. } => self.fail(plan, Cause::Commit, "the files change all the time", 0),
            CommitEnd::Already { .. } => {
                self.passed_in_place(plan, Judging { delivers: self.is_undecided(plan, judging), ..judging });
            }
            CommitEnd::Nothing | CommitEnd::NotWanted => self.passed_in_place(plan, judging),
        }
    }
}

/// The file that claims that the task is done.
fn claim_file(plan: &Plan) -> Option<String> {
    plan.claims.iter().find_map(|claim| match claim {
        Claim::File { path } => Some(path.clone()),
        Claim::Tag { .. }
        | Claim::StoriesApproved
        | Claim::PlanSettled
        | Claim::NothingLeft
        | Claim::TurnEnd => None,
    })
}

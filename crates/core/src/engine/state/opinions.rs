//! What reviewers are asked about a claim, and what follows from their answers.
//!
//! Invariant: a review that is a guardrail passes only by an approval of what is claimed. Whatever else its reviewer does, the
//! claim is sent back, a person is asked, or the run ends; it never counts as complete.

use std::collections::BTreeMap;

use super::{
    super::{
        event::{OpinionEnded, OpinionStarted, TurnEnd},
        outcome::Outcome,
        phase::{Asking, Judging, PendingWork, Phase, Verdict},
        plan::{Check, Plan},
    },
    State, unsafe_end,
};
use crate::{
    prompt::Feedback,
    review::{Fixes, MAX_ASKED, Opinion, OpinionAbout, OpinionSaid, ReviewVerdict},
    verify::{
        finding::Finding,
        rules::{LookWhen, OnLook},
    },
};

/// What is known of reviewers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::engine) struct Opinions {
    /// How many were asked in the run.
    begun: u32,
    /// How often the reviewer of a gate asked for changes.
    rounds: BTreeMap<usize, u32>,
    /// What was said about the last claim.
    last: Vec<Opinion>,
    /// A claim that was on its way when the run had to wait, or to end: it is judged again.
    interrupted: Option<Judging>,
}

impl Opinions {
    /// Which opinion of the run the next one is.
    pub(in crate::engine) fn next_number(&self) -> u32 {
        self.begun.saturating_add(1)
    }

    /// A person has looked: reviewers may ask for changes as often as at the beginning.
    pub(in crate::engine) fn forget_rounds(&mut self) {
        self.rounds.clear();
    }

    pub(super) fn turn_started(&mut self) {
        self.interrupted = None;
    }
}

impl State {
    /// What reviewers said about the last claim.
    pub fn opinions(&self) -> &[Opinion] {
        &self.opinions.last
    }

    /// Everything else let the claim pass: reviewers are asked, if they are to be.
    pub(super) fn ask_about(&mut self, plan: &Plan, judging: Judging) {
        if judging.holds().is_claim() {
            self.opinions.last.clear();
            self.found.forget_opinions();
        }
        self.ask_next(plan, judging, None);
    }

    fn ask_next(&mut self, plan: &Plan, judging: Judging, after: Option<OpinionAbout>) {
        match self.next_about(plan, judging, after) {
            Some(about) => self.phase = Phase::Asking(Asking { judging, about, unheard: 0 }),
            None => self.hand_in(plan, judging),
        }
    }

    fn next_about(&self, plan: &Plan, judging: Judging, after: Option<OpinionAbout>) -> Option<OpinionAbout> {
        if !judging.holds().is_claim() {
            return None;
        }
        let next = match after {
            None => 0,
            Some(OpinionAbout::Review { gate }) => gate.saturating_add(1),
            Some(OpinionAbout::Look) => return None,
        };
        let gate = (next..plan.gates.len()).find(|gate| plan.gates[*gate].check.is_review());
        gate.map(|gate| OpinionAbout::Review { gate }).or_else(|| {
            let is_due = match plan.look {
                LookWhen::Off => false,
                LookWhen::Always => true,
                LookWhen::Finding => self.findings().iter().any(|finding| !finding.is_opinion()),
            };
            is_due.then_some(OpinionAbout::Look)
        })
    }

    pub(super) fn opinion_started(&mut self, started: &OpinionStarted) {
        self.opinions.begun = self.opinions.begun.max(started.number);
        self.crew.opinion_started(started.agent.as_deref());
        if let Phase::Asking(asking) = self.phase {
            self.phase = Phase::InOpinion(asking);
        }
    }

    pub(super) fn opinion_ended(&mut self, plan: &Plan, ended: &OpinionEnded) {
        self.spent.take_usage(ended.usage);
        self.spent.take_time(ended.ms);
        self.crew.take_turn(ended.usage, ended.ms);
        let is_absent = matches!(&ended.end, TurnEnd::Failed(failure) if self.crew.failed(failure));
        if ended.end == TurnEnd::Finished {
            self.crew.worked();
        }
        let agent = self.crew.opinion_ended();
        let Phase::InOpinion(asking) = self.phase else { return };
        if asking.about != ended.about {
            return;
        }
        match &ended.end {
            TurnEnd::Abandoned => self.judge_again(asking.judging),
            // The next reviewer, or the same again: the rules say which.
            TurnEnd::Interrupted => self.phase = Phase::Asking(asking),
            TurnEnd::Failed(_) if is_absent => self.phase = Phase::Asking(asking),
            TurnEnd::Tampered { .. } | TurnEnd::Unguarded { .. } => {
                if let Some(stop) = unsafe_end(&ended.end) {
                    self.opinions.interrupted = Some(asking.judging);
                    self.phase = Phase::Over(Outcome::Stopped(stop));
                }
            }
            TurnEnd::OverBudget { limit } => match asking.about {
                OpinionAbout::Review { .. } => {
                    self.opinions.interrupted = Some(asking.judging);
                    self.phase = Phase::Over(Outcome::Exhausted { limit: *limit });
                }
                OpinionAbout::Look => {
                    let why = format!("the reviewer was ended at the limit of {}", limit.name());
                    self.no_opinion(plan, asking, agent, ended.ms, why);
                }
            },
            TurnEnd::Failed(failure) => {
                let why = format!("the reviewer failed: {}", failure.message);
                self.unheard(plan, asking, agent, ended.ms, why);
            }
            TurnEnd::Paused { .. } => {
                self.unheard(plan, asking, agent, ended.ms, "the reviewer waits for a person".to_owned());
            }
            TurnEnd::Finished => self.answered(plan, asking, agent, ended),
        }
    }

    fn answered(&mut self, plan: &Plan, asking: Asking, agent: Option<String>, ended: &OpinionEnded) {
        let (about, ms) = (asking.about, ended.ms);
        match (about, &ended.verdict, &ended.look) {
            (OpinionAbout::Review { gate }, Some(verdict), _) if !verdict.is_approval() => {
                let said = OpinionSaid::Verdict(verdict.clone());
                self.opinions.last.push(Opinion { about, agent: agent.clone(), said, ms });
                self.changes_requested(plan, asking.judging, gate, agent.as_deref(), verdict);
            }
            // It judged what it had made, and not what was claimed.
            (OpinionAbout::Review { .. }, Some(_), _) if ended.meddled => {
                let why = "the reviewer approved after it had changed what it was to judge".to_owned();
                self.unheard(plan, asking, agent, ms, why);
            }
            (OpinionAbout::Review { .. }, Some(verdict), _) => {
                let said = OpinionSaid::Verdict(verdict.clone());
                self.opinions.last.push(Opinion { about, agent, said, ms });
                self.ask_next(plan, asking.judging, Some(about));
            }
            (OpinionAbout::Look, _, Some(answer)) => {
                let said = OpinionSaid::Look(answer.clone());
                self.opinions.last.push(Opinion { about, agent, said, ms });
                if answer.fixes != Fixes::Task {
                    self.withhold_look(plan);
                }
                self.ask_next(plan, asking.judging, Some(about));
            }
            (OpinionAbout::Review { .. }, None, _) | (OpinionAbout::Look, _, None) => {
                let why = "the reviewer gave no answer that ralph can read".to_owned();
                self.unheard(plan, asking, agent, ms, why);
            }
        }
    }

    /// The claim goes back to the agent with what the reviewer says, unless it did so often enough: then a person decides.
    fn changes_requested(
        &mut self,
        plan: &Plan,
        judging: Judging,
        gate: usize,
        agent: Option<&str>,
        verdict: &ReviewVerdict,
    ) {
        let by = agent.unwrap_or("the reviewer").to_owned();
        let rounds = self.opinions.rounds.entry(gate).or_default();
        *rounds = rounds.saturating_add(1);
        let rounds = *rounds;
        let Some((gate_of_plan, Check::Review { rounds: most, .. })) =
            plan.gates.get(gate).map(|it| (it, &it.check))
        else {
            return;
        };
        if *most <= rounds {
            let summary = verdict.summary.clone();
            self.take_findings(&[Finding::NotApproved { by, rounds, summary }]);
            return self.ask_next(plan, judging, Some(OpinionAbout::Review { gate }));
        }
        let mut text = verdict.feedback(&by);
        if let Some(hint) = &gate_of_plan.hint {
            text = format!("{text}\n\n{hint}");
        }
        self.feedback.push(Feedback { action: gate_of_plan.fail_action, own: text.len(), text });
        self.refuse(plan, judging, Verdict::Questioned);
    }

    /// An answer that says nothing is asked for once more.
    fn unheard(&mut self, plan: &Plan, asking: Asking, agent: Option<String>, ms: u64, why: String) {
        let unheard = asking.unheard.saturating_add(1);
        if unheard < MAX_ASKED {
            self.phase = Phase::Asking(Asking { unheard, ..asking });
        } else {
            self.no_opinion(plan, asking, agent, ms, why);
        }
    }

    /// No reviewer says anything about the claim. A guardrail does not pass by that.
    fn no_opinion(&mut self, plan: &Plan, asking: Asking, agent: Option<String>, ms: u64, why: String) {
        let about = asking.about;
        self.opinions.last.push(Opinion { about, agent, said: OpinionSaid::Nothing(why.clone()), ms });
        match about {
            OpinionAbout::Review { gate } => {
                let review = plan.gates.get(gate).map_or("review", |gate| gate.check.name()).to_owned();
                self.take_findings(&[Finding::NotReviewed { review, why }]);
            }
            OpinionAbout::Look => self.withhold_look(plan),
        }
        self.ask_next(plan, asking.judging, Some(about));
    }

    /// Where the settings want the reviewer to say that the task is fixed, everything else is a finding.
    fn withhold_look(&mut self, plan: &Plan) {
        if plan.on_look == OnLook::Withhold
            && let Some(opinion) = self.opinions.last.last()
        {
            let said = opinion.line();
            self.take_findings(&[Finding::NotTheTask { said }]);
        }
    }

    pub(super) fn look_forgone(&mut self, plan: &Plan, why: &str) {
        let Phase::Asking(asking) = self.phase else { return };
        if asking.about == OpinionAbout::Look {
            self.no_opinion(plan, asking, None, 0, why.to_owned());
        }
    }

    /// Whether the reviewer is asked again because its last answer could not be read.
    pub fn is_asked_again(&self) -> bool {
        matches!(self.phase, Phase::Asking(asking) | Phase::InOpinion(asking) if 0 < asking.unheard)
    }

    /// Whether a reviewer is being asked.
    pub fn is_in_opinion(&self) -> bool {
        matches!(self.phase, Phase::InOpinion(_))
    }

    /// A wait begins. If it is for a reviewer, the claim is judged again after it: no one knows what happens to the files.
    pub(super) fn opinion_waits(&mut self) {
        if let Phase::Asking(asking) = self.phase {
            self.opinions.interrupted = Some(asking.judging);
        }
    }

    pub(super) fn opinion_waited(&mut self) {
        if let Some(judging) = self.opinions.interrupted.take() {
            self.judge_again(judging);
        }
    }

    /// Another process goes on: a claim that waits for a reviewer is judged from the beginning.
    pub(super) fn opinion_resumed(&mut self) {
        match (&self.phase, self.opinions.interrupted) {
            (Phase::Asking(asking), _) => self.phase = Phase::Judging(asking.judging),
            (Phase::Over(outcome), Some(judging)) if !outcome.is_final() => {
                self.opinions.interrupted = None;
                self.phase = Phase::Judging(judging);
            }
            _ => {}
        }
    }

    fn judge_again(&mut self, judging: Judging) {
        self.feedback.clear();
        self.phase = match judging.work {
            PendingWork::None => Phase::Idle,
            PendingWork::Fresh | PendingWork::Changed => Phase::Judging(judging.afresh()),
        };
    }
}

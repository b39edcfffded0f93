//! What was done to the judgement of a run: the checks passed, but a person must look before it counts as complete.
//!
//! Invariant: a finding withholds exit code 0 until a person accepts it. No turn and no resume removes one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{State, outcome::Outcome, plan::Plan};
use crate::prompt::Feedback;

/// Something that was done to the judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "finding", rename_all = "snake_case")]
pub enum Finding {
    /// A story was approved because it had been reviewed as often as the run allows; its last reviewer asked for changes.
    ApprovedAtCap {
        /// Which.
        story: String,
        /// After how many reviews.
        cap: u32,
    },
    /// A guardrail passes in the working tree and fails in the judge, also after the agent was told so.
    JudgeDisagrees {
        /// Which.
        command: String,
    },
    /// A process of the run typed a command that is for the person who judges it. It was refused.
    PersonsCommand {
        /// The command.
        command: String,
    },
}

/// What was found in a run, and whether a person has looked at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Each once.
    all: Vec<Finding>,
    /// A person has looked at all of them and accepts the work.
    pub(super) accepted: bool,
}

impl Finding {
    /// In one line, without a full stop.
    pub fn line(&self) -> String {
        match self {
            Self::ApprovedAtCap { story, cap: 1 } => {
                format!("{story} was approved at the review cap of 1; its reviewer had asked for changes")
            }
            Self::ApprovedAtCap { story, cap } => {
                format!(
                    "{story} was approved at the review cap of {cap}; its last reviewer had asked for changes"
                )
            }
            Self::JudgeDisagrees { command } => {
                format!("`{command}` passes in the working tree and fails in a clean clone of the commit")
            }
            Self::PersonsCommand { command } => {
                format!("a process of the run typed `ralph {command}`, which is for a person; it was refused")
            }
        }
    }
}

impl State {
    /// What was found, each once.
    pub fn findings(&self) -> &[Finding] {
        &self.found.all
    }

    /// Whether a person must look before the run counts as complete.
    pub fn needs_person(&self) -> bool {
        !self.found.all.is_empty() && !self.found.accepted
    }

    /// Whether the run is done as far as the checks go, and a person must look.
    pub fn is_done_with_findings(&self) -> bool {
        self.ended == Some(Outcome::Done) && self.needs_person()
    }

    /// What `ralph` exits with when the run ends so.
    pub fn exit_code(&self, plan: &Plan, outcome: &Outcome) -> u8 {
        match outcome.exit_code(plan) {
            0 if self.needs_person() => plan.limits.finding_exit_code,
            code => code,
        }
    }

    pub(super) fn take_findings(&mut self, findings: &[Finding]) {
        for finding in findings {
            if !self.found.all.contains(finding) {
                self.found.all.push(finding.clone());
                self.found.accepted = false;
            }
        }
    }

    /// A person sends the work back: one more iteration that is told why, and no claim of before counts.
    pub(super) fn rejected(&mut self, why: &str) {
        if !self.is_done_with_findings() {
            return;
        }
        let text = format!("A person looked at the work and sent it back:\n{why}");
        self.send_back(Feedback::appended(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{
        Action, decide,
        event::{Event, Turn, TurnEnd, TurnEnded},
        presets,
    };

    fn done(plan: &Plan, findings: &[Finding]) -> State {
        let mut state = State::default();
        for event in [
            Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
            Event::Found { findings: findings.to_vec() },
            Event::Found { findings: findings.to_vec() },
            Event::TurnEnded(Box::new(TurnEnded { claimed: true, ..TurnEnded::new(TurnEnd::Finished) })),
            Event::CommitEnded(crate::engine::commit::CommitEnd::Nothing),
            Event::RunEnded { outcome: Outcome::Done, exit_code: 7 },
        ] {
            state.apply(plan, &event);
        }
        state
    }

    fn typed() -> Finding {
        Finding::PersonsCommand { command: "accept".to_owned() }
    }

    #[test]
    fn a_finding_withholds_exit_code_0_until_it_is_accepted() {
        let plan = presets::run("DONE", vec![]);
        let clean = done(&plan, &[]);
        assert_eq!((clean.exit_code(&plan, &Outcome::Done), clean.is_done_with_findings()), (0, false));
        let mut state = done(&plan, &[typed()]);
        assert_eq!(state.findings(), [typed()]);
        assert_eq!(state.exit_code(&plan, &Outcome::Done), 7);
        assert_eq!(state.exit_code(&plan, &Outcome::Interrupted), 130);
        state.apply(&plan, &Event::Accepted { why: None });
        assert_eq!((state.exit_code(&plan, &Outcome::Done), state.is_done_with_findings()), (0, false));
        // What is found later is not covered.
        state.apply(
            &plan,
            &Event::Found { findings: vec![Finding::PersonsCommand { command: "reject".to_owned() }] },
        );
        assert_eq!(state.exit_code(&plan, &Outcome::Done), 7);
    }

    #[test]
    fn work_that_is_sent_back_gets_one_more_iteration_that_is_told_why() {
        let plan = presets::run("DONE", vec![]);
        let mut state = done(&plan, &[typed()]);
        state.apply(&plan, &Event::Rejected { why: "not good".to_owned() });
        assert_eq!(state.outcome(), None);
        assert_eq!(state.position(), (2, 1));
        assert!(state.feedback()[0].text.ends_with("sent it back:\nnot good"));
        assert!(matches!(decide(&plan, &state), Action::RunTurn(order) if order.iteration == 2));
        // The finding stays until a person accepts it.
        assert!(state.needs_person());
        let mut clean = done(&plan, &[]);
        clean.apply(&plan, &Event::Rejected { why: "no".to_owned() });
        assert_eq!(clean.outcome(), Some(&Outcome::Done));
    }

    #[test]
    fn every_finding_is_one_line() {
        let capped = |cap| Finding::ApprovedAtCap { story: "US-1".to_owned(), cap };
        assert_eq!(
            capped(1).line(),
            "US-1 was approved at the review cap of 1; its reviewer had asked for changes"
        );
        assert_eq!(
            capped(3).line(),
            "US-1 was approved at the review cap of 3; its last reviewer had asked for changes"
        );
        assert_eq!(
            typed().line(),
            "a process of the run typed `ralph accept`, which is for a person; it was refused"
        );
        let value = serde_json::to_value(capped(3)).expect("JSON");
        assert_eq!(value, serde_json::json!({"finding": "approved_at_cap", "story": "US-1", "cap": 3}));
    }
}

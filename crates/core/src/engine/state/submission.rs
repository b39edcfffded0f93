//! A story that a turn submits is a claim: no review is spent on it before guardrails and verify commands have passed. What
//! no one verified is taken back, and the next turn of that story is told why.

use super::{
    super::{
        event::TasksJudged,
        phase::Phase,
        plan::{Gate, Plan, When},
    },
    State,
};
use crate::{prompt::Feedback, stories::Mode};

/// A story that the last turn submitted, if it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Submission {
    /// Nothing has to be said about it, or everything has passed.
    #[default]
    Unquestioned,
    /// What verifies it has not been run to its end.
    Unverified,
    /// It did not pass.
    Refused,
}

/// What only the next turn of one story is told.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Addressed {
    story: String,
    feedback: Vec<Feedback>,
}

impl Submission {
    /// What a turn that begins may submit.
    pub(super) fn of_turn(plan: &Plan, mode: Mode) -> Self {
        let verifies = |gate: &Gate| match gate.when {
            When::EveryTurn | When::ChangedOrClaimed | When::SubmittedOrClaimed => gate.check.is_command(),
            When::Claimed => false,
        };
        let is_verified = plan.gates.iter().any(verifies);
        match mode {
            Mode::Implement | Mode::Fix if plan.judges_tasks() && is_verified => Self::Unverified,
            Mode::Implement | Mode::Fix | Mode::Work | Mode::Review => Self::Unquestioned,
        }
    }

    /// Whether nothing speaks against it so far, and not everything was checked.
    pub(super) fn is_open(self) -> bool {
        self == Self::Unverified
    }

    /// A gate has failed, and so it did not pass.
    pub(super) fn refuse(&mut self) {
        if *self == Self::Unverified {
            *self = Self::Refused;
        }
    }

    /// The gates of the turn have all been checked.
    pub(super) fn conclude(&mut self) {
        if *self == Self::Unverified {
            *self = Self::Unquestioned;
        }
    }
}

impl Plan {
    /// Whether commands run only when a story is submitted, and only where nothing else has failed.
    pub(super) fn verifies_submissions(&self) -> bool {
        self.gates.iter().any(|gate| gate.check.is_command() && gate.when == When::SubmittedOrClaimed)
    }
}

impl State {
    /// Whether what the last turn submitted is to be taken back: everything that could verify it is over.
    pub fn is_unready(&self) -> bool {
        self.submission != Submission::Unquestioned && !self.is_at_work()
    }

    /// Whether a process that has gone may have left a submission that no one verified.
    pub fn leaves_unverified(&self) -> bool {
        self.submission != Submission::Unquestioned
            && match &self.phase {
                Phase::Judging(judging)
                | Phase::Committing(judging)
                | Phase::Restoring(judging)
                | Phase::Delivering(judging) => judging.submitted,
                Phase::Trying(trial) => trial.judging.submitted,
                Phase::Asking(asking) | Phase::InOpinion(asking) => asking.judging.submitted,
                Phase::InTurn
                | Phase::Idle
                | Phase::Looked(_)
                | Phase::Pausing(_)
                | Phase::Waiting { .. }
                | Phase::HandingOver { .. }
                | Phase::Over(_) => true,
            }
    }

    /// What the prompt of the next turn must say if it is about this story.
    pub fn feedback_for(&self, story: Option<&str>) -> Vec<Feedback> {
        let addressed = self.addressed.iter().filter(|it| story == Some(it.story.as_str()));
        addressed.flat_map(|it| &it.feedback).chain(&self.feedback).cloned().collect()
    }

    /// Every gate decides again.
    pub(super) fn verify_again(&mut self) {
        if self.submission == Submission::Refused {
            self.submission = Submission::Unverified;
        }
    }

    /// The judge of the list takes back after a turn what was not verified; inside the judgement the gates decide.
    pub(super) fn submission_settled(&mut self, judged: &TasksJudged) {
        let is_judging = matches!(self.phase, Phase::Judging(_) | Phase::Trying(_));
        if is_judging && judged.taken_back.is_empty() {
            return;
        }
        let submission = std::mem::take(&mut self.submission);
        if let Phase::Judging(judging) = &mut self.phase {
            judging.submitted = false;
        }
        for story in &judged.taken_back {
            let mut feedback = match submission {
                Submission::Refused => self.feedback.clone(),
                Submission::Unverified | Submission::Unquestioned => Vec::new(),
            };
            feedback.push(Feedback::appended(taken_back(story, submission)));
            self.addressed.push(Addressed { story: story.clone(), feedback });
        }
        if submission == Submission::Refused && !judged.taken_back.is_empty() {
            self.feedback.clear();
        }
    }

    /// A turn has come to its end: what it was told need not be said again.
    pub(super) fn forget_feedback(&mut self) {
        self.feedback.clear();
        self.addressed.retain(|it| self.story.as_ref() != Some(&it.story));
    }

    /// The run has ended: from here on a person may submit what they like, unless gates are still to decide.
    pub(super) fn submission_left(&mut self) {
        let is_undecided = matches!(&self.phase, Phase::Judging(judging) if judging.submitted);
        if !is_undecided {
            self.submission = Submission::Unquestioned;
        }
    }
}

fn taken_back(story: &str, submission: Submission) -> String {
    let why = match submission {
        Submission::Refused => "its checks did not pass",
        Submission::Unverified | Submission::Unquestioned => {
            "the iteration that submitted it was cut off before its checks ran"
        }
    };
    format!(
        "Ralph has undone the submission of {story}: {why}. See that the work is complete and committed, then submit \
         it again."
    )
}

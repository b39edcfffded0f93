//! What was done to the judgement of a run: the checks passed, but a person must look before it counts as complete.
//!
//! Invariant: a finding withholds exit code 0 until a person accepts it. No turn and no resume removes one, except that
//! those about what was claimed are those of the last claim.

use std::collections::BTreeSet;

use super::{State, outcome::Outcome, plan::Plan};
use crate::{
    prompt::Feedback,
    verify::{check_note::CheckNote, finding::Finding, rules::OnFinding},
};

/// What was found in a run, and whether a person has looked at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Each once.
    all: Vec<Finding>,
    /// What else was seen at the last claim.
    notes: Vec<CheckNote>,
    /// Why the agent changed what it was asked about, as it says.
    reason: Option<String>,
    /// Those that the agent was told, by their keys.
    told: BTreeSet<String>,
    /// The agent is to be asked, or is being asked.
    pub(super) question: Option<Question>,
    /// The files that were put back for the claim that is being judged; nothing if that was not tried.
    pub(super) restored: Option<Vec<String>>,
    /// What is found at a claim is only reported.
    is_report: bool,
    /// A person has looked at all of them and accepts the work.
    pub(super) accepted: bool,
}

/// A question to the agent about the findings of its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The next turn is told. What was claimed is done as far as the checks go.
    OfClaim,
    /// The same, and what was claimed is one story.
    OfStory,
    /// The turn is on its way.
    Asked,
}

impl Found {
    /// Takes in what was found at a claim, in place of what was found at the one before.
    pub(super) fn at_claim(&mut self, plan: &Plan, findings: &[Finding], notes: &[CheckNote]) {
        let known: BTreeSet<String> = self.all.iter().map(Finding::key).collect();
        self.all.retain(|finding| !finding.is_of_claim());
        self.all.extend(findings.iter().cloned());
        self.notes = notes.to_vec();
        self.follow(plan);
        if findings.iter().any(|finding| !known.contains(&finding.key())) {
            self.accepted = false;
        }
    }

    /// What is found at a claim withholds nothing where it is only reported.
    pub(super) fn follow(&mut self, plan: &Plan) {
        self.is_report = plan.on_finding == OnFinding::Report;
    }

    /// Whether the agent has not heard of one of these. It has then.
    pub(super) fn tell(&mut self, findings: &[Finding]) -> bool {
        let known = self.told.len();
        self.told.extend(findings.iter().map(Finding::key));
        known < self.told.len()
    }

    /// What the agent says about what it was asked.
    pub(super) fn answered(&mut self, reason: Option<&str>) {
        if let Some(reason) = reason.filter(|_| !self.told.is_empty()) {
            self.reason = Some(reason.to_owned());
        }
    }

    /// Forgets what reviewers said about an earlier claim.
    pub(super) fn forget_opinions(&mut self) {
        self.all.retain(|finding| !finding.is_opinion());
    }

    fn withholds(&self, finding: &Finding) -> bool {
        !(self.is_report && finding.is_of_claim())
    }
}

impl State {
    /// What was found, each once.
    pub fn findings(&self) -> &[Finding] {
        &self.found.all
    }

    /// Whether a person must look before the run counts as complete.
    pub fn needs_person(&self) -> bool {
        let found = &self.found;
        !found.accepted && found.all.iter().any(|finding| found.withholds(finding))
    }

    /// Whether a person has looked at all findings and accepts the work.
    pub fn is_accepted(&self) -> bool {
        self.found.accepted
    }

    /// What else was seen at the last claim.
    pub fn notes(&self) -> &[CheckNote] {
        &self.found.notes
    }

    /// Why the agent changed what it was asked about, as it says; that is not judged.
    pub fn reason(&self) -> Option<&str> {
        let is_asked = self.found.all.iter().any(|finding| self.found.told.contains(&finding.key()));
        self.found.reason.as_deref().filter(|_| is_asked)
    }

    /// How many of the turns in which the agent was asked were in vain: it gave a reason, and a person accepts the work.
    pub fn asked_in_vain(&self) -> u32 {
        if self.found.accepted && self.reason().is_some() { self.spent.asked.turns } else { 0 }
    }

    /// Whether the agent is to be asked about findings.
    pub fn is_question_open(&self) -> bool {
        self.found.question.is_some()
    }

    /// Whether what judges was copied before the first turn, because no judge keeps what the run starts from.
    pub fn has_copies(&self) -> bool {
        self.judge.has_copies()
    }

    /// The commit of the judge's own store that the run starts from.
    pub fn base(&self) -> Option<&str> {
        self.judge.base()
    }

    /// Whether what was claimed is done as far as the checks go, and the agent is still to be asked about findings.
    pub(super) fn is_asking(&self) -> bool {
        self.found.question == Some(Question::OfClaim)
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
        self.opinions.forget_rounds();
        let text = format!("A person looked at the work and sent it back:\n{why}");
        self.send_back(Feedback::appended(text));
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::{
        engine::{
            Action, Run, decide,
            entry::Entry,
            event::{Event, RunStarted, Turn, TurnEnd, TurnEnded},
            presets,
        },
        setup::{PromptSource, Setup},
        verify::tested::TestLoss,
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
    fn what_was_accepted_covers_what_was_known_then() {
        let plan = presets::run("DONE", vec![]);
        let fewer = |command: &str| Finding::FewerTests {
            command: command.to_owned(),
            loss: TestLoss::NoSummary { before: 3 },
        };
        let notes = [CheckNote::MayChange { files: Vec::new() }];
        let mut state = State::default();
        state.found.at_claim(&plan, &[fewer("unit")], &notes);
        assert_eq!((state.is_accepted(), state.notes()), (false, &notes[..]));
        state.apply(&plan, &Event::Accepted { why: None });
        for (findings, expected) in [(vec![fewer("unit")], true), (vec![fewer("unit"), fewer("lint")], false)]
        {
            state.found.at_claim(&plan, &findings, &[]);
            assert_eq!((state.is_accepted(), state.notes().len()), (expected, 0), "{findings:?}");
        }
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
    fn only_work_that_waits_for_a_person_gets_an_iteration_beyond_the_limit() {
        for (findings, expected) in [(vec![typed()], 2), (vec![], 1)] {
            let mut plan = presets::run("DONE", vec![]);
            plan.limits.max_iterations = 1;
            let state = done(&plan, &findings);
            let setup = Setup::new("/p".as_ref(), "claude", PromptSource::Text("x".to_owned()));
            let (run, version) = ("r".to_owned(), "v".to_owned());
            let mut run = Run::new(RunStarted { run, version, pid: 1, plan, setup });
            run.state = state;
            let event = Event::Rejected { why: "no".to_owned() };
            run.apply(&Entry { at: Timestamp::UNIX_EPOCH, event });
            assert_eq!(run.plan.limits.max_iterations, expected, "{findings:?}");
        }
    }
}

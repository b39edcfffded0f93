//! What reviewers are asked about a claim, and what follows from their answers.

use jiff::Timestamp;
use ralph_agents::{Failure, FailureKind, Usage};

use crate::{
    engine::{
        Action, Run,
        entry::Entry,
        event::{Event, OpinionEnded, OpinionStarted, RunStarted, Turn, TurnEnd, TurnEnded, Why},
        outcome::{Exhausted, Outcome},
        plan::{Check, CommitRule, Gate, Plan, When},
        presets,
        roles::Roles,
        stop::Stop,
    },
    review::{Fixes, LookAnswer, OpinionAbout, ReviewVerdict, verdict},
    setup::{PromptSource, Setup},
    verify::{
        finding::Finding,
        rules::{LookWhen, OnLook},
    },
};

/// A run whose claims a reviewer judges.
pub(super) struct Reviewed {
    pub(super) run: Run,
    entries: Vec<Entry>,
    pub(super) ms: i64,
}

pub(super) fn review(by: &[&str], rounds: u32) -> Gate {
    let by = by.iter().map(|name| (*name).to_owned()).collect();
    Gate::new(Check::Review { name: "review".to_owned(), by, rounds }, When::Claimed)
}

pub(super) fn plan(gates: Vec<Gate>) -> Plan {
    let names = |name: &str| vec![name.to_owned()];
    let roles = Roles { work: names("main"), review: names("b"), ..Roles::default() };
    Plan { roles, baseline: false, commit: CommitRule::Never, ..presets::run("DONE", gates) }
}

pub(super) fn looking(look: LookWhen, on_look: OnLook) -> Plan {
    Plan { look, on_look, ..plan(Vec::new()) }
}

pub(super) fn approval() -> ReviewVerdict {
    verdict(r#"{"verdict": "approve"}"#, "").expect("a verdict")
}

pub(super) fn request() -> ReviewVerdict {
    verdict(r#"{"verdict": "reject", "summary": "no test", "comments": ["add one"]}"#, "").expect("a verdict")
}

pub(super) fn failed(kind: FailureKind) -> TurnEnd {
    TurnEnd::Failed(Failure { kind, message: "no".to_owned() })
}

impl Reviewed {
    pub(super) fn new(plan: Plan) -> Self {
        let setup = Setup::new("/p".as_ref(), "claude", PromptSource::Text("x".to_owned()));
        let started = RunStarted { run: "r".to_owned(), version: "v".to_owned(), pid: 1, plan, setup };
        let mut reviewed = Self { run: Run::new(started.clone()), entries: Vec::new(), ms: 1_000_000 };
        reviewed.note(Event::RunStarted(Box::new(started)));
        reviewed
    }

    pub(super) fn note(&mut self, event: Event) {
        let entry = Entry { at: Timestamp::from_millisecond(self.ms).expect("a moment"), event };
        self.run.apply(&entry);
        self.entries.push(entry);
        // A reader of the record knows the same.
        assert_eq!(Run::fold(&self.entries).expect("a run"), self.run);
    }

    pub(super) fn next(&self) -> Action {
        self.run.next(Timestamp::from_millisecond(self.ms).expect("a moment"))
    }

    /// A turn that says that it is done.
    #[track_caller]
    pub(super) fn claims(&mut self) {
        self.works(TurnEnded { claimed: true, ..TurnEnded::new(TurnEnd::Finished) });
    }

    #[track_caller]
    fn works(&mut self, ended: TurnEnded) {
        let Action::RunTurn(order) = self.next() else { panic!("{:?}", self.next()) };
        self.note(Event::TurnStarted(Turn::from(order)));
        self.note(Event::TurnEnded(Box::new(ended)));
        self.commit();
    }

    pub(super) fn commit(&mut self) {
        if self.next() == Action::Commit {
            self.note(Event::CommitEnded(crate::engine::commit::CommitEnd::NotWanted));
        }
    }

    /// Begins to ask; returns what and whom.
    #[track_caller]
    fn asks(&mut self) -> (OpinionAbout, String) {
        let Action::AskOpinion(order) = self.next() else { panic!("{:?}", self.next()) };
        let started = OpinionStarted::from(order);
        let (about, agent) = (started.about, started.agent.clone().expect("a name"));
        self.note(Event::OpinionStarted(Box::new(started)));
        self.ms += 1000;
        (about, agent)
    }

    #[track_caller]
    pub(super) fn hears(&mut self, ended: impl FnOnce(OpinionEnded) -> OpinionEnded) -> String {
        let (about, agent) = self.asks();
        let ended = ended(OpinionEnded::new(about, TurnEnd::Finished));
        self.note(Event::OpinionEnded(Box::new(ended)));
        agent
    }

    #[track_caller]
    pub(super) fn hears_verdict(&mut self, verdict: ReviewVerdict) -> String {
        self.hears(|ended| OpinionEnded { verdict: Some(verdict), ..ended })
    }

    #[track_caller]
    fn hears_look(&mut self, fixes: Fixes) -> String {
        self.hears(|ended| OpinionEnded { look: Some(LookAnswer { fixes, reason: None }), ..ended })
    }

    #[track_caller]
    pub(super) fn ends(&self, outcome: &Outcome, code: u8) {
        assert_eq!(self.next(), Action::Finish(outcome.clone()));
        assert_eq!(
            self.run.state.exit_code(&self.run.plan, outcome),
            code,
            "{:?}",
            self.run.state.findings()
        );
    }

    pub(super) fn resumes(&mut self) {
        let limits = self.run.plan.limits;
        self.note(Event::RunResumed { pid: 2, limits });
        self.commit();
    }
}

#[test]
fn only_an_approval_completes_a_claim() {
    let mut run = Reviewed::new(plan(vec![review(&["b"], 3)]));
    run.claims();
    assert_eq!(run.hears_verdict(request()), "b");
    // The agent is told, in a new iteration.
    let told: Vec<&str> = run.run.state.feedback().iter().map(|it| it.text.as_str()).collect();
    assert!(
        told.concat().contains("(b) asks for changes")
            && told.concat().ends_with("no test\n- major: add one")
    );
    assert_eq!(run.run.state.position(), (2, 1));
    run.claims();
    assert!(run.run.state.opinions().is_empty(), "what was said before is about another claim");
    run.hears_verdict(approval());
    run.ends(&Outcome::Done, 0);
    assert_eq!(run.run.state.opinions()[0].line(), "review: b approves");
    assert_eq!(run.run.state.crew().members().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "main"]);
}

#[test]
fn a_turn_that_claims_nothing_is_not_reviewed() {
    let mut run = Reviewed::new(plan(vec![review(&["b"], 3)]));
    run.works(TurnEnded::new(TurnEnd::Finished));
    assert!(matches!(run.next(), Action::RunTurn(order) if order.iteration == 2));
}

#[test]
fn after_the_last_round_a_person_decides() {
    let mut run = Reviewed::new(plan(vec![review(&["b"], 2)]));
    run.claims();
    run.hears_verdict(request());
    run.claims();
    run.hears_verdict(request());
    run.ends(&Outcome::Done, 7);
    let expected =
        Finding::NotApproved { by: "b".to_owned(), rounds: 2, summary: Some("no test".to_owned()) };
    assert_eq!(run.run.state.findings(), [expected]);
    // Sent back, it has as many rounds again, and the old finding goes with the next claim.
    run.note(Event::RunEnded { outcome: Outcome::Done, exit_code: 7 });
    run.note(Event::Rejected { why: "do it".to_owned() });
    run.claims();
    run.hears_verdict(request());
    run.claims();
    run.hears_verdict(approval());
    run.ends(&Outcome::Done, 0);
}

#[test]
fn a_finding_that_is_only_reported_does_not_let_a_review_pass() {
    let rules = crate::verify::rules::OnFinding::Report;
    let mut run = Reviewed::new(Plan { on_finding: rules, ..plan(vec![review(&["b"], 1)]) });
    run.claims();
    run.hears_verdict(request());
    run.ends(&Outcome::Done, 7);
}

#[test]
fn a_reviewer_that_says_nothing_is_asked_once_more_and_then_a_person() {
    let silent: [fn(OpinionEnded) -> OpinionEnded; 4] = [
        |ended| ended,
        |ended| OpinionEnded { end: failed(FailureKind::Transient), ..ended },
        |ended| OpinionEnded { end: TurnEnd::Paused { reason: None }, ..ended },
        // It approves what it has made itself.
        |ended| OpinionEnded { verdict: Some(approval()), meddled: true, ..ended },
    ];
    for silent in silent {
        let mut run = Reviewed::new(plan(vec![review(&["b"], 3)]));
        run.claims();
        assert!(!run.run.state.is_asked_again());
        run.hears(silent);
        assert!(run.run.state.is_asked_again());
        run.hears(silent);
        run.ends(&Outcome::Done, 7);
        assert!(matches!(run.run.state.findings(), [Finding::NotReviewed { .. }]));
    }
    // What it asks for counts, whatever it did to the files.
    let mut run = Reviewed::new(plan(vec![review(&["b"], 3)]));
    run.claims();
    run.hears(|ended| OpinionEnded { verdict: Some(request()), meddled: true, ..ended });
    assert_eq!(run.run.state.position(), (2, 1));
}

#[test]
fn all_reviewers_must_approve() {
    let mut run = Reviewed::new(plan(vec![review(&["b"], 3), review(&["c"], 1)]));
    run.claims();
    run.hears_verdict(approval());
    assert_eq!(run.hears_verdict(request()), "c");
    run.ends(&Outcome::Done, 7);
    assert_eq!(run.run.state.opinions().len(), 2);
}

#[test]
fn the_next_reviewer_stands_in_and_the_first_is_waited_for_where_there_is_none() {
    let limited = FailureKind::Limited { resets_at: Some(5_000) };
    let mut run = Reviewed::new(plan(vec![review(&["b", "c"], 3)]));
    run.claims();
    assert_eq!(run.hears(|ended| OpinionEnded { end: failed(limited), ..ended }), "b");
    assert_eq!(run.hears(|ended| OpinionEnded { end: failed(limited), ..ended }), "c");
    let Action::StartWait(wait) = run.next() else { panic!("{:?}", run.next()) };
    let (until_ms, why) = wait.until(run.ms, 0);
    assert_eq!((until_ms, why), (5_000_000, Why::UsageLimit));
    run.note(Event::WaitStarted { until_ms, why });
    run.ms = 5_000_000;
    run.note(Event::WaitEnded { ms: 1000 });
    // No one knows what became of the files meanwhile: everything decides again, and the agent has no turn.
    run.commit();
    assert_eq!(run.hears_verdict(approval()), "b");
    run.ends(&Outcome::Done, 0);
    assert_eq!(run.run.state.spent().turns, 1);
}

#[test]
fn a_reviewer_that_needs_a_person_stops_the_run_and_is_asked_again_when_it_goes_on() {
    let mut run = Reviewed::new(plan(vec![review(&["b"], 3)]));
    run.claims();
    run.hears(|ended| OpinionEnded { end: failed(FailureKind::Permanent), ..ended });
    let stopped = Outcome::Stopped(Stop::NoAgentLeft { message: "b cannot work: no".to_owned() });
    run.ends(&stopped, 6);
    run.note(Event::RunEnded { outcome: stopped, exit_code: 6 });
    run.resumes();
    run.hears_verdict(approval());
    run.ends(&Outcome::Done, 0);
}

#[test]
fn whatever_ends_a_review_the_claim_is_judged_again_and_not_done_again() {
    for end in [
        TurnEnd::Abandoned,
        TurnEnd::Interrupted,
        TurnEnd::OverBudget { limit: Exhausted::MaxCost },
        TurnEnd::Tampered { changed: vec!["a".to_owned()] },
    ] {
        let mut run = Reviewed::new(plan(vec![review(&["b"], 3)]));
        run.claims();
        let (about, _) = run.asks();
        assert!(run.run.state.is_in_opinion() && !run.run.state.is_settled());
        if end == TurnEnd::Interrupted {
            run.note(Event::StopRequested);
        }
        if end == TurnEnd::Abandoned {
            run.resumes();
            assert_eq!(run.next(), Action::AbandonOpinion);
        }
        run.note(Event::OpinionEnded(Box::new(OpinionEnded::new(about, end.clone()))));
        if let Action::Finish(outcome) = run.next() {
            assert_ne!(outcome, Outcome::Done);
            let exit_code = run.run.state.exit_code(&run.run.plan, &outcome);
            run.note(Event::RunEnded { outcome, exit_code });
            run.resumes();
        }
        run.commit();
        run.hears_verdict(approval());
        run.ends(&Outcome::Done, 0);
        assert_eq!(run.run.state.spent().turns, 1, "{end:?}");
    }
}

#[test]
fn a_review_is_not_asked_for_beyond_a_limit_and_a_look_is_left_out() {
    let spent = |mut plan: Plan| {
        plan.limits.max_cost = Some(1.0);
        let mut run = Reviewed::new(plan);
        let usage = Usage { cost_usd: Some(2.0), ..Usage::default() };
        run.works(TurnEnded { claimed: true, usage, ..TurnEnded::new(TurnEnd::Finished) });
        run
    };
    spent(plan(vec![review(&["b"], 3)])).ends(&Outcome::Exhausted { limit: Exhausted::MaxCost }, 1);
    for (on_look, code) in [(OnLook::Report, 0), (OnLook::Withhold, 7)] {
        let mut run = spent(looking(LookWhen::Always, on_look));
        let Action::ForgoLook(why) = run.next() else { panic!("{:?}", run.next()) };
        run.note(Event::LookForgone { why });
        run.ends(&Outcome::Done, code);
        assert_eq!(run.run.state.opinions()[0].line(), "look: none: the run is at its limit of cost");
    }
    let mut late = plan(vec![review(&["b"], 3)]);
    late.limits.until_ms = Some(1_000_500);
    let mut run = Reviewed::new(late);
    run.claims();
    run.ms = 1_000_500;
    run.ends(&Outcome::Exhausted { limit: Exhausted::Until }, 1);
}

#[test]
fn what_a_review_uses_counts() {
    let mut limited = plan(vec![review(&["b"], 3)]);
    limited.limits.max_cost = Some(1.0);
    let mut run = Reviewed::new(limited);
    run.claims();
    let usage = Usage { cost_usd: Some(2.0), ..Usage::default() };
    run.hears(|ended| OpinionEnded { verdict: Some(request()), usage, ms: 30, ..ended });
    assert_eq!(run.run.state.crew().used("b").cost_usd, Some(2.0));
    run.ends(&Outcome::Exhausted { limit: Exhausted::MaxCost }, 1);
}

#[test]
fn a_look_is_a_line_unless_the_settings_withhold() {
    for (on_look, fixes, code) in [
        (OnLook::Report, Fixes::Task, 0),
        (OnLook::Report, Fixes::Check, 0),
        (OnLook::Withhold, Fixes::Task, 0),
        (OnLook::Withhold, Fixes::Check, 7),
        (OnLook::Withhold, Fixes::Unclear, 7),
    ] {
        let mut run = Reviewed::new(looking(LookWhen::Always, on_look));
        run.claims();
        assert_eq!(run.hears_look(fixes), "b");
        run.ends(&Outcome::Done, code);
        assert_eq!(run.run.state.opinions().len(), 1);
    }
    for (on_look, code) in [(OnLook::Report, 0), (OnLook::Withhold, 7)] {
        let mut run = Reviewed::new(looking(LookWhen::Always, on_look));
        run.claims();
        run.hears(|ended| ended);
        run.hears(|ended| ended);
        run.ends(&Outcome::Done, code);
        let mut run = Reviewed::new(looking(LookWhen::Always, on_look));
        run.claims();
        let limit = Exhausted::MaxTime;
        run.hears(|ended| OpinionEnded { end: TurnEnd::OverBudget { limit }, ..ended });
        run.ends(&Outcome::Done, code);
    }
}

#[test]
fn a_look_is_due_at_a_finding_or_always_and_never_without_a_reviewer() {
    let typed = || Event::Found { findings: vec![Finding::PersonsCommand { command: "accept".to_owned() }] };
    for (when, has_finding, is_due) in [
        (LookWhen::Off, true, false),
        (LookWhen::Finding, false, false),
        (LookWhen::Finding, true, true),
        (LookWhen::Always, false, true),
    ] {
        let mut run = Reviewed::new(looking(when, OnLook::Report));
        if has_finding {
            run.note(typed());
        }
        run.claims();
        assert_eq!(matches!(run.next(), Action::AskOpinion(_)), is_due, "{when:?}");
    }
    let mut without_reviewers = looking(LookWhen::Always, OnLook::Report);
    without_reviewers.roles.review.clear();
    let mut run = Reviewed::new(without_reviewers);
    run.claims();
    assert!(matches!(run.next(), Action::ForgoLook(_)));
    // Nor is a reviewer waited for that cannot be asked.
    let mut run = Reviewed::new(looking(LookWhen::Always, OnLook::Report));
    run.claims();
    let limited = FailureKind::Limited { resets_at: Some(5_000) };
    run.hears(|ended| OpinionEnded { end: failed(limited), ..ended });
    assert_eq!(run.next(), Action::ForgoLook("b has reached its usage limit".to_owned()));
}

//! Who has a turn: the order of a role, who stands in, who comes back, and the ladder of stronger agents.

use jiff::Timestamp;
use ralph_agents::{Failure, FailureKind, Usage};

use super::every;
use crate::{
    engine::{
        Action, Run, Wait,
        entry::Entry,
        event::{Event, GateEnded, RunStarted, Turn, TurnEnd, TurnEnded, Why},
        outcome::Outcome,
        plan::{CommitRule, Plan},
        presets,
        roles::{Absence, AgentBudget, AgentRole, Because, Chosen, Roles},
        stop::Stop,
    },
    gate_failure::GateFailure,
    setup::{PromptSource, Setup},
};

/// A run whose clock is in the test's hand.
struct Night {
    run: Run,
    entries: Vec<Entry>,
    ms: i64,
}

impl Night {
    fn new(roles: Roles) -> Self {
        let plan = Plan { roles, ..presets::run("DONE", every(&["test"])) };
        let plan = Plan { baseline: false, commit: CommitRule::Never, ..plan };
        let setup = Setup::new("/p".as_ref(), "claude", PromptSource::Text("x".to_owned()));
        let started = RunStarted { run: "r".to_owned(), version: "v".to_owned(), pid: 1, plan, setup };
        let mut night = Self { run: Run::new(started.clone()), entries: Vec::new(), ms: 1_000_000 };
        night.note(Event::RunStarted(Box::new(started)));
        night.note(Event::BaseTaken { commit: Some("b".to_owned()), copies: None, why: None, ms: 0 });
        night
    }

    fn note(&mut self, event: Event) {
        let at = Timestamp::from_millisecond(self.ms).expect("a moment");
        let entry = Entry { at, event };
        self.run.apply(&entry);
        self.entries.push(entry);
        // A reader of the record knows the same.
        assert_eq!(Run::fold(&self.entries).expect("a run"), self.run);
    }

    fn next(&self) -> Action {
        self.run.next(Timestamp::from_millisecond(self.ms).expect("a moment"))
    }

    /// Who has the next turn, and why if that is not the first.
    #[track_caller]
    fn chosen(&self) -> Chosen {
        match self.next() {
            Action::RunTurn(order) => order.chosen.expect("an agent with a name"),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn turn(&mut self, ended: TurnEnded) -> String {
        let Action::RunTurn(order) = self.next() else { panic!("{:?}", self.next()) };
        let turn = Turn::from(order);
        let agent = turn.agent.clone().expect("an agent with a name");
        self.note(Event::TurnStarted(turn));
        self.ms += 1000;
        self.note(Event::TurnEnded(Box::new(ended)));
        agent
    }

    #[track_caller]
    fn fails(&mut self, kind: FailureKind) -> String {
        let failure = Failure { kind, message: "no".to_owned() };
        self.turn(TurnEnded::new(TurnEnd::Failed(failure)))
    }

    #[track_caller]
    fn works(&mut self, is_green: bool) -> String {
        let agent = self.turn(TurnEnded::new(TurnEnd::Finished));
        let failure = (!is_green).then(|| GateFailure::refused("red".to_owned()));
        self.note(Event::GateEnded(GateEnded::own(0, failure, String::new())));
        agent
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn two() -> Roles {
    Roles { work: names(&["main", "second"]), ..Roles::default() }
}

const LIMITED: FailureKind = FailureKind::Limited { resets_at: Some(5_000) };

#[test]
fn the_second_works_while_the_first_has_reached_its_limit_and_no_attempt_is_used() {
    let mut night = Night::new(two());
    assert_eq!(night.chosen(), Chosen { agent: "main".to_owned(), because: None });
    assert_eq!(night.fails(LIMITED), "main");
    let absence = Absence::Limited { back_ms: 5_000_000 };
    let because = Some(Because::StandsIn { for_agent: "main".to_owned(), absence });
    assert_eq!(night.chosen(), Chosen { agent: "second".to_owned(), because });
    assert_eq!(night.run.state.position(), (1, 1));
    assert_eq!(night.works(true), "second");
    assert_eq!(night.works(true), "second");
    night.ms = 4_999_999;
    assert_eq!(night.chosen().agent, "second");
    night.ms = 5_000_000;
    assert_eq!(night.chosen(), Chosen { agent: "main".to_owned(), because: None });
}

#[test]
fn a_lost_login_and_a_missing_program_are_for_a_person_who_may_have_acted_when_the_run_goes_on() {
    let mut night = Night::new(two());
    assert_eq!(night.fails(FailureKind::Permanent), "main");
    night.ms = i64::from(u32::MAX) * 1000;
    assert_eq!(night.chosen().agent, "second");
    let limits = night.run.plan.limits;
    night.note(Event::RunResumed { pid: 2, limits });
    assert_eq!(night.chosen().agent, "main");
}

#[test]
fn a_resume_does_not_forget_a_limit() {
    let mut night = Night::new(two());
    night.fails(LIMITED);
    let limits = night.run.plan.limits;
    night.note(Event::RunResumed { pid: 2, limits });
    assert_eq!(night.chosen().agent, "second");
}

#[test]
fn an_overloaded_service_rests_longer_each_time() {
    let mut night = Night::new(two());
    for rest in [300_000, 600_000, 1_200_000] {
        assert_eq!(night.fails(FailureKind::Overloaded), "main");
        let back = night.ms + rest;
        night.ms = back - 1;
        assert_eq!(night.chosen().agent, "second");
        night.ms = back;
    }
    assert_eq!(night.works(true), "main");
    night.fails(FailureKind::Overloaded);
    night.ms += 300_000;
    assert_eq!(night.chosen().agent, "main", "a turn that came to its end makes up for it");
}

#[test]
fn when_all_have_reached_their_limits_the_earliest_is_waited_for() {
    let mut night = Night::new(two());
    night.fails(LIMITED);
    assert_eq!(night.fails(FailureKind::Limited { resets_at: Some(3_000) }), "second");
    let Action::StartWait(wait) = night.next() else { panic!("{:?}", night.next()) };
    assert_eq!(wait.until(night.ms, 0), (3_000_000, Why::UsageLimit));
    night.note(Event::WaitStarted { until_ms: 3_000_000, why: Why::UsageLimit });
    night.ms = 3_000_000;
    night.note(Event::WaitEnded { ms: 1_998_000 });
    assert_eq!(night.works(true), "second");
    night.ms = 5_000_000;
    assert_eq!(night.works(true), "main");
}

#[test]
fn a_wait_that_is_too_long_ends_the_run() {
    let mut night = Night::new(two());
    night.run.plan.limits.max_wait_ms = 1000;
    night.run.started.plan.limits.max_wait_ms = 1000;
    let Event::RunStarted(started) = &mut night.entries[0].event else { panic!("no start") };
    started.plan.limits.max_wait_ms = 1000;
    night.fails(LIMITED);
    night.fails(LIMITED);
    let Action::StartWait(Wait::ForQuota { at_most_ms: 1000, .. }) = night.next() else {
        panic!("{:?}", night.next())
    };
    night.note(Event::WaitStarted { until_ms: night.ms + 1000, why: Why::UsageLimit });
    night.ms += 1000;
    night.note(Event::WaitEnded { ms: 1000 });
    let message = "main has reached its usage limit; second has reached its usage limit".to_owned();
    assert_eq!(night.next(), Action::Finish(Outcome::Stopped(Stop::Quota { message })));
}

#[test]
fn when_no_agent_can_work_before_a_person_acts_the_run_stops() {
    let mut night = Night::new(two());
    night.fails(FailureKind::Permanent);
    night.fails(FailureKind::Permanent);
    let message = "main cannot work: no; second cannot work: no".to_owned();
    assert_eq!(night.next(), Action::Finish(Outcome::Stopped(Stop::NoAgentLeft { message })));
}

#[test]
fn one_agent_alone_is_waited_for_as_ever() {
    let mut night = Night::new(Roles { work: names(&["main"]), ..Roles::default() });
    night.fails(LIMITED);
    let Action::StartWait(wait) = night.next() else { panic!("{:?}", night.next()) };
    assert_eq!(wait.until(night.ms, 0).0, 5_000_000);
    let mut night = Night::new(Roles { work: names(&["main"]), ..Roles::default() });
    night.fails(FailureKind::Permanent);
    assert!(matches!(night.next(), Action::Finish(Outcome::GaveUp { .. })), "{:?}", night.next());
}

#[test]
fn each_has_its_own_budget() {
    let own = AgentBudget { max_cost: Some(1.0), max_tokens: None };
    let budgets = [("main".to_owned(), own)].into();
    let mut night = Night::new(Roles { budgets, ..two() });
    let dear = |cost| Usage { cost_usd: Some(cost), output: 10, ..Usage::default() };
    let turn = |cost| TurnEnded { usage: dear(cost), ..TurnEnded::new(TurnEnd::Finished) };
    let pass = || Event::GateEnded(GateEnded::own(0, None, String::new()));
    for (cost, expected) in [(0.6, "main"), (0.6, "main"), (9.0, "second"), (9.0, "second")] {
        assert_eq!(night.turn(turn(cost)), expected);
        night.note(pass());
    }
    assert_eq!(night.run.state.crew().used("main").cost_usd, Some(1.2));
    assert_eq!(night.run.state.crew().used("second").cost_usd, Some(18.0));
    let why = night.chosen().because;
    assert_eq!(why, Some(Because::StandsIn { for_agent: "main".to_owned(), absence: Absence::Spent }));
}

#[test]
fn the_stronger_works_after_red_iterations_until_the_guardrails_pass() {
    let roles = Roles {
        work: names(&["cheap"]),
        escalate: names(&["strong", "strongest"]),
        escalate_after: Some(2),
        ..Roles::default()
    };
    let mut night = Night::new(roles);
    night.run.plan.limits.max_iterations = 20;
    let Event::RunStarted(started) = &mut night.entries[0].event else { panic!("no start") };
    started.plan.limits.max_iterations = 20;
    night.run.started.plan.limits.max_iterations = 20;
    let mut had = |green| night.works(green);
    assert_eq!([had(false), had(false)], ["cheap", "cheap"]);
    assert_eq!([had(false), had(false)], ["strong", "strong"]);
    assert_eq!([had(false), had(false), had(false)], ["strongest"; 3]);
    assert_eq!(had(true), "strongest");
    assert_eq!([had(false), had(true), had(false)], ["cheap"; 3], "a green one between counts");
    assert_eq!(had(false), "cheap");
    assert_eq!(night.chosen().because, Some(Because::Escalated { step: 1 }));
}

#[test]
fn a_stronger_one_that_cannot_work_is_stood_in_for() {
    let roles = Roles {
        work: names(&["cheap"]),
        escalate: names(&["strong"]),
        escalate_after: Some(1),
        ..Roles::default()
    };
    let mut night = Night::new(roles);
    assert_eq!(night.works(false), "cheap");
    assert_eq!(night.fails(LIMITED), "strong");
    assert_eq!(night.chosen().agent, "cheap");
}

#[test]
fn a_reset_that_has_passed_is_none() {
    let mut night = Night::new(two());
    // It is over at the very moment at which the turn ends.
    assert_eq!(night.fails(FailureKind::Limited { resets_at: Some(1_001) }), "main");
    assert_eq!(night.ms, 1_001_000);
    assert_eq!(night.chosen().agent, "second");
    night.ms += 15 * 60 * 1000;
    assert_eq!(night.chosen().agent, "main");
}

#[test]
fn an_overloaded_service_that_is_the_first_back_is_tried_again_by_the_rules_for_one() {
    let mut night = Night::new(two());
    assert_eq!(night.fails(LIMITED), "main");
    assert_eq!(night.fails(FailureKind::Overloaded), "second");
    let Action::StartWait(Wait::For(ms, Why::Retry)) = night.next() else { panic!("{:?}", night.next()) };
    assert_eq!(night.run.state.position(), (1, 2));
    night.note(Event::WaitStarted { until_ms: night.ms, why: Why::Retry });
    night.ms += 1;
    night.note(Event::WaitEnded { ms });
    assert_eq!(night.works(true), "second", "it is not kept waiting");

    // Where another is back earlier, that one is waited for, and no attempt is used.
    let mut night = Night::new(two());
    assert_eq!(night.fails(FailureKind::Limited { resets_at: Some(1_100) }), "main");
    assert_eq!(night.fails(FailureKind::Overloaded), "second");
    let Action::StartWait(wait) = night.next() else { panic!("{:?}", night.next()) };
    assert_eq!(wait.until(night.ms, 0), (1_100_000, Why::UsageLimit));
    assert_eq!(night.run.state.position(), (1, 1));
}

#[test]
fn what_a_message_costs_counts_for_whom_it_was_asked() {
    let mut night = Night::new(two());
    assert_eq!(night.works(true), "main");
    let asked = |agent: Option<&str>, cost| Event::MessageAsked {
        agent: agent.map(str::to_owned),
        message: None,
        usage: Usage { cost_usd: Some(cost), ..Usage::default() },
        ms: 1,
    };
    night.note(asked(None, 0.25));
    night.note(asked(Some("second"), 0.5));
    assert_eq!(night.run.state.crew().used("main").cost_usd, Some(0.25));
    assert_eq!(night.run.state.crew().used("second").cost_usd, Some(0.5));
}

#[test]
fn a_quota_is_that_of_the_agent_that_named_it() {
    let turn = |used| TurnEnded {
        quota: vec![ralph_agents::QuotaWindow { used, resets_at: None }],
        ..TurnEnded::new(TurnEnd::Failed(Failure { kind: LIMITED, message: "no".to_owned() }))
    };
    let mut night = Night::new(two());
    assert_eq!(night.turn(turn(80)), "main");
    let Action::RunTurn(order) = night.next() else { panic!("{:?}", night.next()) };
    assert_eq!(night.run.state.quota.len(), 1);
    night.note(Event::TurnStarted(order.into()));
    assert_eq!(night.run.state.quota, [], "the second has another");
    // The same agent has the same.
    let mut night = Night::new(two());
    let turn = TurnEnded { end: TurnEnd::Finished, ..turn(80) };
    assert_eq!(night.turn(turn), "main");
    night.note(Event::GateEnded(GateEnded::own(0, None, String::new())));
    let Action::RunTurn(order) = night.next() else { panic!("{:?}", night.next()) };
    night.note(Event::TurnStarted(order.into()));
    assert_eq!(night.run.state.quota.len(), 1);
}

#[test]
fn a_turn_says_why_it_is_not_the_first_of_its_role() {
    let mut night = Night::new(two());
    night.fails(LIMITED);
    let (Action::RunTurn(order), because) = (night.next(), night.chosen().because) else { panic!("no turn") };
    assert!(because.is_some());
    assert_eq!(Turn::from(order).because, because);
}

#[test]
fn only_who_works_or_fixes_is_replaced_by_a_stronger_one() {
    for (role, climbs) in [
        (AgentRole::Work, true),
        (AgentRole::Fix, true),
        (AgentRole::Review, false),
        (AgentRole::Message, false),
    ] {
        assert_eq!(role.climbs(), climbs, "{role:?}");
    }
    assert_eq!(Night::new(two()).run.state.crew().step(), 0);
}

#[test]
fn roles_name_everybody_and_are_recorded_where_they_say_something() {
    let roles = Roles {
        work: names(&["a", "b"]),
        review: names(&["c"]),
        fix: names(&["d"]),
        message: names(&["e"]),
        escalate: names(&["f"]),
        ..Roles::default()
    };
    assert_eq!(roles.names().collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "f"]);
    let recorded = |roles: &Roles| {
        let plan = Plan { roles: roles.clone(), ..presets::run("DONE", Vec::new()) };
        serde_json::to_value(plan).expect("a value").get("roles").is_some()
    };
    assert!(recorded(&roles) && !recorded(&Roles::default()));
    assert!(Roles::default().is_empty() && !roles.is_empty());
}

//! A reporter that is shown a run from some event on sees what the others see: a resumed process, `logs --iteration`.

use proptest::prelude::*;
use ralph_agents::Usage;
use ralph_core::engine::{
    commit::{ChangeCause, CommitEnd},
    event::{GateEnded, Topic, Turn, TurnEnd, TurnEnded, Why},
    outcome::{Exhausted, Outcome},
};
use ralph_core::gate_failure::GateFailure;
use ralph_core::stories::{Statistics, StoryReviews};

use super::*;

fn turn_ended(end: TurnEnd, claimed: bool, leftovers: Vec<String>) -> Event {
    Event::TurnEnded(Box::new(TurnEnded {
        review: None,
        untold: Vec::new(),
        undone: Vec::new(),
        blocked: None,
        reason: None,
        end,
        claimed,
        view: None,
        code: None,
        ms: 61_000,
        usage: Usage::default(),
        tools: 3,
        tool_errors: 1,
        leftovers,
        model: None,
        quota: Vec::new(),
        last_lines: Vec::new(),
        denials: Vec::new(),
        session: None,
        hooks: None,
        tree: None,
        branch: None,
    }))
}

/// Events in any order: what people see of one must not depend on who saw the others.
fn events() -> impl Strategy<Value = Event> {
    let turn = (1..4_u32, 1..3_u32)
        .prop_map(|(iteration, attempt)| Event::TurnStarted(Turn { iteration, attempt, ..Turn::default() }));
    let end = prop_oneof![
        Just(TurnEnd::Finished),
        Just(TurnEnd::Finished),
        Just(TurnEnd::Interrupted),
        Just(TurnEnd::OverBudget { limit: Exhausted::MaxCost }),
    ];
    let left = proptest::collection::vec(Just("7 sleep 300".to_owned()), 0..2);
    let ended = (end, any::<bool>(), left).prop_map(|(end, claimed, left)| turn_ended(end, claimed, left));
    let gate = (0..3_usize, any::<bool>()).prop_map(|(gate, passed)| {
        let failure = (!passed).then(|| GateFailure::refused("It failed.".to_owned()));
        let log = String::new();
        Event::GateEnded(GateEnded {
            gate,
            failure,
            ms: 5,
            log,
            signature: None,
            tests: None,
            output_sha256: None,
        })
    });
    let commit = prop_oneof![
        Just(CommitEnd::Nothing),
        Just(CommitEnd::Already { beyond: vec![] }),
        Just(CommitEnd::Changed { cause: Some(ChangeCause::AgentAsked) }),
        Just(CommitEnd::Made { commit: "c0ffee1".to_owned(), subject: "Do it".to_owned(), beyond: vec![] }),
    ];
    let wait = prop_oneof![Just(Why::Rest), Just(Why::Retry), Just(Why::UsageLimit)];
    let outcome = prop_oneof![
        Just(Outcome::Done),
        Just(Outcome::Interrupted),
        Just(Outcome::Exhausted { limit: Exhausted::MaxIterations }),
    ];
    let story = StoryReviews { id: "US-1".to_owned(), reviews: 2, at_cap: false, is_auto_approved: false };
    let reviews = Statistics { cap: 5, stories: vec![story] };
    prop_oneof![
        3 => turn,
        3 => ended,
        2 => gate,
        1 => Just(Event::CommitStarted { head: None, message: "Do it".to_owned(), boot: None }),
        2 => commit.prop_map(Event::CommitEnded),
        1 => wait.prop_map(|why| Event::WaitStarted { until_ms: START + 9_000_000, why }),
        1 => Just(Event::WaitEnded { ms: 5 }),
        1 => Just(Event::StopRequested),
        1 => Just(Event::Warned { text: "w".to_owned(), about: Some(Topic::Unmetered) }),
        1 => Just(Event::ReviewsCounted(reviews)),
        1 => outcome.prop_map(|outcome| Event::RunEnded { outcome, exit_code: 1 }),
        1 => Just(Event::RunResumed { pid: 2, limits: plan().limits }),
    ]
}

proptest! {
    #[test]
    fn no_reporter_need_have_seen_what_was_before(
        events in proptest::collection::vec(events(), 1..30),
        cut in any::<prop::sample::Index>(),
        keeps in any::<bool>(),
        verbose in any::<bool>(),
    ) {
        let mut first = plan();
        first.commit = if keeps { CommitRule::Required } else { CommitRule::IfChanged };
        let mut started = started(&first);
        started.setup.leftovers = if keeps { ralph_core::setup::Leftovers::Keep } else { ralph_core::setup::Leftovers::Kill };
        let shown = || {
            let mut shown = Shown::new(80, |look| look.verbose = verbose);
            shown.run = Run::new(started.clone());
            shown
        };
        let (mut all, mut late) = (shown(), shown());
        all.event(Event::RunStarted(Box::new(started.clone())));
        let cut = cut.index(events.len());
        for event in &events[..cut] {
            all.after(1_234).event(event.clone());
        }
        let seen = all.printed().len();
        (late.run, late.now) = (all.run.clone(), all.now);
        for event in &events[cut..] {
            all.after(1_234).event(event.clone());
            late.after(1_234).event(event.clone());
        }
        prop_assert_eq!(&all.printed()[seen..], late.printed());
    }
}

#[test]
fn a_resumed_wait_is_told_of_now_and_then() {
    let mut shown = Shown::new(80, |_| {});
    let until_ms = START + 3 * 60 * 60 * 1000;
    let waiting = Event::WaitStarted { until_ms, why: Why::UsageLimit };
    shown.run.apply(&Entry { at: at(0), event: waiting });
    let limits = shown.run.plan.limits;
    shown.after(1_000).event(Event::RunResumed { pid: 2, limits });
    shown.event(Event::warned("something else".to_owned()));
    shown.after(14 * 60_000).human.flush();
    assert!(!shown.printed().contains("Still waiting"), "{}", shown.printed());
    shown.after(2 * 60_000).human.flush();
    let told = "Still waiting for the usage limit: 2h43m left.";
    assert!(shown.printed().contains(told), "{}", shown.printed());
    shown.event(Event::WaitEnded { ms: 5 }).after(20 * 60_000).human.flush();
    assert_eq!(shown.printed().matches("Still waiting").count(), 1, "{}", shown.printed());
}

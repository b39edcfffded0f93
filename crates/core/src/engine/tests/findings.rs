//! What follows when the checks of a claim were changed: asked, refused, put back, reported.

use super::*;
use crate::verify::rules::{CheckoutWhen, OnFinding};

fn run(on_finding: OnFinding) -> Plan {
    let plan = presets::run("DONE", every(&["test"]));
    Plan { checkout: CheckoutWhen::Claim, on_finding, baseline: false, ..limited(4, plan) }
}

#[test]
fn the_agent_is_asked_once_and_then_a_person_decides() {
    let plan = run(OnFinding::Ask);
    // It repeats its claim.
    check(
        &plan,
        &["turn claim", "commit made", "find a"],
        "Work1.1 g0 c J t0 x! Work2.1<All> g0 c J t0 x! push Done=7",
    );
    // It puts things back.
    check(
        &plan,
        &["turn claim", "commit made", "find a", "find"],
        "Work1.1 g0 c J t0 x! Work2.1<All> g0 c J t0 push Done=0",
    );
    // It puts one of two back: the other is known.
    check(
        &plan,
        &["turn claim", "commit made", "find a b", "find b"],
        "Work1.1 g0 c J t0 x! Work2.1<All> g0 c J t0 x! push Done=7",
    );
    // It changes another check instead: that is another question.
    check(
        &plan,
        &["turn claim", "commit made", "find a", "find b"],
        "Work1.1 g0 c J t0 x! Work2.1<All> g0 c J t0 x! Work3.1<All> g0 c J t0 x! push Done=7",
    );
    // It does something else for a while.
    check(
        &plan,
        &["turn claim", "turn", "turn claim", "commit made", "find a"],
        "Work1.1 g0 c J t0 x! Work2.1<All> g0 c Work3.1 g0 c J t0 x! push Done=7",
    );
}

#[test]
fn where_no_one_can_answer_a_person_decides_at_once() {
    let script = &["turn claim", "commit made", "find a"];
    check(&limited(1, run(OnFinding::Ask)), script, "Work1.1 g0 c J t0 x! push Done=7");
    let once = Plan { gates: every(&["test"]), ..presets::prompt() };
    let once = Plan { checkout: CheckoutWhen::Claim, ..once };
    check(&once, &["turn", "commit made", "find a"], "Work1.1 g0 c J t0 x! push Done=7");
    let mut poor = run(OnFinding::Ask);
    poor.limits.max_cost = Some(0.5);
    check(&poor, script, "Work1.1 g0 c J t0 x! push Done=7");
}

#[test]
fn a_limit_between_question_and_answer_does_not_undo_what_was_done() {
    let plan = run(OnFinding::Ask);
    let mut state = State::default();
    for event in [
        Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
        ended(TurnEnd::Finished, "claim"),
        Event::GateEnded(gate_ended(0, None)),
        Event::CommitEnded(commit_end("made")),
        brought(""),
        tried(0, None),
        Event::Examined(Box::new(examined("a"))),
    ] {
        state.apply(&plan, &event);
    }
    assert!(state.is_question_open());
    assert!(matches!(decide(&plan, &state), Action::RunTurn(_)));
    let now = 1000;
    let mut late = plan.clone();
    late.limits.until_ms = Some(now);
    let action = crate::engine::deadline::keep_to(&late, &state, decide(&late, &state), now);
    assert_eq!(action, Action::Finish(Outcome::Done));
    assert_eq!(state.exit_code(&late, &Outcome::Done), 7);
    // Where a reviewer has to approve, no one has.
    let check = Check::Review { name: "review".to_owned(), by: vec!["b".to_owned()], rounds: 3 };
    late.gates.push(Gate::new(check, When::Claimed));
    let action = crate::engine::deadline::keep_to(&late, &state, decide(&late, &state), now);
    assert_eq!(action, Action::Finish(Outcome::Exhausted { limit: Exhausted::Until }));
    // A turn that began to answer may have done anything.
    state.apply(&plan, &Event::TurnStarted(Turn { iteration: 2, attempt: 1, ..Turn::default() }));
    assert!(state.is_question_open());
    let limit = Exhausted::MaxCost;
    assert_eq!(state.without_answer(&plan, limit), Outcome::Exhausted { limit });
    state.apply(&plan, &ended(TurnEnd::Finished, ""));
    assert!(!state.is_question_open());
}

#[test]
fn a_refused_claim_is_never_done() {
    check(
        &limited(2, run(OnFinding::Refuse)),
        &["turn claim", "commit made", "find a"],
        "Work1.1 g0 c J t0 x! Work2.1<All> g0 c J t0 x! Exhausted(MaxIterations)=1",
    );
    check(
        &limited(2, run(OnFinding::Refuse)),
        &["turn claim", "commit made", "find a", "find"],
        "Work1.1 g0 c J t0 x! Work2.1<All> g0 c J t0 push Done=0",
    );
}

#[test]
fn files_are_put_back_once_for_each_claim() {
    let plan = run(OnFinding::Restore);
    check(
        &plan,
        &["turn claim", "commit made", "find b a", "find"],
        "Work1.1 g0 c J t0 x! back(a b) g0 c J t0 push Done=0",
    );
    // The work does not pass with them.
    check(
        &plan,
        &["turn claim", "commit made", "find a", "find", "gate ok", "gate no", "gate ok"],
        "Work1.1 g0 c J t0 x! back(a) g0! Work2.1<no|Ralph|You> g0 c J t0 push Done=0",
    );
    // The next claim has a finding of its own.
    check(
        &plan,
        &["turn claim", "commit made", "find a", "find b", "find", "gate ok", "gate no", "gate ok"],
        "Work1.1 g0 c J t0 x! back(a) g0! Work2.1<no|Ralph|You> g0 c J t0 x! back(b) g0 c J t0 push Done=0",
    );
    // It cannot be put back, or is found again.
    check(&plan, &["turn claim", "find a", "back no"], "Work1.1 g0 c J t0 x! back(a) push Done=7");
    check(&plan, &["turn claim", "find a"], "Work1.1 g0 c J t0 x! back(a) g0 c J t0 x! push Done=7");
}

#[test]
fn what_is_only_reported_counts() {
    check(&run(OnFinding::Report), &["turn claim", "find a"], "Work1.1 g0 c J t0 x! push Done=0");
}

#[test]
fn reason_cost_and_findings_are_remembered() {
    let plan = run(OnFinding::Ask);
    let mut state = State::default();
    let claim = |state: &mut State, iteration: u32, line: &str, found: &str| {
        for event in [
            Event::TurnStarted(Turn { iteration, attempt: 1, ..Turn::default() }),
            ended(TurnEnd::Finished, line),
            Event::GateEnded(gate_ended(0, None)),
            Event::CommitEnded(commit_end("made")),
            brought(""),
            tried(0, None),
            Event::Examined(Box::new(examined(found))),
        ] {
            state.apply(&plan, &event);
        }
    };
    claim(&mut state, 1, "claim because", "a");
    assert_eq!((state.reason(), state.findings().len()), (None, 1));
    claim(&mut state, 2, "claim because", "a");
    assert_eq!((state.reason(), state.findings().len()), (Some("the API changed"), 1));
    assert_eq!((state.spent().asked.turns, state.spent().asked.usage.cost_usd), (1, Some(0.5)));
    assert_eq!(state.spent().turns, 2);
    assert!(state.needs_person());
    let text = &examined("a").findings[0];
    assert!(text.choices().contains("<reason>"));
}

#[test]
fn a_submitted_story_with_findings_goes_back_once() {
    let plan = presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::ChangedOrClaimed);
    let plan = Plan { checkout: CheckoutWhen::Claim, baseline: false, ..limited(2, plan) };
    let script = &["look +tasks.json +of US-1", "turn +tasks.json +submitted", "find a"];
    check(
        &plan,
        script,
        "Implement1.1 g0 g1 g3 J t3 x! Implement2.1<All> g0 g1 g3 J t3 x! Exhausted(MaxIterations)=1",
    );
    // When all are approved there is no agent to ask.
    let script = &["look +tasks.json", "turn +tasks.json +approved", "find a"];
    check(&plan, script, "Implement1.1 g0 g1 g3 g2 J t3 x! Done=7");
}

#[test]
fn a_kill_anywhere_leads_to_the_same_end() {
    for on_finding in [OnFinding::Ask, OnFinding::Restore, OnFinding::Refuse, OnFinding::Report] {
        let plan = run(on_finding);
        let events = [
            Event::BaseTaken { commit: Some("base".to_owned()), copies: None, why: None, ms: 0 },
            Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
            ended(TurnEnd::Finished, "claim"),
            Event::GateEnded(gate_ended(0, None)),
            Event::CommitEnded(commit_end("made")),
            brought(""),
            tried(0, None),
            Event::ExamineStarted,
            Event::OldCheckStarted { gate: 0 },
            Event::OldCheckEnded(gate_ended(0, None)),
            Event::BiteStarted { gate: 0 },
            Event::BiteEnded(gate_ended(0, None)),
            Event::Examined(Box::new(examined("a"))),
        ];
        let mut whole = State::default();
        for event in &events {
            whole.apply(&plan, event);
        }
        // Killed after the verdict: nothing is forgotten.
        let mut resumed = whole.clone();
        resumed.apply(&plan, &Event::RunResumed { pid: 1, limits: plan.limits });
        assert_eq!(decide(&plan, &resumed), decide(&plan, &whole), "{on_finding:?}");
        assert_eq!(resumed.findings(), whole.findings());
        // Killed before it: the claim is judged again.
        let mut cut = State::default();
        for event in &events[..12] {
            cut.apply(&plan, event);
        }
        cut.apply(&plan, &Event::RunResumed { pid: 1, limits: plan.limits });
        assert_eq!(decide(&plan, &cut), Action::RunGate(0), "{on_finding:?}");
        assert_eq!(cut.base(), Some("base"));
    }
}

#[test]
fn the_base_is_taken_once_before_anything_else() {
    let plan = Plan { baseline: true, ..run(OnFinding::Ask) };
    let mut state = State::default();
    assert_eq!(decide(&plan, &state), Action::TakeBase);
    state.apply(&plan, &Event::BaseTaken { commit: None, copies: None, why: Some("no".to_owned()), ms: 0 });
    assert_eq!(decide(&plan, &state), Action::RunBaseline(0));
    assert!(state.caveats(&plan)[0].to_string().ends_with(": no"));
    // Runs that began without one have none.
    let mut old = State::default();
    old.apply(&plan, &Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }));
    old.apply(&plan, &ended(TurnEnd::Finished, ""));
    assert_ne!(decide(&plan, &old), Action::TakeBase);
    let caveats = old.caveats(&plan);
    assert!(caveats[0].to_string().contains("a version of ralph that did not compare"), "{caveats:?}");
    assert!(old.caveats(&Plan { checkout: CheckoutWhen::Never, ..plan }).is_empty());
}

#[test]
fn without_a_judge_what_judges_is_compared_with_copies() {
    let plan = Plan { checkout: CheckoutWhen::Never, ..run(OnFinding::Ask) };
    let began = |copies| {
        let mut state = State::default();
        assert_eq!(decide(&plan, &state), Action::TakeBase);
        state.apply(&plan, &Event::BaseTaken { commit: None, copies, why: None, ms: 0 });
        state.apply(&plan, &Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }));
        state.apply(&plan, &ended(TurnEnd::Finished, "turn claim"));
        while let Action::RunGate(gate) = decide(&plan, &state) {
            state.apply(&plan, &Event::GateEnded(gate_ended(gate, None)));
        }
        if decide(&plan, &state) == Action::Commit {
            assert_eq!(state.awaits_judge(&plan), copies.is_some());
            state.apply(&plan, &Event::CommitEnded(CommitEnd::Nothing));
        }
        state
    };
    assert_eq!(decide(&plan, &began(Some(3))), Action::Examine);
    assert_eq!(decide(&plan, &began(None)), Action::Finish(Outcome::Done));
    // A ralph that was killed at it looks again.
    let mut cut = began(Some(3));
    cut.apply(&plan, &Event::ExamineStarted);
    cut.apply(&plan, &Event::RunResumed { pid: 1, limits: plan.limits });
    assert_ne!(decide(&plan, &cut), Action::Finish(Outcome::Done));
}

#[test]
fn turns_that_were_asked_are_in_vain_where_a_person_accepts_the_reason() {
    let plan = run(OnFinding::Ask);
    let asked = |line: &str, is_accepted: bool| {
        let mut state = State::default();
        for (iteration, line) in [(1, "claim"), (2, line)] {
            for event in [
                Event::TurnStarted(Turn { iteration, attempt: 1, ..Turn::default() }),
                ended(TurnEnd::Finished, line),
                Event::GateEnded(gate_ended(0, None)),
                Event::CommitEnded(commit_end("made")),
                brought(""),
                tried(0, None),
                Event::Examined(Box::new(examined("a"))),
            ] {
                state.apply(&plan, &event);
            }
        }
        state.apply(&plan, &Event::RunEnded { outcome: Outcome::Done, exit_code: 7 });
        if is_accepted {
            state.apply(&plan, &Event::Accepted { why: None });
        }
        state.asked_in_vain()
    };
    assert_eq!(asked("claim because", true), 1);
    assert_eq!(asked("claim because", false), 0);
    assert_eq!(asked("claim", true), 0);
}

#[test]
fn copies_are_known_from_the_record() {
    let plan = run(OnFinding::Ask);
    for (commit, copies) in [(None, Some(2)), (Some("base"), None), (None, None)] {
        let mut state = State::default();
        let commit = commit.map(str::to_owned);
        state.apply(&plan, &Event::BaseTaken { commit, copies, why: None, ms: 0 });
        assert_eq!(state.has_copies(), copies.is_some());
    }
}

fn counted(gate: usize, passed: u64) -> GateEnded {
    use crate::verify::tested::Tested;
    let counts = ralph_checks::counts::Counts { passed, ..Default::default() };
    let counts = [(ralph_checks::counts::Runner::Cargo, counts)].into();
    GateEnded { tests: Some(Tested { counts, ..Tested::default() }), ..gate_ended(gate, None) }
}

/// What is found at a claim after so many tests passed before the run, with what a person changed, and at the claim.
fn lost(before: u64, moved: Option<u64>, now: u64, vanished: u32) -> Vec<Finding> {
    use crate::{engine::event::BaseMoved, verify::check_note::CheckNote};
    use ralph_checks::test_files::compare::Worse;
    let plan = Plan { baseline: true, ..run(OnFinding::Report) };
    let mut check = ChangedCheck::new("a.rs", Role::Test, FileChange::Deleted);
    let test = |nth: u32| Worse::Vanished { test: format!("t{nth}") };
    check.worse.extend((0..vanished).map(test));
    // What asserts less is not gone.
    check.worse.insert(Worse::FewerAssertions { test: "a".to_owned(), before: 2, after: 1 });
    let notes = vec![CheckNote::NotComparable { files: vec![check], why: "gone".to_owned() }];
    let base = Event::BaseTaken { commit: Some("base".to_owned()), copies: None, why: None, ms: 0 };
    let mut events = vec![base, Event::BaselineEnded(counted(0, before))];
    events.extend(moved.map(|passed| {
        let (commit, files) = (Some("moved".to_owned()), vec!["a.rs".to_owned()]);
        Event::BaseMoved(Box::new(BaseMoved { commit, files, tests: vec![counted(0, passed)], ms: 1 }))
    }));
    events.extend([
        Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
        ended(TurnEnd::Finished, "claim"),
        Event::GateEnded(counted(0, now)),
        Event::CommitEnded(commit_end("made")),
        brought(""),
        Event::JudgeGateEnded(JudgeGateEnded { ended: counted(0, now), differs: Vec::new() }),
    ]);
    let mut state = State::default();
    for event in &events {
        state.apply(&plan, event);
    }
    assert_eq!(state.base(), Some(if moved.is_some() { "moved" } else { "base" }));
    assert_eq!(state.tests(&plan).map(|it| it.now.total().passed).collect::<Vec<_>>(), [now]);
    state.apply(&plan, &Event::Examined(Box::new(Examined { notes, ..Examined::default() })));
    state.findings().to_vec()
}

#[test]
fn fewer_tests_are_a_finding_unless_the_files_say_why() {
    assert_eq!(lost(9, None, 9, 0), []);
    assert_eq!(lost(9, None, 8, 0).len(), 1);
    assert_eq!(lost(9, None, 8, 1), []);
    assert_eq!(lost(9, None, 7, 1).len(), 1);
    assert_eq!(lost(9, None, 7, 2), []);
}

#[test]
fn tests_that_a_person_changed_are_compared_as_they_are_now() {
    assert_eq!(lost(9, Some(7), 7, 0), []);
    assert_eq!(lost(9, Some(7), 6, 0).len(), 1);
}

#[test]
fn a_guardrail_that_a_person_mended_fails_no_more_and_others_do() {
    use crate::engine::event::BaseMoved;
    let plan = presets::run("DONE", every(&["lint", "test"]));
    let red = |gate| gate_ended(gate, Some("red".to_owned()));
    let mut state = State::default();
    for gate in [0, 1] {
        state.apply(&plan, &Event::BaselineEnded(red(gate)));
    }
    let fails = |state: &State| [0, 1].map(|gate| state.baseline().still_fails(gate));
    assert_eq!(fails(&state), [true, true]);
    let mut moved = |ended| {
        let moved = BaseMoved { commit: None, files: Vec::new(), tests: vec![ended], ms: 1 };
        state.apply(&plan, &Event::BaseMoved(Box::new(moved)));
        fails(&state)
    };
    assert_eq!(moved(gate_ended(1, None)), [true, false]);
    assert_eq!(moved(red(1)), [true, true]);
}

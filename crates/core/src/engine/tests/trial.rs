//! What the judge decides: at a claim, after the gates of the working tree, and before anything is delivered.

use super::super::plan::OnFailure;
use super::*;
use crate::verify::rules::{CheckoutWhen, Repeats, RunsWhere};

fn judged(plan: Plan) -> Plan {
    Plan { checkout: CheckoutWhen::Claim, ..plan }
}

fn run() -> Plan {
    limited(3, judged(presets::run("DONE", every(&["test"]))))
}

#[test]
fn a_claim_is_decided_in_the_judge_and_delivered_then() {
    check(&run(), &["turn", "turn claim", "commit made"], "J t0 Work1.1 g0 c Work2.1 g0 c J t0 push Done=0");
    // Nothing to deliver where nothing was committed, and no judge without a claim.
    check(&run(), &["turn claim", "commit none"], "J t0 Work1.1 g0 c J t0 Done=0");
    let always = Plan { checkout: CheckoutWhen::Always, ..limited(1, run()) };
    check(&always, &["turn", "commit made"], "J t0 Work1.1 g0 c J t0 push Exhausted(MaxIterations)=1");
    let never = Plan { checkout: CheckoutWhen::Never, ..run() };
    check(&never, &["turn claim", "commit made"], "Work1.1 g0 c Done=0");
}

#[test]
fn red_in_the_working_tree_ends_there() {
    check(
        &limited(1, run()),
        &["turn claim", "gate no", "commit made"],
        "J t0 Work1.1 g0! Exhausted(MaxIterations)=1",
    );
}

#[test]
fn a_proven_judge_refutes_the_claim() {
    check(
        &limited(2, run()),
        &["turn claim", "commit made", "try", "try no"],
        "J t0 Work1.1 g0 c J t0! Work2.1<no|This|You> g0 c J t0! Exhausted(MaxIterations)=1",
    );
    // Without a second try there is no second try.
    let once = judged(Plan { gates: every(&["test"]), baseline: true, ..presets::prompt() });
    check(&once, &["turn", "commit made", "try", "try no"], "J t0 Work1.1 g0 c J t0! GaveUp(Gate)=3");
}

#[test]
fn an_unproven_judge_disagrees_once_and_then_a_person_decides() {
    let unproven = Plan { baseline: false, ..run() };
    let script = &["turn claim", "commit made", "try no"];
    check(&unproven, script, "Work1.1 g0 c J t0! Work2.1<no|This|You> g0 c J t0! push Done=7");
    // No one is left to be told.
    check(&limited(1, unproven.clone()), script, "Work1.1 g0 c J t0! push Done=7");
    // Once it has passed there, it can be believed.
    check(
        &unproven,
        &["turn claim", "commit made", "commit failed", "commit made", "try", "try no"],
        "Work1.1 g0 c J t0 push Done=0",
    );
}

#[test]
fn a_gate_that_fails_in_the_judge_before_the_run_is_decided_in_place() {
    check(&run(), &["turn claim", "commit made", "try no"], "J t0! Work1.1 g0 c Done=0");
    let required = Plan { checkout: CheckoutWhen::Require, ..run() };
    check(&required, &["turn claim", "try no"], "J t0! NotJudged=6");
}

#[test]
fn a_failure_at_both_places_proves_nothing_unless_it_is_the_same() {
    // The signatures of the script are those of its words.
    check(
        &limited(2, run()),
        &["base no", "turn claim", "commit made", "try other", "try no"],
        "b0! J t0! Work1.1 g0 c J t0! Work2.1<no|This|You> g0 c J t0! push Done=7",
    );
    check(
        &limited(1, run()),
        &["base no", "turn claim", "commit made", "try no", "try other"],
        "b0! J t0! Work1.1 g0 c J t0! Exhausted(MaxIterations)=1",
    );
}

#[test]
fn what_cannot_be_fetched_is_not_judged() {
    check(&run(), &["turn claim", "commit made", "bring", "bring fetch"], "J t0 Work1.1 g0 c J NotJudged=6");
    // Before the run it is no one's doing.
    check(&run(), &["turn claim", "commit made", "bring fetch"], "J Work1.1 g0 c Done=0");
    check(&run(), &["turn claim", "commit made", "bring", "bring place"], "J t0 Work1.1 g0 c J push Done=0");
    let required = Plan { checkout: CheckoutWhen::Require, ..run() };
    check(&required, &["turn claim", "bring place"], "J NotJudged=6");
}

#[test]
fn where_and_how_often_a_gate_runs() {
    let of = |runs_where, repeats| {
        let gate = Gate { runs_where, repeats, ..gate("test", When::EveryTurn) };
        limited(2, judged(presets::run("DONE", vec![gate])))
    };
    let script = &["turn", "turn claim", "commit made", "base"];
    check(&of(RunsWhere::Judge, Repeats::Yes), script, "J t0 Work1.1 c Work2.1 c J t0 push Done=0");
    check(&of(RunsWhere::Judge, Repeats::No), script, "Work1.1 c Work2.1 c J t0 push Done=0");
    check(&of(RunsWhere::Project, Repeats::Yes), script, "b0 Work1.1 g0 c Work2.1 g0 c Done=0");
    check(&of(RunsWhere::Both, Repeats::No), script, "Work1.1 g0 c Work2.1 g0 c Done=0");
    // What is checked nowhere else is checked, or nothing is said about it.
    check(
        &of(RunsWhere::Judge, Repeats::Yes),
        &["turn claim", "commit made", "bring", "bring place"],
        "J t0 Work1.1 c J NotJudged=6",
    );
}

#[test]
fn a_submitted_story_is_a_claim() {
    let plan =
        judged(presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::ChangedOrClaimed));
    let plan = Plan { baseline: false, ..limited(2, plan) };
    let script = &["look +tasks.json +of US-1", "turn +tasks.json +submitted", "try no"];
    check(
        &plan,
        script,
        "Implement1.1 g0 g1 g3 J t3! Implement2.1<no|This> g0 g1 g3 J t3! Exhausted(MaxIterations)=1",
    );
}

#[test]
fn a_turn_on_another_branch_is_red_and_two_of_them_stop_the_run() {
    let plan = Plan { branch: Some("main".to_owned()), ..limited(4, run()) };
    check(
        &plan,
        &["turn astray claim", "turn claim", "commit made"],
        "J t0 Work1.1 Work2.1<The> g0 c J t0 push Done=0",
    );
    check(&plan, &["turn astray claim"], "J t0 Work1.1 Work2.1<The> OtherBranch=6");
    check(
        &limited(3, plan),
        &["turn astray", "turn", "turn astray", "commit made"],
        "J t0 Work1.1 Work2.1<The> g0 c Work3.1 Exhausted(MaxIterations)=1",
    );
}

#[test]
fn a_trial_that_was_cut_off_begins_with_the_gates_again() {
    let plan = run();
    let mut state = State::default();
    let events = [
        Event::BaselineEnded(gate_ended(0, None)),
        brought(""),
        tried(0, None),
        Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
        ended(TurnEnd::Finished, "claim"),
        Event::GateEnded(gate_ended(0, None)),
        Event::CommitEnded(CommitEnd::Made {
            commit: "c".to_owned(),
            subject: String::new(),
            beyond: vec![],
        }),
        brought(""),
    ];
    for event in &events {
        state.apply(&plan, event);
    }
    assert_eq!(decide(&plan, &state), Action::RunInJudge(0));
    assert!(state.is_in_trial() && !state.is_settled());
    // No later gate stands in for the one that is due, and none that no one asked for.
    state.apply(&plan, &tried(7, None));
    assert_eq!(decide(&plan, &state), Action::RunInJudge(0));
    state.apply(&plan, &Event::RunResumed { pid: 2, limits: plan.limits });
    assert_eq!(decide(&plan, &state), Action::RunGate(0));
    state.apply(&plan, &Event::GateEnded(gate_ended(0, None)));
    assert!(state.awaits_judge(&plan));
    state.apply(&plan, &Event::CommitEnded(CommitEnd::Already { beyond: vec![] }));
    assert_eq!(decide(&plan, &state), Action::BringJudge);
    state.apply(&plan, &brought(""));
    state.apply(&plan, &tried(0, None));
    assert_eq!(decide(&plan, &state), Action::Examine);
    state.apply(&plan, &Event::Examined(Box::default()));
    assert_eq!(decide(&plan, &state), Action::Deliver);
    // Killed between the verdict and what follows from it: that is done by the next process.
    state.apply(&plan, &Event::RunResumed { pid: 3, limits: plan.limits });
    assert_eq!(decide(&plan, &state), Action::Deliver);
}

/// What is recorded when a claim has passed in the working tree and is committed.
fn claimed(commit: CommitEnd) -> [Event; 4] {
    [
        Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
        ended(TurnEnd::Finished, "claim"),
        Event::GateEnded(gate_ended(0, None)),
        Event::CommitEnded(commit),
    ]
}

fn base_taken() -> Event {
    Event::BaseTaken { commit: Some("base".to_owned()), copies: None, why: None, ms: 0 }
}

fn after<'a>(plan: &Plan, events: impl IntoIterator<Item = &'a Event>) -> State {
    let mut state = State::default();
    for event in events {
        state.apply(plan, event);
    }
    state
}

#[test]
fn a_commit_that_an_earlier_process_made_is_delivered_too() {
    let plan = Plan { baseline: false, ..run() };
    let events = claimed(CommitEnd::Already { beyond: vec![] });
    let trial = [brought(""), tried(0, None), Event::Examined(Box::default())];
    let state = after(&plan, events.iter().chain(&trial));
    assert_eq!(decide(&plan, &state), Action::Deliver);
}

#[test]
fn the_state_says_where_the_judgement_is() {
    let plan = Plan { baseline: false, ..run() };
    let events = claimed(CommitEnd::Nothing);
    let state = after(&plan, &events[..3]);
    assert_eq!((state.awaits_judge(&plan), state.is_in_trial()), (true, false));
    let never = Plan { checkout: CheckoutWhen::Never, ..plan.clone() };
    assert!(!after(&never, &events[..3]).awaits_judge(&never));
    let state = after(&plan, &events);
    assert_eq!((state.awaits_judge(&plan), state.is_in_trial()), (false, true));
}

#[test]
fn a_process_that_continues_brings_its_own_judge_to_the_base() {
    let plan = run();
    let mut state = after(&plan, &[base_taken(), Event::BaselineEnded(gate_ended(0, None)), brought("")]);
    assert_eq!(decide(&plan, &state), Action::RunInJudge(0));
    state.apply(&plan, &Event::RunResumed { pid: 2, limits: plan.limits });
    assert_eq!(decide(&plan, &state), Action::BringJudge);
}

#[test]
fn once_a_turn_has_begun_there_is_no_base_to_judge() {
    let plan = run();
    let events = [
        Event::TurnStarted(Turn { iteration: 1, attempt: 1, ..Turn::default() }),
        ended(TurnEnd::Finished, ""),
        Event::GateEnded(gate_ended(0, None)),
        Event::CommitEnded(CommitEnd::Nothing),
    ];
    assert!(matches!(decide(&plan, &after(&plan, &events)), Action::RunTurn(order) if order.iteration == 2));
}

#[test]
fn without_the_base_of_the_working_tree_red_in_the_judge_proves_nothing() {
    let plan = limited(2, run());
    let red = || tried(0, Some("no".to_owned()));
    let base = [brought(""), red()];
    let trial = claimed(CommitEnd::Nothing);
    let state = after(&plan, base.iter().chain(&trial).chain(&[brought(""), red()]));
    // The first time it is told; the second time a person decides.
    assert!(matches!(decide(&plan, &state), Action::RunTurn(order) if order.iteration == 2));
    assert!(state.findings().is_empty());
    let again = after(
        &plan,
        base.iter().chain(&trial).chain(&[brought(""), red()]).chain(&trial).chain(&[brought(""), red()]),
    );
    assert_eq!(again.findings().len(), 1);
    // Green there proves that the judge can run it, so red counts.
    let base = [brought(""), tried(0, None)];
    let mut state = after(&plan, base.iter().chain(&trial).chain(&[brought(""), red()]));
    for event in trial.iter().chain(&[brought(""), red()]) {
        state.apply(&plan, event);
    }
    assert!(state.findings().is_empty());
}

#[test]
fn where_a_claim_is_tried_again_at_once_the_judge_is_told_once_too() {
    let mut plan = Plan { gates: every(&["test"]), baseline: false, ..presets::prompt() };
    plan.failures.gate = OnFailure::Retry { retries: 1 };
    check(
        &judged(plan),
        &["turn", "commit made", "try no"],
        "Work1.1 g0 c J t0! Work1.2<no|This|You> g0 c J t0! push Done=7",
    );
}

#[test]
fn a_refuted_claim_leaves_the_story_that_was_submitted_to_the_judge() {
    let mut plan =
        judged(presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::SubmittedOrClaimed));
    plan.gates.push(gate("audit", When::Claimed));
    let plan = Plan { baseline: false, ..limited(1, plan) };
    check(
        &plan,
        &[
            "look +tasks.json +of US-1",
            "turn +tasks.json +submitted claim",
            "gate ok",
            "gate ok",
            "gate ok",
            "gate no",
        ],
        "Implement1.1 g0 g1 g3 g2! J t3 Exhausted(MaxIterations)=1",
    );
}

#[test]
fn other_guardrails_are_judged_anew_and_caveats_stay() {
    use crate::verify::caveat::Caveat;

    let plan = run();
    let caveat = Caveat::JudgedInPlace { why: "no".to_owned() };
    let Event::JudgeReady(ready) = brought("") else { unreachable!() };
    let ready = Event::JudgeReady(Box::new(JudgeReady { caveats: vec![caveat.clone()], ..*ready }));
    let base = Event::BaselineEnded(gate_ended(0, None));
    let mut state = after(&plan, &[base_taken(), base.clone(), ready.clone(), ready, tried(0, None)]);
    assert_eq!(state.caveats(&plan), std::slice::from_ref(&caveat));
    state.judge.forget();
    assert_eq!(state.caveats(&plan), [caveat]);
    assert_eq!(decide(&plan, &state), Action::BringJudge);
}

#[test]
fn caveats_say_who_decided() {
    let plan = run();
    let mut state = State::default();
    for event in [Event::BaselineEnded(gate_ended(0, None)), brought(""), tried(0, Some("no".to_owned()))] {
        state.apply(&plan, &event);
    }
    let caveats: Vec<&str> = state.caveats(&plan).iter().map(crate::verify::caveat::Caveat::name).collect();
    assert_eq!(caveats, ["judged-in-place"]);
}

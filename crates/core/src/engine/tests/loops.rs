//! Each loop from its first turn to its end.

use super::*;

#[test]
fn run_is_done_when_the_claim_holds() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    check(&run, &["turn claim"], "Work1.1 g0 g1 c Done=0");
    check(&run, &["turn a", "turn claim"], "Work1.1 g0 g1 c Work2.1 g0 g1 c Done=0");
    check(
        &limited(2, run.clone()),
        &["turn a"],
        "Work1.1 g0 g1 c Work2.1 g0 g1 c Exhausted(MaxIterations)=1",
    );
    // A claim on the last allowed iteration counts.
    check(&limited(1, run), &["turn claim"], "Work1.1 g0 g1 c Done=0");
    // Nothing but the agent's word to go by.
    check(&presets::run("DONE", vec![]), &["turn claim", "commit none"], "Work1.1 c Done=0");
}

#[test]
fn run_checks_every_gate_and_tells_every_failure() {
    let run = limited(2, presets::run("DONE", every(&["lint", "test", "build"])));
    check(
        &run,
        &["turn a", "gate ok", "gate red", "gate bad", "gate ok"],
        "Work1.1 g0 g1! g2! Work2.1<red|bad> g0 g1 g2 c Exhausted(MaxIterations)=1",
    );
    // A refuted claim is told as such, after the failures.
    check(
        &run,
        &["turn claim", "gate ok", "gate red", "gate ok", "gate ok"],
        "Work1.1 g0 g1! g2 Work2.1<red|You> g0 g1 g2 c Done=0",
    );
}

#[test]
fn run_retries_a_failed_agent_with_back_off() {
    let run = presets::run("DONE", vec![]);
    check(
        &run,
        &["turn fail"],
        "Work1.1 (Retry 1000) Work1.2 (Retry 2000) Work1.3 (Retry 4000) Work1.4 GaveUp(Agent)=4",
    );
    // The counter starts again after a success.
    check(
        &limited(2, run.clone()),
        &["turn fail", "turn fail", "turn a", "turn fail", "turn a"],
        "Work1.1 (Retry 1000) Work1.2 (Retry 2000) Work1.3 c Work2.1 (Retry 1000) Work2.2 c Exhausted(MaxIterations)=1",
    );
    check(&run, &["turn overload", "turn claim"], "Work1.1 (Retry 10000) Work1.2 c Done=0");
    // Not for ever longer.
    let mut patient = run.clone();
    patient.failures = patient.failures.with_retries(7);
    check(
        &patient,
        &["turn overload"],
        "Work1.1 (Retry 10000) Work1.2 (Retry 20000) Work1.3 (Retry 40000) Work1.4 (Retry 80000) Work1.5 \
         (Retry 160000) Work1.6 (Retry 300000) Work1.7 (Retry 300000) Work1.8 GaveUp(Agent)=4",
    );
    check(&run, &["turn bad key"], "Work1.1 GaveUp(Agent)=4");
}

#[test]
fn the_gates_are_checked_before_the_first_iteration() {
    let run = limited(2, presets::run("DONE", every(&["lint", "test"])));
    check(
        &run,
        &["base ok", "base red", "turn a"],
        "b0 b1! Work1.1 g0 g1 c Work2.1 g0 g1 c Exhausted(MaxIterations)=1",
    );
    check(&run, &["base ^C"], "b0 Interrupted=130");
    let without = Plan { baseline: false, ..run.clone() };
    check(&without, &["base red", "turn claim"], "Work1.1 g0 g1 c Done=0");
    // Those that verify a claim have nothing to say before there is one.
    let claimed = presets::run("DONE", vec![gate("approved", When::Claimed), gate("test", When::EveryTurn)]);
    check(&claimed, &["base ok", "turn claim"], "b1 Work1.1 g1 g0 c Done=0");
    // Nothing is checked for a run that cannot begin, or that is done.
    let build = presets::build("plan.md", every(&["test"]));
    check(&build, &["look", "base ok"], "Unready=2");
    check(&limited(0, run), &["base ok"], "Exhausted(MaxIterations)=1");
}

#[test]
fn what_failed_before_is_known_until_it_passes() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    let mut state = State::default();
    let mut apply = |event| {
        state.apply(&run, &event);
        [state.baseline().still_fails(0), state.baseline().still_fails(1)]
    };
    assert_eq!(apply(Event::BaselineEnded(gate_ended(0, Some("red".to_owned())))), [true, false]);
    assert_eq!(apply(Event::BaselineEnded(gate_ended(1, None))), [true, false]);
    apply(Event::TurnStarted(Turn { iteration: 1, attempt: 1, mode: Mode::Work, ..Turn::default() }));
    apply(ended(TurnEnd::Finished, "a"));
    assert_eq!(apply(Event::GateEnded(gate_ended(0, Some("red".to_owned())))), [true, false]);
    assert_eq!(apply(Event::GateEnded(gate_ended(1, Some("red".to_owned())))), [true, false]);
    apply(ended(TurnEnd::Finished, "a"));
    assert_eq!(apply(Event::GateEnded(gate_ended(0, None))), [false, false]);
    assert_eq!(apply(Event::GateEnded(gate_ended(0, Some("red".to_owned())))), [false, false]);
    assert_eq!(state.baseline().failed().collect::<Vec<_>>(), [(0, true)]);
}

#[test]
fn feedback_survives_a_retry() {
    let run = presets::run("DONE", every(&["test"]));
    check(
        &run,
        &["turn a", "turn fail", "turn claim", "gate red", "gate ok"],
        "Work1.1 g0! Work2.1<red> (Retry 1000) Work2.2<red> g0 c Done=0",
    );
}

#[test]
fn a_failing_commit_is_retried_and_told() {
    let run = presets::run("DONE", vec![]);
    check(
        &run,
        &["turn claim", "commit fail"],
        "Work1.1 c Work1.2<The> c Work1.3<The> c Work1.4<The> c GaveUp(Commit)=5",
    );
    check(&run, &["turn claim", "commit fail", "commit made"], "Work1.1 c Work1.2<The> c Done=0");
}

#[test]
fn what_changed_after_the_gates_goes_through_them_again() {
    let run = presets::run("DONE", every(&["test"]));
    check(&run, &["turn claim", "commit changed", "commit made"], "Work1.1 g0 c g0 c Done=0");
    check(
        &run,
        &["turn claim", "commit changed", "commit made", "gate ok", "gate red", "gate ok"],
        "Work1.1 g0 c g0! Work2.1<red|You> g0 c Done=0",
    );
    // What was unfinished may be finished now.
    check(
        &presets::build("plan.md", every(&["test"])),
        &[
            "look +plan.md +open",
            "turn claim +plan.md",
            "gate ok",
            "gate left",
            "gate ok",
            "commit changed",
            "commit made",
        ],
        "Work1.1 g0 g1! c g0 g1 c Done=0",
    );
    // Never for ever.
    check(
        &limited(1, run),
        &["turn claim", "commit changed"],
        "Work1.1 g0 c g0 c Work1.2 g0 c g0 c Work1.3 g0 c g0 c Work1.4 g0 c g0 c GaveUp(Commit)=5",
    );
}

#[test]
fn a_stop_lets_the_operation_finish() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    check(&run, &["turn ^C claim"], "Work1.1 Interrupted=130");
    check(&run, &["turn ^C cut"], "Work1.1 Interrupted=130");
    check(&run, &["turn claim", "gate ^C"], "Work1.1 g0 Interrupted=130");
    check(&run, &["turn claim", "gate ok", "gate ^C"], "Work1.1 g0 g1 Interrupted=130");
}

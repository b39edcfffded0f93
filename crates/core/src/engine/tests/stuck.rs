//! Loops that get nowhere.

use super::{super::stop::Stop, *};

#[test]
fn a_run_that_gets_nowhere_is_told_so_and_ends() {
    let run = presets::run("DONE", every(&["test"]));
    let told = "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red|There> g0! Stuck=6";
    check(&run, &["turn a", "gate red"], told);
    // At the limit it ends as the user chose.
    let four =
        "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red|There> g0! Exhausted(MaxIterations)=1";
    check(&limited(4, run.clone()), &["turn a", "gate red"], four);
    check(
        &limited(6, Plan { stuck_after: None, ..run.clone() }),
        &["turn a", "gate red"],
        "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red> g0! Work5.1<red> g0! Work6.1<red> g0! \
         Exhausted(MaxIterations)=1",
    );
    // Told, it tried something else.
    check(
        &limited(5, run),
        &["turn a", "gate red", "gate red", "gate red", "gate bad"],
        "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red|There> g0! Work5.1<bad> g0! \
         Exhausted(MaxIterations)=1",
    );
    // What is retried ends by its retries.
    let build = presets::build("plan.md", every(&["test"]));
    let gave_up = "Work1.1 g0! Work1.2<red> g0! Work1.3<red> g0! Work1.4<red> g0! GaveUp(Gate)=3";
    check(&build, &["look +plan.md", "gate red"], gave_up);
    // A root agent has the same brake.
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    check(
        &limited(5, task),
        &["look", "turn a +DONE", "gate busy"],
        "Work1.1 g0! DONE> (Rest 1000) Work2.1<busy|You> g0! DONE> (Rest 1000) Work3.1<busy|You> g0! DONE> (Rest 1000) \
         Work4.1<busy|You|There> g0! DONE> Stuck=6",
    );
}

#[test]
fn a_stories_loop_that_gets_nowhere_ends_too() {
    let stories = presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::ChangedOrClaimed);
    // What judges every change is checked before the first one; what verifies the whole is not.
    check(
        &limited(1, stories.clone()),
        &["look +tasks.json", "base red", "turn +tasks.json"],
        "b3! Implement1.1 g0 g1 g3 Exhausted(MaxIterations)=1",
    );
    let whole = presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::Claimed);
    check(
        &limited(1, whole),
        &["look +tasks.json", "base red", "turn +tasks.json"],
        "Implement1.1 g0 g1 Exhausted(MaxIterations)=1",
    );
    // The same rule broken again and again.
    check(
        &stories,
        &["look +tasks.json", "turn +tasks.json", "judge no"],
        "Implement1.1 g0 g1! g3 Implement2.1<The> g0 g1! g3 Implement3.1<The> g0 g1! g3 Implement4.1<The|There> g0 g1! \
         g3 Stuck=6",
    );
}

#[test]
fn a_run_that_got_nowhere_begins_anew_when_it_is_resumed() {
    let run = limited(20, presets::run("DONE", every(&["test"])));
    let mut state = State::default();
    let mut iterations = Vec::new();
    for _ in 0..2 {
        loop {
            let event = match decide(&run, &state) {
                Action::Finish(outcome) => {
                    assert!(matches!(outcome, Outcome::Stopped(Stop::Stuck(_))), "{outcome:?}");
                    state.apply(&run, &Event::RunEnded { outcome, exit_code: 6 });
                    break;
                }
                Action::RunTurn(turn) => {
                    iterations.push(turn.iteration);
                    ended(TurnEnd::Finished, "a")
                }
                Action::TakeBase => Event::BaseTaken { commit: None, copies: Some(1), why: None, ms: 0 },
                Action::RunGate(gate) => Event::GateEnded(gate_ended(gate, Some("red".to_owned()))),
                Action::RunBaseline(gate) => Event::BaselineEnded(gate_ended(gate, None)),
                other => panic!("{other:?}"),
            };
            state.apply(&run, &event);
        }
        state.apply(&run, &Event::RunResumed { pid: 1, limits: run.limits });
    }
    assert_eq!(iterations, [1, 2, 3, 4, 5, 6, 7, 8]);
}

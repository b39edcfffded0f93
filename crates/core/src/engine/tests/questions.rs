//! What a state says of itself to the code that drives a run or shows it.

use super::*;

fn started(iteration: u32) -> Event {
    Event::TurnStarted(Turn { iteration, attempt: 1, mode: Mode::Work, ..Turn::default() })
}

fn passed(gate: usize) -> Event {
    Event::GateEnded(gate_ended(gate, None))
}

#[test]
fn a_turn_is_on_its_way_until_it_ends_and_open_until_it_is_judged() {
    let stories = presets::stories(&["tasks.json".to_owned()], &[], When::Claimed);
    let mut state = State::default();
    let mut after = |event: Event| {
        state.apply(&stories, &event);
        [state.is_in_turn(), state.is_unjudged(), state.is_stopping()]
    };
    assert_eq!(after(Event::Looked(view("+tasks.json"))), [false, false, false]);
    assert_eq!(after(started(1)), [true, true, false]);
    assert_eq!(after(Event::StopRequested), [true, true, true]);
    assert_eq!(after(ended(TurnEnd::Finished, "+tasks.json")), [false, true, true]);
    assert_eq!(after(judged("")), [false, false, true]);
    assert_eq!(after(Event::RunResumed { pid: 1, limits: stories.limits }), [false, false, false]);
    // Where there is no list, there is nothing to judge in it.
    let run = presets::run("DONE", vec![]);
    let mut state = State::default();
    state.apply(&run, &started(1));
    assert!(state.is_in_turn() && !state.is_unjudged());
}

#[test]
fn what_repeats_is_known_from_the_iteration_that_is_told_so() {
    let run = presets::run("DONE", every(&["test"]));
    let mut state = State::default();
    let mut repeats = Vec::new();
    for iteration in 1..=3 {
        for event in [
            started(iteration),
            ended(TurnEnd::Finished, "a"),
            Event::GateEnded(gate_ended(0, Some("red".to_owned()))),
        ] {
            state.apply(&run, &event);
        }
        repeats.push(state.repeats().map(str::to_owned));
    }
    assert_eq!(repeats, [None, None, Some("`test` fails in the same way each time".to_owned())]);
}

#[test]
fn an_iteration_counts_as_passed_when_a_turn_passed_its_gates() {
    let run = Plan { commit: CommitRule::Never, ..presets::run("DONE", every(&["test"])) };
    let mut state = State::default();
    for iteration in 1..=2 {
        for event in [started(iteration), ended(TurnEnd::Finished, "a"), passed(0)] {
            state.apply(&run, &event);
        }
    }
    assert_eq!(state.spent().passed, 2);
    // The folder claims it, and no turn has run.
    let task = presets::task("DONE", "WAIT", every(&["children ended"]));
    let mut state = State::default();
    for event in [Event::Looked(view("+DONE")), passed(0)] {
        state.apply(&task, &event);
    }
    assert_eq!((state.spent().passed, decide(&task, &state)), (0, Action::Finish(Outcome::Done)));
}

#[test]
fn every_commit_counts_and_nothing_else_does() {
    let run = presets::run("DONE", vec![]);
    let made = || CommitEnd::Made { commit: "abc".to_owned(), subject: "work".to_owned(), beyond: vec![] };
    let mut state = State::default();
    for (iteration, end) in
        (1..).zip([made(), CommitEnd::Nothing, made(), CommitEnd::Already { beyond: vec![] }])
    {
        for event in [started(iteration), ended(TurnEnd::Finished, "a"), Event::CommitEnded(end)] {
            state.apply(&run, &event);
        }
    }
    assert_eq!((state.spent().commits, state.spent().passed), (2, 4));
}

#[test]
fn what_was_broken_before_is_listed_with_whether_it_passed_since() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    let mut state = State::default();
    assert_eq!(state.baseline().failed().count(), 0);
    for gate in [0, 1] {
        state.apply(&run, &Event::BaselineEnded(gate_ended(gate, Some("red".to_owned()))));
    }
    for event in [started(1), ended(TurnEnd::Finished, "a"), passed(0)] {
        state.apply(&run, &event);
    }
    assert_eq!(state.baseline().failed().collect::<Vec<_>>(), [(0, true), (1, false)]);
}

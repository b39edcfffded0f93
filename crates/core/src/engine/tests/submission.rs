//! What becomes of a submission whose turn or checks do not come to their end.

use super::*;

fn submitting() -> Plan {
    presets::stories(&[], &["test".to_owned()], When::SubmittedOrClaimed)
}

fn began(mode: Mode) -> Event {
    let order = Order {
        iteration: 1,
        attempt: 1,
        mode,
        story: Some("US-1".to_owned()),
        chosen: None,
        notes: Vec::new(),
    };
    Event::TurnStarted(order.into())
}

fn returned() -> Event {
    let taken_back = vec!["US-1".to_owned()];
    Event::TasksJudged(Box::new(TasksJudged { taken_back, ..TasksJudged::default() }))
}

fn green(gate: usize) -> Event {
    Event::GateEnded(gate_ended(gate, None))
}

fn red(gate: usize) -> Event {
    Event::GateEnded(gate_ended(gate, Some("red".to_owned())))
}

fn stop() -> Event {
    Event::RunEnded { outcome: Outcome::Interrupted, exit_code: 130 }
}

fn state(plan: &Plan, events: &[Event]) -> State {
    let mut state = State::default();
    for event in events {
        state.apply(plan, event);
    }
    state
}

/// The same where the commands run after every turn that changes code.
fn guarded() -> Plan {
    presets::stories(&[], &["test".to_owned()], When::ChangedOrClaimed)
}

/// Whether a run that is alive has to take it back, and whether another would have to if it were not.
#[track_caller]
fn check(events: &[Event], expected: (bool, bool)) {
    let state = state(&submitting(), events);
    assert_eq!((state.is_unready(), state.leaves_unverified()), expected, "{events:?}");
}

#[test]
fn only_checks_that_passed_make_a_submission_one() {
    let finished = || ended(TurnEnd::Finished, "+submitted");
    let begun = [began(Mode::Implement)];
    check(&[], (false, false));
    check(&begun, (false, true));
    check(&[began(Mode::Fix)], (false, true));
    check(&[began(Mode::Review)], (false, false));
    check(&[began(Mode::Implement), ended(TurnEnd::Abandoned, "")], (true, true));
    check(&[began(Mode::Implement), ended(turn_end("fail"), "")], (true, true));
    check(&[began(Mode::Implement), finished()], (false, true));
    check(&[began(Mode::Implement), ended(TurnEnd::Finished, "")], (false, false));
    let passed = [began(Mode::Implement), finished(), green(0), judged(""), green(1), green(3)];
    check(&passed[..5], (false, true));
    check(&passed, (false, false));
    let refused = [began(Mode::Implement), finished(), green(0), judged(""), green(1), red(3)];
    check(&refused, (true, true));
    // Not everything is done, but this story is ready.
    let claimed = ended(TurnEnd::Finished, "claim +submitted");
    let early = [began(Mode::Implement), claimed, green(0), judged(""), green(1), green(3), red(2)];
    check(&early, (false, false));
    let unclean = [began(Mode::Implement), finished(), red(0), judged(""), green(1)];
    check(&unclean, (true, true));
    check(&[began(Mode::Implement), ended(TurnEnd::Finished, ""), red(0), green(1)], (false, false));
}

#[test]
fn a_slip_beside_it_refuses_nothing_that_the_commands_passed() {
    let finished = || ended(TurnEnd::Finished, "+submitted");
    let slip = [began(Mode::Implement), finished(), green(0), judged("x"), red(1), green(3)];
    assert!(!state(&guarded(), &slip).is_unready());
    let red = [began(Mode::Implement), finished(), green(0), judged(""), green(1), red(3)];
    assert!(state(&guarded(), &red).is_unready());
}

#[test]
fn what_was_settled_is_a_persons_from_then_on() {
    let abandoned = [began(Mode::Implement), ended(TurnEnd::Abandoned, "")];
    let with = |more: &[Event]| [&abandoned, more].concat();
    check(&with(&[judged("")]), (false, false));
    check(&with(&[returned()]), (false, false));
    check(&with(&[stop()]), (false, false));
    // Gates that are still to decide do so when the run is resumed, or another run takes the story back.
    let judging = [began(Mode::Implement), ended(TurnEnd::Finished, "+submitted"), green(0), judged("")];
    let with = |more: &[Event]| [&judging, more].concat();
    check(&with(&[stop()]), (false, true));
    check(&with(&[stop(), returned()]), (false, false));
    let resumed = Event::RunResumed { pid: 1, limits: submitting().limits };
    check(&with(&[stop(), resumed.clone()]), (false, true));
    check(&with(&[stop(), resumed.clone(), green(0), green(1), green(3)]), (false, false));
    // What had failed until then is decided again, too.
    let failing = [began(Mode::Implement), ended(TurnEnd::Finished, "+submitted"), red(0), stop(), resumed];
    check(&failing, (false, true));
    check(&[&failing[..], &[green(0), judged(""), green(1), green(3)]].concat(), (false, false));
}

#[test]
fn the_story_is_told_and_no_other() {
    let plan = submitting();
    let finished = ended(TurnEnd::Finished, "+submitted");
    let refused =
        [began(Mode::Implement), finished.clone(), green(0), judged(""), green(1), red(3), returned()];
    let texts = |state: &State, story: Option<&str>| -> Vec<String> {
        state.feedback_for(story).into_iter().map(|it| it.text).collect()
    };
    let told = state(&plan, &refused);
    let its = texts(&told, Some("US-1"));
    assert!(its[0].contains("red") && its[1].contains("its checks did not pass"), "{its:?}");
    assert!(texts(&told, Some("US-2")).is_empty() && texts(&told, None).is_empty());
    // Once it has come to its end, it knows; a turn of another story changes nothing about that.
    let again = [&refused[..], &[began(Mode::Implement), finished.clone()]].concat();
    assert!(texts(&state(&plan, &again), Some("US-1")).is_empty());
    let other = Order {
        iteration: 2,
        attempt: 1,
        mode: Mode::Implement,
        story: Some("US-2".to_owned()),
        chosen: None,
        notes: Vec::new(),
    };
    let other = [&refused[..], &[Event::TurnStarted(other.into()), finished]].concat();
    assert_eq!(texts(&state(&plan, &other), Some("US-1")), its);
    let cut = [began(Mode::Implement), ended(TurnEnd::Abandoned, ""), returned()];
    let its = texts(&state(&plan, &cut), Some("US-1"));
    assert!(its.len() == 1 && its[0].contains("was cut off before its checks ran"), "{its:?}");
}

#[test]
fn only_what_something_verifies_waits_for_it() {
    let stories = |commands: &[String], when| presets::stories(&[], commands, when);
    let test = ["test".to_owned()];
    for (plan, expected) in [
        (stories(&test, When::SubmittedOrClaimed), true),
        (stories(&test, When::EveryTurn), true),
        (stories(&test, When::ChangedOrClaimed), true),
        // It says something about the whole list, and not about a story.
        (stories(&test, When::Claimed), false),
        (stories(&[], When::EveryTurn), false),
        // There is no list to submit anything to.
        (presets::run("DONE", every(&["test"])), false),
    ] {
        for mode in [Mode::Implement, Mode::Fix] {
            assert_eq!(state(&plan, &[began(mode)]).leaves_unverified(), expected, "{mode:?}: {plan:?}");
        }
    }
}

#[test]
fn what_was_not_taken_back_is_told_to_the_agent_that_comes_next() {
    let plan = submitting();
    let finished = ended(TurnEnd::Finished, "+submitted");
    let texts = |events: &[Event]| -> Vec<String> {
        state(&plan, events).feedback_for(None).into_iter().map(|it| it.text).collect()
    };
    // The agent took it back itself before ralph could.
    let refused = [began(Mode::Implement), finished, green(0), judged(""), green(1), red(3), judged("")];
    assert_eq!(texts(&refused).len(), 1);
    // What an earlier turn was told stays, when another one is cut off.
    let unclean = [began(Mode::Implement), ended(TurnEnd::Finished, ""), red(0), judged(""), green(1)];
    let cut = [began(Mode::Implement), ended(TurnEnd::Abandoned, ""), returned()];
    assert_eq!(texts(&[&unclean[..], &cut].concat()).len(), 1);
}

//! Where a resumed run goes on.

use super::*;

/// Applies events and says what comes next after a resume with these limits.
fn next_after_resume(plan: &Plan, events: Vec<Event>) -> Action {
    let mut state = State::default();
    for event in events.into_iter().chain([Event::RunResumed { pid: 1, limits: plan.limits }]) {
        state.apply(plan, &event);
    }
    decide(plan, &state)
}

#[test]
fn a_resumed_run_goes_on_where_it_was() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    let turn = |iteration, attempt| Order {
        iteration,
        attempt,
        mode: Mode::Work,
        story: None,
        chosen: None,
        notes: Vec::new(),
    };
    let started = |iteration, attempt| Event::TurnStarted(turn(iteration, attempt).into());
    let finished = || ended(TurnEnd::Finished, "a");
    let end = |outcome| Event::RunEnded { outcome, exit_code: 0 };
    let ok = |gate| Event::GateEnded(gate_ended(gate, None));

    // Killed in a turn: the same attempt again.
    assert_eq!(next_after_resume(&run, vec![started(1, 1)]), Action::AbandonTurn);
    let cut = vec![started(2, 3), ended(TurnEnd::Abandoned, "")];
    assert_eq!(next_after_resume(&run, cut), Action::RunTurn(turn(2, 3)));
    // Interrupted after a turn: its gates are still to be checked.
    let stopped = vec![started(1, 1), Event::StopRequested, finished(), end(Outcome::Interrupted)];
    assert_eq!(next_after_resume(&run, stopped), Action::RunGate(0));
    // Halfway through the gates: all of them again, because someone may have changed the files.
    let halfway = vec![started(1, 1), finished(), ok(0), Event::StopRequested, end(Outcome::Interrupted)];
    assert_eq!(next_after_resume(&run, halfway), Action::RunGate(0));
    let passed =
        vec![started(1, 1), finished(), ok(0), ok(1), Event::StopRequested, end(Outcome::Interrupted)];
    assert_eq!(next_after_resume(&run, passed), Action::RunGate(0));
    // Killed while committing: see whether it was made.
    let announced = Event::CommitStarted { head: None, message: String::new(), boot: None };
    let committing = vec![started(1, 1), finished(), ok(0), ok(1), announced];
    assert_eq!(next_after_resume(&run, committing), Action::Commit);
    // Gave up: the same iteration, with new attempts.
    let mut gave_up = vec![started(3, 4), ended(turn_end("fail"), "")];
    let Action::Finish(verdict) = next_after_resume(&run, gave_up.clone()) else {
        panic!("a verdict that was not recorded is lost")
    };
    gave_up.push(end(verdict));
    assert_eq!(next_after_resume(&run, gave_up), Action::RunTurn(turn(3, 1)));
    // At the limit: goes on when it is raised.
    let limit = vec![started(10, 1), finished(), ok(0), ok(1), Event::CommitEnded(CommitEnd::Nothing)];
    let at_limit = Action::Finish(Outcome::Exhausted { limit: Exhausted::MaxIterations });
    assert_eq!(next_after_resume(&run, limit.clone()), at_limit);
    assert_eq!(next_after_resume(&limited(11, run.clone()), limit), Action::RunTurn(turn(11, 1)));
    // Killed in a wait: waits for the rest of it.
    let waiting = vec![
        started(1, 1),
        ended(turn_end("quota"), ""),
        Event::WaitStarted { until_ms: 9, why: Why::UsageLimit },
    ];
    assert_eq!(next_after_resume(&run, waiting), Action::WaitUntil(9));
    // Complete stays complete.
    let done = vec![
        started(1, 1),
        ended(TurnEnd::Finished, DONE),
        ok(0),
        ok(1),
        Event::CommitEnded(CommitEnd::Nothing),
    ];
    assert_eq!(next_after_resume(&run, done.clone()), Action::Finish(Outcome::Done));
    let recorded = done.into_iter().chain([end(Outcome::Done)]).collect();
    assert_eq!(next_after_resume(&run, recorded), Action::Finish(Outcome::Done));
}

#[test]
fn what_the_folder_claimed_is_looked_at_again() {
    let task = presets::task("DONE", "WAIT", vec![gate("children ended", When::Claimed)]);
    let seen = || vec![Event::Looked(view("+DONE"))];
    let mut state = State::default();
    state.apply(&task, &seen().remove(0));
    assert_eq!(decide(&task, &state), Action::RunGate(0));
    // By now the file may be gone.
    assert_eq!(next_after_resume(&task, seen()), Action::Look);
}

#[test]
fn nothing_stands_in_for_a_verdict_whose_line_is_lost() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    let uncommitted = Plan { commit: CommitRule::Never, ..run.clone() };
    let turn = || {
        let started = Turn { iteration: 1, attempt: 1, mode: Mode::Work, ..Turn::default() };
        [Event::TurnStarted(started), ended(TurnEnd::Finished, DONE)]
    };
    let ok = |gate| Event::GateEnded(gate_ended(gate, None));
    let announced = || Event::CommitStarted { head: None, message: String::new(), boot: None };
    let made = || {
        Event::CommitEnded(CommitEnd::Made { commit: String::new(), subject: String::new(), beyond: vec![] })
    };
    let whole = [ok(0), ok(1), announced(), made()];
    for plan in [&run, &uncommitted] {
        let mut events = turn().to_vec();
        events.extend(whole.clone());
        assert_eq!(next_after_resume(plan, events), Action::Finish(Outcome::Done));
        // Whichever verdict is lost, and wherever ralph was killed after it: every gate decides again.
        for lost in [0, 1] {
            let rest: Vec<Event> = whole
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != lost)
                .map(|(_, event)| event.clone())
                .collect();
            for killed_at in 0..=rest.len() {
                let mut events = turn().to_vec();
                events.extend_from_slice(&rest[..killed_at]);
                let next = next_after_resume(plan, events);
                assert_eq!(next, Action::RunGate(0), "without gate {lost}, after {killed_at} events");
            }
        }
    }
}

//! What may still begin, at which moment.

use ralph_agents::QuotaWindow;

use super::{
    super::deadline::{closed, is_spent, keep_to},
    *,
};

/// What comes next at this moment, in one word.
fn next(plan: &Plan, state: &State, now: i64) -> String {
    match keep_to(plan, state, decide(plan, state), now) {
        Action::Finish(Outcome::Exhausted { limit }) => format!("{limit:?}"),
        action => format!("{action:?}").split([' ', '(']).next().expect("a word").to_owned(),
    }
}

fn until(ms: i64) -> Plan {
    let mut plan = presets::run("DONE", every(&["test"]));
    plan.baseline = false;
    plan.limits.until_ms = Some(ms);
    plan
}

fn leaving(percent: u32) -> Plan {
    let mut plan = presets::run("DONE", vec![]);
    plan.limits.leave_quota = Some(percent);
    plan
}

fn state(plan: &Plan, events: &[Event]) -> State {
    let mut state = State::default();
    for event in events {
        state.apply(plan, event);
    }
    state
}

/// The end of a turn after which so much is used, until the window begins anew in this second.
fn used(windows: &[(u32, Option<i64>)]) -> Event {
    let quota = windows.iter().map(|&(used, resets_at)| QuotaWindow { used, resets_at }).collect();
    Event::TurnEnded(Box::new(TurnEnded { quota, ..TurnEnded::new(TurnEnd::Finished) }))
}

#[test]
fn the_state_knows_how_much_of_each_window_is_used() {
    let plan = presets::run("DONE", vec![]);
    let mut state = State::default();
    state.apply(&plan, &used(&[(70, Some(9))]));
    assert_eq!(state.quota().iter().map(|window| window.used).collect::<Vec<_>>(), [70]);
}

#[test]
fn nothing_begins_at_the_end_of_the_run() {
    let plan = until(1000);
    let idle = state(&plan, &[Event::BaseTaken { commit: None, copies: Some(1), why: None, ms: 0 }]);
    assert_eq!((next(&plan, &idle, 999), next(&plan, &idle, 1000)), ("RunTurn".into(), "Until".into()));
    let mut baseline = plan.clone();
    baseline.baseline = true;
    assert_eq!(
        (next(&baseline, &idle, 999), next(&baseline, &idle, 1000)),
        ("RunBaseline".into(), "Until".into())
    );
    let mut waits = Plan { awaits: vec!["other".to_owned()], ..plan.clone() };
    waits.limits.until_ms = Some(5);
    let looked = state(&waits, &[Event::Looked(View::default())]);
    assert_eq!((next(&waits, &looked, 4), next(&waits, &looked, 5)), ("AwaitFiles".into(), "Until".into()));
    // Without a moment there is none.
    assert_eq!(closed(&presets::run("DONE", vec![]), &idle, i64::MAX), None);
}

#[test]
fn what_came_to_its_end_is_judged_however_late_it_is() {
    let plan = until(0);
    let mut state = state(&plan, &[ended(TurnEnd::Finished, DONE)]);
    assert_eq!(next(&plan, &state, 9), "RunGate");
    state.apply(&plan, &Event::GateEnded(gate_ended(0, None)));
    assert_eq!(next(&plan, &state, 9), "Commit");
    state.apply(&plan, &Event::CommitEnded(CommitEnd::Nothing));
    assert_eq!(decide(&plan, &state), Action::Finish(Outcome::Done));
    assert_eq!(next(&plan, &state, 9), "Finish");
}

#[test]
fn no_wait_goes_beyond_the_end_of_the_run() {
    // The quota is back in second 77.
    let refused = [ended(turn_end("quota"), "")];
    for (until_ms, expected) in [(77_000, "Until"), (77_001, "StartWait"), (100, "Until")] {
        let plan = until(until_ms);
        assert_eq!(next(&plan, &state(&plan, &refused), 50), expected, "{until_ms}");
    }
    let plan = until(77_000);
    assert_eq!(state(&plan, &refused).awaited_quota(), Some(AwaitedQuota::BackAt(77)));
    // No one says when it is back: the next try is in a minute.
    let refused = [ended(turn_end("used up"), "")];
    for (until_ms, expected) in [(60_050, "Until"), (60_051, "StartWait")] {
        let plan = until(until_ms);
        assert_eq!(next(&plan, &state(&plan, &refused), 50), expected, "{until_ms}");
    }
    assert_eq!(state(&plan, &refused).awaited_quota(), Some(AwaitedQuota::Unknown));
    // One that an earlier process began.
    let waiting = [Event::WaitStarted { until_ms: 500, why: Why::UsageLimit }];
    for (until_ms, now, expected) in [(500, 9, "Until"), (501, 9, "WaitUntil"), (501, 501, "Until")] {
        let plan = until(until_ms);
        assert_eq!(next(&plan, &state(&plan, &waiting), now), expected, "{until_ms}");
    }
    assert_eq!(state(&plan, &waiting).awaited_quota(), Some(AwaitedQuota::BackAt(0)));
    assert_eq!(State::default().awaited_quota(), None);
}

#[test]
fn a_part_of_every_window_is_left() {
    let window = |used| [QuotaWindow { used, resets_at: None }];
    assert!(!is_spent(Some(20), &window(79)) && is_spent(Some(20), &window(80)));
    assert!(!is_spent(None, &window(100)) && is_spent(Some(1), &window(u32::MAX)));
    let plan = leaving(20);
    let check = |windows: &[(u32, Option<i64>)], now: i64, expected: &str| {
        let state = state(&plan, &[used(windows), Event::CommitEnded(CommitEnd::Nothing)]);
        assert_eq!(next(&plan, &state, now), expected, "{windows:?}");
    };
    check(&[], 0, "RunTurn");
    check(&[(79, None)], 0, "RunTurn");
    check(&[(80, None)], 0, "LeaveQuota");
    check(&[(10, None), (95, Some(7))], 6_999, "LeaveQuota");
    // From its reset on it has all of it again; the longer one has not.
    check(&[(10, None), (95, Some(7))], 7_000, "RunTurn");
    check(&[(100, Some(7)), (81, Some(99))], 7_000, "LeaveQuota");
}

#[test]
fn a_refusal_is_waited_for_whatever_is_to_be_left() {
    // The wait ends in a window of which nothing is used.
    let plan = leaving(20);
    let quota = vec![QuotaWindow { used: 100, resets_at: Some(77) }];
    let refused = TurnEnded { quota, ..TurnEnded::new(turn_end("quota")) };
    let state = state(&plan, &[Event::TurnEnded(Box::new(refused))]);
    assert_eq!(next(&plan, &state, 50), "StartWait");
}

#[test]
fn the_last_word_on_the_quota_counts() {
    let plan = leaving(20);
    let commit = || Event::CommitEnded(CommitEnd::Nothing);
    let state_of = |events: &[Event]| state(&plan, events);
    let known = state_of(&[used(&[(90, None)]), commit(), used(&[(3, None)]), commit()]);
    assert_eq!(next(&plan, &known, 0), "RunTurn");
    // A turn that says nothing about it changes nothing.
    let known = state_of(&[used(&[(90, None)]), commit(), used(&[]), commit()]);
    assert_eq!(next(&plan, &known, 0), "LeaveQuota");
    // Who resumes an ended run asks anew, unless the window is known to last.
    let resumed = || Event::RunResumed { pid: 1, limits: plan.limits };
    let limit = Exhausted::LeaveQuota;
    let over = || Event::RunEnded { outcome: Outcome::Exhausted { limit }, exit_code: 1 };
    for (resets_at, expected) in [(None, "RunTurn"), (Some(7), "LeaveQuota")] {
        let known = state_of(&[used(&[(90, resets_at)]), commit(), over(), resumed()]);
        assert_eq!(next(&plan, &known, 0), expected);
        // Killed before it could say so.
        let known = state_of(&[used(&[(90, resets_at)]), commit(), resumed()]);
        assert_eq!(next(&plan, &known, 0), "LeaveQuota");
    }
}

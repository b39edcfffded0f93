//! What a picture has of each line of a record.

use ralph_agents::{Failure, FailureKind, Usage};
use ralph_guard::Decision;

use super::*;
use crate::{
    containment::level::Level,
    engine::{
        commit::CommitEnd,
        event::{JudgeFailure, PlanView, View},
        judgement::Judgement,
        outcome::Exhausted,
    },
    fleet::{FleetEntry, FleetEvent, FleetOutcome},
    setup::{Assignment, InSession, Role},
    stories::Mode,
    view::turns::{GateDot, TurnMark, Turns},
};

fn ends_with(end: TurnEnd) -> Event {
    let usage = Usage { input: 7, ..Usage::default() };
    Event::TurnEnded(Box::new(TurnEnded { ms: 5, tools: 3, usage, ..TurnEnded::new(end) }))
}

#[test]
fn a_turn_is_shown_as_it_ended() {
    let failure = Failure { kind: FailureKind::Transient, message: "no network".to_owned() };
    for (end, mark, problem) in [
        (TurnEnd::Finished, TurnMark::Finished, None),
        (TurnEnd::Paused { reason: None }, TurnMark::Paused, Some("it waits for a person")),
        (TurnEnd::Failed(failure), TurnMark::Failed, Some("no network")),
        (TurnEnd::Interrupted, TurnMark::Ended, Some("it was ended by the user")),
    ] {
        let watched = watched(vec![turn(1), ends_with(end)]);
        let [row] = watched.turns() else { panic!("{:?}", watched.turns()) };
        assert_eq!((row.mark, row.problem.as_deref()), (mark, problem));
        assert_eq!((row.ms, row.tools, row.usage.input, row.committed), (5, 3, 7, false));
    }
    let asked = Event::MessageAsked {
        agent: None,
        message: None,
        usage: Usage { input: 2, ..Usage::default() },
        ms: 1,
    };
    let made = CommitEnd::Made { commit: "c".to_owned(), subject: "s".to_owned(), beyond: Vec::new() };
    let watched = watched(vec![turn(1), ends_with(TurnEnd::Finished), asked, Event::CommitEnded(made)]);
    let row = &watched.turns()[0];
    assert_eq!((row.usage.input, row.committed, row.mode), (9, true, None));
}

#[test]
fn only_a_turn_that_is_no_plain_work_has_a_mode() {
    let turn = |mode| Event::TurnStarted(Turn { iteration: 1, attempt: 1, mode, ..Turn::default() });
    let watched = watched(vec![turn(Mode::Work), turn(Mode::Review)]);
    let modes: Vec<Option<&str>> = watched.turns().iter().map(|row| row.mode).collect();
    assert_eq!(modes, [None, Some(Mode::Review.name())]);
}

#[test]
fn gates_have_a_dot_from_the_first_line_on() {
    let judged = |gate, passed: bool| {
        let failure = (!passed).then(|| GateFailure::of_message("no".to_owned(), Some(1)));
        let ended = GateEnded::own(gate, failure, String::new());
        Event::JudgeGateEnded(JudgeGateEnded { ended, differs: Vec::new() })
    };
    let names: Vec<String> = shown(Vec::new(), true).gates.into_iter().map(|it| it.name).collect();
    assert_eq!(names, ["make test", "make lint"]);
    for (events, expected, is_refused) in [
        (vec![gate(0, true), gate(1, true)], vec![GateDot::Passed, GateDot::Passed], false),
        (vec![gate(0, true), gate(1, false)], vec![GateDot::Passed, GateDot::Failed], true),
        // The judge makes up for nothing that failed before it; what only it checks is as it says.
        (
            vec![gate(0, false), judged(0, true), judged(1, true)],
            vec![GateDot::Failed, GateDot::Passed],
            true,
        ),
        (vec![gate(0, true), judged(0, false)], vec![GateDot::FailedInJudge], true),
        // What was being checked when a process ended is not checked; what was checked is.
        (
            vec![
                gate(0, true),
                Event::GateStarted { gate: 1 },
                Event::RunResumed { pid: 2, limits: plan().limits },
            ],
            vec![GateDot::Passed, GateDot::Unchecked],
            false,
        ),
    ] {
        let events: Vec<Event> = std::iter::once(turn(1)).chain(events).collect();
        let watched = watched(events);
        let row = &watched.turns()[0];
        assert_eq!((&row.gates, row.is_refused()), (&expected, is_refused));
    }
    // A gate that no line has named before.
    let mut turns = Turns::default();
    for entry in &entries(vec![turn(1), Event::GateStarted { gate: 1 }]) {
        turns.apply(&plan(), entry);
    }
    assert_eq!((turns.gates, &turns.rows[0].gates), (vec!["make lint".to_owned()], &vec![GateDot::Running]));
}

#[test]
fn warnings_are_there_once_and_refusals_in_their_iteration() {
    let call = |decision| Judgement {
        id: None,
        tool: "Bash".to_owned(),
        asked: "rm -rf /".to_owned(),
        decision,
        rule: Some("destructive".to_owned()),
        found: None,
    };
    let calls = vec![call(Decision::Block), call(Decision::Allow)];
    let run = shown(
        vec![
            Event::warned("one".to_owned()),
            Event::warned("two".to_owned()),
            Event::warned("one".to_owned()),
            Event::JudgeFailed { cause: JudgeFailure::NoPlace, why: "no".to_owned() },
            Event::StoryHandedOver { story: "US-1".to_owned(), reason: "why".to_owned() },
            turn(1),
            Event::ToolCallsJudged { calls },
            Event::Found { findings: vec![Finding::PersonsCommand { command: "accept".to_owned() }] },
        ],
        true,
    );
    let expected = ["one", "two", "no clean clone decides: no", "US-1 is for a person now: why"];
    assert_eq!(run.warnings, expected);
    assert_eq!((run.judged, run.refused, run.refusals.len()), (2, 1, 1));
    assert!(run.refusals[0].iteration == 1 && run.refusals[0].text.contains("rm -rf /"));
    assert_eq!(run.findings.len(), 1);
    // The last ones stay.
    let many: Vec<Event> = (0..500).map(|nth| Event::warned(format!("w{nth}"))).collect();
    let warnings = shown(many, true).warnings;
    assert!(1 < warnings.len() && warnings.len() < 500);
    assert_eq!(warnings.last().map(String::as_str), Some("w499"));
}

#[test]
fn a_picture_has_what_was_last_seen() {
    let seen = |tasks, open| View { plan: Some(PlanView { tasks, open }), ..View::default() };
    let ended = TurnEnded { view: Some(seen(4, 1)), ..TurnEnded::new(TurnEnd::Finished) };
    let sandboxed = Event::Sandboxed { level: Level::Embedded, uncovered: Vec::new(), withheld: Vec::new() };
    let looked = vec![sandboxed, Event::Looked(seen(3, 2)), turn(1)];
    let run = shown(looked.clone(), true);
    assert_eq!((run.plan_tasks, run.sandbox), (Some((3, 2)), Some(Level::Embedded.name())));
    let watched = watched([looked, vec![Event::TurnEnded(Box::new(ended))]].concat());
    let run = watched.shown(&Outside::default()).expect("a run");
    assert_eq!(run.plan_tasks, Some((4, 1)));
    assert_eq!((watched.sequence(), run.sequence, run.spend.turns), (5, 5, 1));
}

#[test]
fn only_a_run_that_goes_on_does_something() {
    let began = |events: Vec<Event>, is_running| {
        let run = shown(events, is_running);
        (run.turn_since.is_some(), run.exit_code, run.is_stopping)
    };
    assert_eq!(watched(vec![turn(1)]).activity(), Activity::Turn);
    assert_eq!(began(vec![turn(1)], true), (true, None, false));
    assert_eq!(began(vec![turn(1)], false), (false, None, false));
    assert_eq!(
        began(vec![turn(1), ended(false), Event::GateStarted { gate: 0 }], true),
        (false, None, false)
    );
    assert_eq!(began(vec![turn(1), Event::StopRequested], true), (true, None, true));
    assert_eq!(began(vec![turn(1), Event::StopRequested], false), (false, None, false));
    let interrupted = vec![turn(1), ended(false), ends(Outcome::Interrupted)];
    assert_eq!(began(interrupted, false), (false, Some(130), false));
    // Only what was killed in it has ended a turn whose end is not there.
    let mark = |is_running| shown(vec![turn(1)], is_running).turns[0].mark;
    assert_eq!([true, false].map(mark), [TurnMark::Open, TurnMark::Ended]);
    assert_eq!(shown(vec![turn(1), ended(false)], false).turns[0].mark, TurnMark::Finished);
}

/// A run with this setup, and what can be typed next.
fn set_up(change: impl FnOnce(&mut Setup), events: Vec<Event>, is_running: bool) -> ShownRun {
    let Event::RunStarted(mut start) = started() else { panic!("no start") };
    change(&mut start.setup);
    let mut watched = Watched::default();
    for entry in &entries([vec![Event::RunStarted(start)], events].concat()) {
        watched.apply(entry);
    }
    watched.shown(&Outside { id: "r".to_owned(), is_running, ..Outside::default() }).expect("a run")
}

fn assigned(role: Role) -> impl FnOnce(&mut Setup) {
    move |setup| {
        let (task, folder) = ("deploy".to_owned(), "/t".into());
        setup.assignment = Some(Assignment { task, folder, role, parent: None, previous: None });
    }
}

#[test]
fn what_can_be_typed_follows_from_how_it_stands_and_where_it_lives() {
    let stopped = vec![turn(1), ends(Outcome::Stopped(Stop::Paused { reason: "a key".to_owned() }))];
    assert_eq!(set_up(|_| {}, stopped.clone(), false).commands, ["ralph resume r"]);
    assert_eq!(set_up(assigned(Role::Root), stopped.clone(), false).commands, ["ralph task resume deploy"]);
    let other = vec![turn(1), ends(Outcome::Stopped(Stop::Quota { message: "no".to_owned() }))];
    assert_eq!(set_up(assigned(Role::Root), other, false).commands, ["ralph resume r"]);
    let in_session = |setup: &mut Setup| {
        setup.session = Some(InSession { id: Some("s".to_owned()), ultrawork: false });
    };
    assert_eq!(set_up(in_session, stopped.clone(), false).commands, [""; 0]);
    assert_eq!(set_up(in_session, vec![turn(1)], true).commands, ["ralph logs -f r", "ralph stop r"]);
    let at_limit = vec![turn(1), ends(Outcome::Exhausted { limit: Exhausted::MaxIterations })];
    let commands = set_up(|_| {}, at_limit, false).commands;
    assert!(commands[0].starts_with("ralph resume r --"), "{commands:?}");
    let held = vec![turn(1), ended(false), Event::PauseRequested { request: 1 }, Event::PauseStarted];
    let run = set_up(|_| {}, held.clone(), true);
    assert_eq!((run.standing, &run.commands[0]), (Standing::Paused, &"ralph resume r".to_owned()));
    assert_eq!(set_up(|_| {}, held, false).standing, Standing::Killed);
    let is_child = |role| set_up(assigned(role), Vec::new(), true).is_child;
    assert!(is_child(Role::Child) && !is_child(Role::Root));
}

#[test]
fn what_is_left_to_do_follows_from_the_standing() {
    for (standing, can_go_on) in [
        (Standing::Running, false),
        (Standing::Paused, false),
        (Standing::Complete, false),
        (Standing::Unready, false),
        (Standing::Findings, true),
        (Standing::Killed, true),
        (Standing::Limit, true),
        (Standing::Stopped, true),
        (Standing::Interrupted, true),
        (Standing::GaveUp, true),
    ] {
        assert_eq!(standing.can_go_on(), can_go_on, "{standing:?}");
    }
}

#[test]
fn of_a_project_only_the_newest_run_needs_a_person_in_whatever_order_they_come() {
    let run = |id: &str| ShownRun { id: id.to_owned(), ..shown(vec![turn(1)], false) };
    for ids in [["1", "2", "3"], ["3", "2", "1"], ["2", "3", "1"]] {
        let mut runs = ids.map(run);
        overview(&mut runs, &mut []);
        let order = runs.map(|it| (it.id, it.attention.is_some()));
        assert_eq!(
            order.each_ref().map(|(id, needs)| (&**id, *needs)),
            [("3", true), ("2", false), ("1", false)]
        );
    }
}

#[test]
fn fleets_that_run_come_before_those_that_ended() {
    let state = |events: Vec<FleetEvent>| {
        let mut state = FleetState::default();
        for (n, event) in (1..).zip(events) {
            state.apply(&FleetEntry { n, at: Timestamp::UNIX_EPOCH, event });
        }
        state
    };
    let done = || state(vec![FleetEvent::FleetEnded { outcome: FleetOutcome::Done, exit_code: 0 }]);
    let stopping = || state(vec![FleetEvent::StopRequested]);
    let fleet = |id: &str, state: &FleetState, is_running| ShownFleet::of(id, state, is_running);
    let standing = |state: &FleetState, is_running| {
        let fleet = fleet("f", state, is_running);
        (fleet.standing, fleet.is_stopping)
    };
    assert_eq!(standing(&state(Vec::new()), true), ("running", false));
    assert_eq!(standing(&state(Vec::new()), false), ("killed", false));
    assert_eq!(standing(&stopping(), true), ("running", true));
    assert_eq!(standing(&stopping(), false), ("killed", false));
    let mut fleets = [fleet("2", &done(), false), fleet("1", &state(Vec::new()), true)];
    overview(&mut [], &mut fleets);
    assert_eq!(fleets.map(|it| it.id), ["1", "2"]);
}

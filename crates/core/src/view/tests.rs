//! Runs as they are shown: at any moment, in pieces, damaged.

mod record;

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    engine::{
        Run,
        entry::Entry,
        event::{Event, GateEnded, JudgeGateEnded, RunStarted, Turn, TurnEnd, TurnEnded},
        outcome::Outcome,
        plan::Plan,
        presets,
        stop::Stop,
    },
    fleet::FleetState,
    gate_failure::GateFailure,
    setup::{PromptSource, Setup},
    verify::finding::Finding,
};

fn plan() -> Plan {
    let gates = ["make test", "make lint"].map(|command| {
        serde_json::from_value(json!({
            "check": {"kind": "command", "command": command}, "when": "every_turn", "fail_action": "APPEND",
        }))
        .expect("a gate")
    });
    presets::run("DONE", gates.into())
}

fn started() -> Event {
    let setup = Setup::new(std::path::Path::new("/p"), "claude", PromptSource::Text("do it".to_owned()));
    Event::RunStarted(Box::new(RunStarted {
        run: "r".to_owned(),
        version: "0".to_owned(),
        pid: 1,
        plan: plan(),
        setup,
    }))
}

fn turn(iteration: u32) -> Event {
    Event::TurnStarted(Turn { iteration, attempt: 1, ..Turn::default() })
}

fn ended(claimed: bool) -> Event {
    Event::TurnEnded(Box::new(TurnEnded { claimed, ms: 5, ..TurnEnded::new(TurnEnd::Finished) }))
}

fn gate(gate: usize, passed: bool) -> Event {
    let failure = (!passed).then(|| GateFailure::of_message("no".to_owned(), Some(1)));
    Event::GateEnded(GateEnded::own(gate, failure, String::new()))
}

fn entries(events: Vec<Event>) -> Vec<Entry> {
    let at = |ms: i64| Timestamp::from_millisecond(1_763_208_000_000 + ms).expect("a time");
    (0..).zip(events).map(|(second, event)| Entry { at: at(second * 1000), event }).collect()
}

fn watched(events: Vec<Event>) -> Watched {
    let mut watched = Watched::default();
    let events = std::iter::once(started()).chain(events).collect();
    for entry in &entries(events) {
        watched.apply(entry);
    }
    watched
}

fn shown(events: Vec<Event>, is_running: bool) -> ShownRun {
    watched(events).shown(&Outside { id: "r".to_owned(), is_running, ..Outside::default() }).expect("a run")
}

fn ends(outcome: Outcome) -> Event {
    Event::RunEnded { outcome, exit_code: 0 }
}

#[test]
fn gates_are_dots_over_time() {
    let judged = JudgeGateEnded {
        ended: GateEnded::own(0, Some(GateFailure::of_message("no".to_owned(), Some(1))), String::new()),
        differs: Vec::new(),
    };
    let run = shown(
        vec![
            turn(1),
            ended(false),
            gate(0, false),
            turn(2),
            ended(true),
            Event::GateStarted { gate: 0 },
            gate(0, true),
            gate(1, true),
            Event::JudgeGateEnded(judged),
            turn(3),
            ended(true),
            Event::GateStarted { gate: 1 },
        ],
        true,
    );
    let dots: Vec<&[GateDot]> = run.turns.iter().map(|turn| &*turn.gates).collect();
    assert_eq!(
        dots,
        [
            &[GateDot::Failed][..],
            &[GateDot::FailedInJudge, GateDot::Passed],
            &[GateDot::Unchecked, GateDot::Running]
        ]
    );
    let gates: Vec<_> = run.gates.iter().map(|it| (&*it.name, it.last, it.passed, it.failed)).collect();
    assert_eq!(gates, [("make test", GateDot::FailedInJudge, 0, 2), ("make lint", GateDot::Running, 1, 0)]);
    assert_eq!(run.doing.as_deref(), Some("running guardrail: make lint"));
    assert_eq!((run.iteration, run.standing, run.attention), (3, Standing::Running, None));
}

#[test]
fn a_killed_run_says_so_and_needs_a_person() {
    let run = shown(vec![turn(1)], false);
    assert_eq!(run.standing, Standing::Killed);
    assert_eq!(run.attention.as_ref().map(Attention::words).as_deref(), Some("killed; resume continues it"));
    assert_eq!((run.turns[0].mark, run.turns[0].problem.is_some()), (TurnMark::Ended, true));
    assert_eq!((run.doing, run.turn_since), (None, None));
    assert_eq!(run.commands, ["ralph resume r"]);
}

#[test]
fn what_ends_says_whether_it_needs_a_person() {
    let finding = Finding::JudgeDisagrees { command: "make".to_owned() };
    let found = || vec![Event::Found { findings: vec![finding.clone()] }, ends(Outcome::Done)];
    for (events, standing, words) in [
        (vec![ends(Outcome::Done)], Standing::Complete, None),
        (found(), Standing::Findings, Some("1 finding to accept or reject")),
        ([found(), vec![Event::Accepted { why: None }]].concat(), Standing::Complete, None),
        (vec![ends(Outcome::Interrupted)], Standing::Interrupted, None),
        (
            vec![ends(Outcome::Stopped(Stop::Blocked { reason: "no key\n\u{1b}[2J".to_owned() }))],
            Standing::Stopped,
            Some("the agent is blocked: no key "),
        ),
    ] {
        let run = shown(events, false);
        let said = run.attention.as_ref().map(Attention::words);
        assert_eq!((run.standing, said.as_deref()), (standing, words));
    }
}

#[test]
fn who_needs_a_person_comes_first_and_a_later_run_takes_over() {
    let run = |id: &str, project: &str, events: Vec<Event>, is_running| {
        let mut run = shown(events, is_running);
        (run.id, run.project) = (id.to_owned(), project.to_owned());
        run
    };
    let finding = Event::Found { findings: vec![Finding::JudgeDisagrees { command: "x".to_owned() }] };
    let mut runs = vec![
        run("1", "/a", vec![finding, ends(Outcome::Done)], false),
        run("2", "/a", vec![turn(1)], false),
        run("3", "/a", vec![ends(Outcome::Done)], false),
        run("4", "/b", vec![turn(1)], true),
        run("5", "/c", vec![turn(1)], false),
    ];
    overview(&mut runs, &mut []);
    let order: Vec<(&str, bool)> = runs.iter().map(|it| (&*it.id, it.attention.is_some())).collect();
    assert_eq!(order, [("5", true), ("1", true), ("4", false), ("3", false), ("2", false)]);
}

#[test]
fn a_page_gets_the_same_as_a_screen() {
    let run = serde_json::to_value(shown(vec![turn(1), ended(false), gate(0, false)], true)).expect("JSON");
    assert_eq!(run["standing"], "running");
    assert_eq!(run["turns"][0]["gates"], json!(["failed"]));
    assert_eq!(run["gates"][0]["name"], "make test");
    assert_eq!(run["maxIterations"], json!(plan().limits.max_iterations));
    assert_eq!(run["sequence"], 4);
    let fleet = ShownFleet::of("f", &FleetState::default(), false);
    assert_eq!(serde_json::to_value(fleet).expect("JSON")["standing"], "killed");
}

#[test]
fn long_runs_are_shown_by_their_end() {
    let events = (1..=1000).flat_map(|n| [turn(n), ended(false), gate(0, n % 2 == 0)]).collect();
    let watched = watched(events);
    let run = watched.shown(&Outside::default()).expect("a run");
    assert_eq!((run.turns.len(), run.turns_total, watched.turns().len()), (240, 1000, 1000));
    assert_eq!(run.turns.last().map(|it| it.iteration), Some(1000));
    assert_eq!((run.gates[0].passed, run.gates[0].failed), (500, 500));
}

/// Any event of a journal, sensible where it stands or not.
fn any_event() -> impl Strategy<Value = Event> {
    let gates = || 0..4_usize;
    prop_oneof![
        (1..9_u32).prop_map(turn),
        any::<bool>().prop_map(ended),
        gates().prop_map(|gate| Event::GateStarted { gate }),
        (gates(), any::<bool>()).prop_map(|(index, passed)| gate(index, passed)),
        (gates(), any::<bool>()).prop_map(|(gate, passed)| {
            let failure = (!passed).then(|| GateFailure::of_message(String::new(), None));
            let ended = GateEnded::own(gate, failure, String::new());
            Event::JudgeGateEnded(JudgeGateEnded { ended, differs: Vec::new() })
        }),
        any::<String>().prop_map(Event::warned),
        any::<String>().prop_map(|why| Event::Rejected { why }),
        Just(started()),
        Just(Event::RunResumed { pid: 2, limits: plan().limits }),
        Just(Event::StopRequested),
        Just(Event::ExamineStarted),
        Just(Event::Unknown),
        any::<i64>()
            .prop_map(|until_ms| Event::WaitStarted { until_ms, why: crate::engine::event::Why::Rest }),
        Just(ends(Outcome::Done)),
        any::<String>().prop_map(|reason| ends(Outcome::Stopped(Stop::Blocked { reason }))),
    ]
}

fn each_text(value: &Value, check: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => check(text),
        Value::Array(values) => values.iter().for_each(|it| each_text(it, check)),
        Value::Object(members) => members.values().for_each(|it| each_text(it, check)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

proptest! {
    #[test]
    fn it_does_not_matter_how_often_one_looks(
        events in prop::collection::vec(any_event(), 0..60),
        begins in any::<bool>(),
        is_running in any::<bool>(),
        asked in any::<String>(),
    ) {
        let events = if begins { std::iter::once(started()).chain(events).collect() } else { events };
        let entries = entries(events);
        let outside = Outside { is_running, asked: Some(asked), ..Outside::default() };
        let mut often = Watched::default();
        for entry in &entries {
            often.apply(entry);
            let _ = often.shown(&outside);
        }
        let mut once = Watched::default();
        for entry in &entries {
            once.apply(entry);
        }
        prop_assert_eq!(&often, &once);
        // The run is the one that everybody else knows.
        if begins {
            let run = Run::fold(&entries);
            prop_assert_eq!(once.run(), run.as_ref());
        }
        if let Some(run) = once.shown(&outside) {
            each_text(&serde_json::to_value(&run).expect("JSON"), &mut |text| {
                let is_harmful = |c: char| c.is_control() || crate::escapes::is_deceptive(c);
                assert!(!text.contains(is_harmful), "{text:?}");
            });
        }
    }
}

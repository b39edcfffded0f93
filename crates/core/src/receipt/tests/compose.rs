//! What a statement says about a record.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Value, json};

use super::{id, sha256};
use crate::{
    containment::level::{Choice, Level},
    engine::{
        Run,
        entry::Entry,
        event::{Event, RunStarted},
        plan::{Check, CommitRule, Gate, Plan, When},
        presets,
    },
    receipt::{
        compose::{Facts, ReceiptFold, compose},
        private::Private,
        statement::{JournalFacts, Revision, Statement, ToolFacts},
    },
    setup::{Guard, PromptSource, Setup},
    verify::rules::Repeats,
};

/// A loop with a command, a hidden one, one that may run once, and a rule of ralph's.
fn plan() -> Plan {
    let command = |command: &str| Check::Command { command: command.to_owned() };
    let gate = |check| Gate::new(check, When::EveryTurn);
    let once = Gate { repeats: Repeats::No, ..gate(command("deploy")) };
    let hidden = gate(Check::Hidden { name: "hidden-1".to_owned() });
    presets::run("DONE", vec![gate(command("make test")), hidden, once, gate(Check::CleanTree)])
}

fn facts() -> Facts {
    let revision = |commit: &str, tree: &str| Some(Revision { commit: id(commit), tree: id(tree) });
    Facts {
        agents: BTreeMap::new(),
        base: revision("base", "files before"),
        result: revision("tip", "files"),
        is_committed: true,
        uncommitted: 0,
        protected: None,
        hidden: BTreeMap::from([("hidden-1".to_owned(), sha256(b"sh secret.sh"))]),
        agent: "claude".to_owned(),
        key_reachable: false,
        tools: ToolFacts {
            ralph: "0.1.0".to_owned(),
            ralph_sha256: None,
            git: None,
            platform: "linux-x86_64".to_owned(),
        },
        journal: JournalFacts { lines: 9, unchained: 0, chain: "c".to_owned(), sha256: sha256(b"journal") },
        private: Private::default(),
    }
}

fn setup() -> Setup {
    Setup::new(Path::new("/home/ann/app"), "claude", PromptSource::Text("Do it.".to_owned()))
}

/// The statement of a run with these events, a second apart.
fn composed(setup: Setup, events: &[Value], facts: Facts) -> Statement {
    composed_of(plan(), setup, events, facts)
}

fn composed_of(plan: Plan, setup: Setup, events: &[Value], facts: Facts) -> Statement {
    let started = RunStarted { run: "r-1".to_owned(), version: "0.1.0".to_owned(), pid: 1, plan, setup };
    let at = |second: usize| format!("2026-11-16T00:00:{second:02}Z");
    let mut entries =
        vec![Entry { at: at(0).parse().expect("a moment"), event: Event::RunStarted(Box::new(started)) }];
    for (second, event) in (1..).zip(events) {
        let mut event = event.clone();
        event["at"] = json!(at(second));
        let entry = Entry::of_line(event.to_string().as_bytes()).unwrap_or_else(|| panic!("{event}"));
        assert!(!matches!(entry.event, Event::Unknown), "{event}");
        entries.push(entry);
    }
    let mut seen = ReceiptFold::default();
    for entry in &entries {
        seen.take(entry);
    }
    let run = Run::fold(&entries).expect("a start");
    let said = compose(&run, seen, facts.clone());
    assert_eq!(compose(&run, ReceiptFold::of(&entries), facts), said, "read at once and one by one");
    said
}

fn turn(iteration: u32) -> Value {
    json!({"event": "turn_started", "iteration": iteration, "attempt": 1, "mode": "work"})
}

fn turn_ended(more: &Value) -> Value {
    let mut event = json!({"event": "turn_ended", "end": {"how": "finished"}, "claimed": true, "ms": 10, "tools": 1,
        "tool_errors": 0, "usage": {"cost_usd": 0.5, "input": 100, "cached": 0, "output": 10}});
    for (key, value) in more.as_object().into_iter().flatten() {
        event[key] = value.clone();
    }
    event
}

fn gate(event: &str, gate: usize, failure: &Value) -> Value {
    let mut ended = json!({"event": event, "gate": gate, "ms": 7, "log": "l"});
    if !failure.is_null() {
        ended["failure"] = json!({"exit": failure, "output": ""});
    }
    ended
}

fn end(outcome: &Value, exit_code: u8) -> Value {
    let mut ended = json!({"event": "run_ended", "exit_code": exit_code});
    for (key, value) in outcome.as_object().expect("an object") {
        ended[key] = value.clone();
    }
    ended
}

fn done() -> Value {
    end(&json!({"outcome": "done"}), 0)
}

#[test]
fn what_the_statement_is_about() {
    let check = |change: fn(&mut Facts), names: &[&str], caveat: Option<&str>| {
        let mut facts = facts();
        change(&mut facts);
        let said = composed(setup(), &[done()], facts);
        let about: Vec<&str> = said.subject.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(about, names);
        let caveats: Vec<&str> = said.predicate.caveats.iter().map(|it| it.text.as_str()).collect();
        let left = caveats.into_iter().find(|text| text.contains("not committed when the run ended"));
        assert_eq!(left, caveat);
    };
    check(|_| {}, &["commit", "tree"], None);
    let left = "2 files of the working tree were not committed when the run ended";
    check(|facts| facts.uncommitted = 2, &["commit", "tree"], Some(left));
    // Files that no commit has are what it is about, so none of them is left out.
    check(|facts| (facts.uncommitted, facts.is_committed) = (2, false), &["tree"], None);
    check(|facts| facts.result = None, &["record"], None);
}

#[test]
fn how_a_run_ended_is_said_in_the_words_of_records() {
    for (ended, code) in [
        (json!({"outcome": "done"}), 0),
        (json!({"outcome": "exhausted", "limit": "max_iterations"}), 1),
        (json!({"outcome": "stopped", "why": "blocked", "reason": "no key"}), 6),
        (json!({"outcome": "interrupted"}), 130),
    ] {
        let said = composed(setup(), &[turn(1), turn_ended(&json!({})), end(&ended, code)], facts());
        let run = &said.predicate.run;
        assert_eq!((json!(run.outcome), run.exit_code), (ended["outcome"].clone(), code));
        assert_eq!(run.began.to_string(), "2026-11-16T00:00:00Z");
        assert_eq!(run.ended.to_string(), "2026-11-16T00:00:03Z");
        assert_eq!((run.id.as_str(), run.preset.as_str()), ("r-1", "run"));
    }
    let killed = composed(setup(), &[turn(1)], facts());
    assert_eq!((killed.predicate.run.outcome.as_str(), killed.predicate.run.exit_code), ("unknown", 1));
}

#[test]
fn guardrails_are_told_as_they_ended_last() {
    let events = [
        turn(1),
        turn_ended(&json!({})),
        gate("gate_ended", 0, &json!({"code": 2})),
        gate("gate_ended", 1, &Value::Null),
        // What passed before a turn says nothing about what it left.
        turn(2),
        turn_ended(&json!({})),
        gate("gate_ended", 0, &Value::Null),
        gate("judge_gate_ended", 0, &json!({"code": 3})),
        gate("gate_ended", 0, &Value::Null),
        gate("judge_gate_ended", 0, &Value::Null),
        gate("gate_ended", 2, &json!({"timed_out": {"limit_ms": 5}})),
        done(),
    ];
    let said = composed(setup(), &events, facts());
    let told: Vec<Value> = said.predicate.guardrails.iter().map(|it| json!(it)).collect();
    let passed = json!({"passed": true, "exitCode": 0, "ms": 7});
    let hash = sha256(b"make test");
    assert_eq!(
        told[0],
        json!({"kind": "command", "command": "make test", "sha256": hash, "inProject": passed, "inJudge": passed})
    );
    // Neither its command nor what it was called.
    assert_eq!(told[1], json!({"kind": "hidden", "sha256": sha256(b"sh secret.sh")}));
    assert_eq!(
        told[2],
        json!({"kind": "command", "command": "deploy", "sha256": sha256(b"deploy"), "once": true,
            "inProject": {"passed": false, "ms": 7}})
    );
    assert_eq!(told[3]["kind"], "rule");
    assert_eq!(told.len(), 4);
    let passed: Vec<bool> =
        said.predicate.guardrails.iter().map(super::super::statement::GuardrailFacts::passed).collect();
    assert_eq!(passed, [true, false, false, false]);
}

#[test]
fn what_was_decided_in_the_judge_goes_when_the_working_tree_decides_again() {
    let events = [
        turn(1),
        turn_ended(&json!({})),
        gate("judge_gate_ended", 0, &Value::Null),
        gate("gate_ended", 0, &json!({"code": 1})),
        done(),
    ];
    let said = composed(setup(), &events, facts());
    assert_eq!(said.predicate.guardrails[0].in_judge, None);
}

#[test]
fn exit_codes_are_those_of_commands() {
    for (exit, code) in [
        (json!({"code": 3}), Some(3)),
        (json!({"signal": 9}), None),
        (json!({"timed_out": {"limit_ms": 5}}), None),
        (json!("not_started"), None),
        (json!("refused"), None),
    ] {
        let said = composed(setup(), &[turn(1), gate("gate_ended", 0, &exit), done()], facts());
        let ending = said.predicate.guardrails[0].in_project.clone().expect("it ran");
        assert_eq!((ending.passed, ending.exit_code), (false, code), "{exit}");
    }
}

#[test]
fn a_guard_is_one_of_every_turn() {
    let hooks = json!({"hooks": {"judged": 1, "refused": 0}});
    let check = |guard: Guard, turns: &[&Value], expected: bool| {
        let mut events: Vec<Value> =
            (1..).zip(turns).flat_map(|(at, more)| [turn(at), turn_ended(more)]).collect();
        events.push(done());
        let said = composed(Setup { guard, ..setup() }, &events, facts());
        assert_eq!(said.predicate.containment.guard, expected, "{guard:?} {turns:?}");
    };
    let bare = json!({});
    check(Guard::On, &[&hooks, &hooks], true);
    check(Guard::On, &[&hooks, &bare], false);
    check(Guard::On, &[], false);
    check(Guard::Off, &[&hooks], false);
}

#[test]
fn what_happened_on_the_way_is_counted() {
    let mut contained = setup();
    contained.sandbox.level = Choice::Level(Level::Embedded);
    let events = [
        turn(1),
        json!({"event": "tool_calls_judged", "calls": [{"tool": "Bash", "decision": "allow"}, {"tool": "Bash", "decision": "block"}]}),
        json!({"event": "contacted", "hosts": [{"host": "a:443"}, {"host": "b:443", "refused": "no"}]}),
        turn_ended(&json!({"model": "opus"})),
        turn(2),
        json!({"event": "tool_calls_judged", "calls": [{"tool": "Bash", "decision": "block"}]}),
        turn_ended(&json!({"model": "haiku"})),
        json!({"event": "record_repaired", "lost": [7], "lines": 23}),
        done(),
    ];
    let predicate = composed(contained, &events, facts()).predicate;
    let contained = json!(predicate.containment);
    assert_eq!(contained["refused"], 2);
    assert_eq!((&contained["hosts"], &contained["hostsRefused"]), (&json!(["a:443"]), &json!(["b:443"])));
    assert_eq!(contained["sandbox"], "embedded");
    assert_eq!(
        json!(predicate.agents),
        json!([{"name": "claude", "models": ["haiku", "opus"], "roles": ["work"]}])
    );
    assert_eq!(
        json!(predicate.spent),
        json!({"iterations": 2, "turns": 2, "ms": 20, "tokens": 220, "costUsd": 1.0})
    );
    let repaired = predicate.caveats.iter().find(|it| it.kind == "record-repaired").expect("a caveat");
    assert_eq!(repaired.text, "1 of 23 lines of the record were damaged and are lost");
}

#[test]
fn findings_are_there_and_who_accepted_them() {
    let found = json!({"event": "found", "findings": [{"finding": "persons_command", "command": "accept"}]});
    let ended = [turn(1), turn_ended(&json!({})), found, end(&json!({"outcome": "done"}), 7)];
    let said = composed(setup(), &ended, facts());
    assert_eq!(said.predicate.findings[0].kind, "persons_command");
    assert_eq!((said.predicate.run.exit_code, said.predicate.accepted), (7, None));
    let accepted = [&ended[..], &[json!({"event": "accepted", "why": "of /home/ann/app"})]].concat();
    let facts =
        Facts { private: Private { project: "/home/ann/app".to_owned(), ..Private::default() }, ..facts() };
    let said = composed(setup(), &accepted, facts).predicate;
    assert_eq!(said.findings.len(), 1, "they stay");
    let acceptance = said.accepted.expect("it was accepted");
    assert_eq!(
        (acceptance.at.to_string().as_str(), acceptance.why.as_deref()),
        ("2026-11-16T00:00:05Z", Some("of ."))
    );
}

#[test]
fn guardrails_run_inside_where_the_sandbox_contains_and_the_settings_say_so() {
    use crate::containment::wanted::GatesRun;
    for (level, gates, expected) in [
        (Level::Embedded, GatesRun::Inside, true),
        (Level::Embedded, GatesRun::Outside, false),
        (Level::None, GatesRun::Inside, false),
    ] {
        let mut setup = setup();
        setup.sandbox.level = Choice::Level(level);
        setup.sandbox.gates = gates;
        let said = composed(setup, &[turn(1), turn_ended(&json!({})), done()], facts());
        assert_eq!(said.predicate.containment.gates_inside, expected, "{level:?} {gates:?}");
    }
}

#[test]
fn reviewers_are_among_those_who_worked_and_their_approval_is_a_guardrail() {
    let usage = json!({"input": 1, "cached": 0, "output": 1});
    let verdict = crate::review::verdict(r#"{"verdict": "approve"}"#, "").expect("a verdict");
    let started =
        json!({"event": "opinion_started", "about": "review", "gate": 0, "number": 1, "agent": "second"});
    let ended = json!({"event": "opinion_ended", "about": "review", "gate": 0, "end": {"how": "finished"}, "ms": 9,
        "usage": usage, "model": "o9", "verdict": verdict});
    let events = [turn(1), turn_ended(&json!({"model": "opus"})), started, ended, done()];
    let agents = [("main", "claude"), ("second", "codex")];
    let agents = agents.map(|(name, program)| (name.to_owned(), program.to_owned())).into();
    let check = Check::Review { name: "review".to_owned(), by: vec!["second".to_owned()], rounds: 1 };
    let plan = presets::run("DONE", vec![Gate::new(check, When::Claimed)]);
    let plan = Plan { baseline: false, commit: CommitRule::Never, ..plan };
    let said = composed_of(plan, setup(), &events, Facts { agents, ..facts() });
    let [reviewed] = &said.predicate.guardrails[..] else { panic!("{:?}", said.predicate.guardrails) };
    assert_eq!(reviewed.in_project.as_ref().map(|it| (it.passed, it.ms)), Some((true, 9)));
    let who: Vec<String> = said
        .predicate
        .agents
        .iter()
        .map(|it| format!("{} {:?} {:?} {:?}", it.name, it.agent, it.models, it.roles))
        .collect();
    assert_eq!(
        who,
        [r#"claude Some("main") {"opus"} {"work"}"#, r#"codex Some("second") {"o9"} {"review"}"#]
    );
}

#[test]
fn tests_of_before_the_run_are_told_with_their_guardrail() {
    let mut before = gate("baseline_ended", 0, &Value::Null);
    before["tests"] = json!({"counts": {"cargo": {"passed": 4, "failed": 0, "skipped": 1}}});
    let said = composed(setup(), &[before, turn(1), turn_ended(&json!({})), done()], facts());
    let counts = said.predicate.guardrails.iter().map(|it| it.tests_before.map(|tests| tests.passed));
    assert_eq!(counts.collect::<Vec<_>>(), [Some(4), None, None, None]);
}

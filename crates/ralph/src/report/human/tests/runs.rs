//! What ralph itself does.

use ralph_agents::{Failure, FailureKind, Usage};
use ralph_core::{
    engine::{
        commit::CommitEnd,
        event::{GateEnded, Turn, TurnEnd, TurnEnded, Why},
        outcome::{Exhausted, Outcome},
        plan::Cause,
        stop::{LastFailure, Standstill, Stop},
    },
    gate_failure::{GateExit, GateFailure},
};

use super::*;

fn turn(iteration: u32, attempt: u32) -> Event {
    Event::TurnStarted(Turn { iteration, attempt, ..Turn::default() })
}

pub(super) fn turn_ended(end: TurnEnd, claimed: bool) -> TurnEnded {
    let usage = Usage { cost_usd: Some(1.2), input: 12_000, cached: 9_000, output: 800, estimated: false };
    let (leftovers, denials) = (Vec::new(), Vec::new());
    TurnEnded {
        review: None,
        untold: Vec::new(),
        undone: Vec::new(),
        blocked: None,
        reason: None,
        end,
        claimed,
        view: None,
        code: None,
        session: None,
        hooks: None,
        ms: 61_000,
        usage,
        tools: 3,
        tool_errors: 1,
        leftovers,
        model: None,
        quota: Vec::new(),
        last_lines: Vec::new(),
        denials,
        tree: None,
        branch: None,
    }
}

fn failed(code: Option<i32>, output: &str) -> GateFailure {
    let exit = code.map_or(GateExit::Signal(15), GateExit::Code);
    GateFailure::new(exit, output.to_owned())
}

fn gate_ended(gate: usize, code: Option<i32>, output: Option<&str>) -> Event {
    let failure = output.map(|output| failed(code, output));
    let log = format!(".ralph/guardrail_001_gate_{gate}.log");
    Event::GateEnded(GateEnded {
        gate,
        failure,
        ms: 1_234,
        log,
        signature: None,
        tests: None,
        output_sha256: None,
    })
}

#[test]
fn a_whole_run() {
    check("run", |shown| {
        shown.event(Event::RunStarted(Box::new(started(&shown.run.plan))));
        for gate in [0, 1] {
            shown.event(Event::BaselineStarted { gate });
            let failure = (gate == 1).then(|| failed(Some(2), "It failed."));
            let log = format!(".ralph/guardrail_000_gate_{gate}.log");
            shown.event(Event::BaselineEnded(GateEnded {
                gate,
                failure,
                ms: 1_234,
                log,
                signature: None,
                tests: None,
                output_sha256: None,
            }));
        }
        shown.event(turn(1, 1)).after(61_000);
        shown.event(Event::TurnEnded(Box::new(turn_ended(TurnEnd::Finished, true))));
        shown.event(gate_ended(0, Some(0), None));
        let failure = GateFailure { was_failing: true, ..failed(Some(2), "1\n2\n3\n4\n5\n6\n7\u{1b}[2J\n") };
        let log = ".ralph/guardrail_001_gate_1.log".to_owned();
        let ended = GateEnded {
            gate: 1,
            failure: Some(failure),
            ms: 1_234,
            log,
            signature: None,
            tests: None,
            output_sha256: None,
        };
        shown.event(Event::GateEnded(ended));
        shown.event(turn(2, 1)).after(30_000);
        shown.event(Event::TurnEnded(Box::new(turn_ended(TurnEnd::Finished, true))));
        shown.event(gate_ended(0, Some(0), None)).event(gate_ended(1, Some(0), None));
        shown.event(Event::CommitStarted { head: None, message: "x".to_owned(), boot: None }).after(200);
        let subject = "Accept ISO weeks in the date parser, and say what is wrong with those that are not";
        let made =
            CommitEnd::Made { commit: "c0ffee1".to_owned(), subject: subject.to_owned(), beyond: vec![] };
        shown.event(Event::CommitEnded(made));
        shown.event(Event::RunEnded { outcome: Outcome::Done, exit_code: 0 });
    });
}

#[test]
fn a_run_without_gates() {
    check("run_without_gates", |shown| {
        shown.run.plan.gates.clear();
        shown.event(Event::RunStarted(Box::new(started(&shown.run.plan)))).event(turn(1, 1));
        shown.event(Event::TurnEnded(Box::new(turn_ended(TurnEnd::Finished, true))));
        shown.event(Event::RunEnded { outcome: Outcome::Done, exit_code: 0 });
    });
}

#[test]
fn turns_end_in_many_ways() {
    check("turn_ends", |shown| {
        let failure =
            Failure { kind: FailureKind::Transient, message: "exited with code 1 (no key)".to_owned() };
        for end in [
            TurnEnd::Failed(failure),
            TurnEnd::Paused { reason: None },
            TurnEnd::Tampered { changed: vec![".mcp.json".to_owned(), ".claude/settings.json".to_owned()] },
            TurnEnd::Unguarded { changed: vec![".claude/settings.json".to_owned()], unjudged: vec![] },
            TurnEnd::OverBudget { limit: Exhausted::MaxIterationCost },
            TurnEnd::Interrupted,
            TurnEnd::Abandoned,
        ] {
            let mut ended = turn_ended(end, false);
            ended.leftovers = vec!["sleep 300 (pid 7)".to_owned()];
            ended.denials = vec!["Bash".to_owned(), "Write".to_owned()];
            shown.event(turn(2, 3)).event(Event::TurnEnded(Box::new(ended)));
        }
        shown.run.started.setup.leftovers = ralph_core::setup::Leftovers::Keep;
        let mut ended = turn_ended(TurnEnd::Finished, false);
        ended.leftovers = vec!["make watch (pid 8)".to_owned()];
        shown.event(turn(3, 1)).event(Event::TurnEnded(Box::new(ended)));
    });
}

#[test]
fn what_happens_beside_turns() {
    check("events", |shown| {
        let limits = shown.run.plan.limits;
        shown.event(Event::RunResumed { pid: 2, limits });
        for why in [Why::Rest, Why::Retry, Why::UsageLimit] {
            let until_ms = START + shown.now + 754_000;
            shown
                .event(Event::WaitStarted { until_ms, why })
                .after(754_000)
                .event(Event::WaitEnded { ms: 754_000 });
        }
        shown.event(Event::StopRequested);
        shown.event(Event::warned("git push failed: no route to host".to_owned()));
        shown
            .event(Event::CommitEnded(CommitEnd::Already { beyond: vec![] }))
            .event(Event::CommitEnded(CommitEnd::Nothing));
        shown.event(Event::CommitEnded(CommitEnd::Failed { output: "hook says no".to_owned() }));
        shown.run.plan.gates[1] =
            gate("./mvnw clean install -T 2C -Dstyle.color=always --batch-mode --fail-at-end");
        shown.event(gate_ended(1, Some(0), None)).event(gate_ended(1, None, Some("")));
    });
}

/// One of each kind.
fn stops() -> impl Iterator<Item = Stop> {
    let text = || "what it said".to_owned();
    let changed = || vec![".mcp.json".to_owned()];
    let failure = LastFailure { log: "test.log".to_owned(), output: vec!["1 failed".to_owned()] };
    let stops = [
        Stop::AgentWaits { reason: None, file: None },
        Stop::Stuck(Standstill { since: 2, gate: Some("make test".to_owned()), failure: Some(failure) }),
        Stop::Quota { message: text() },
        Stop::Tampered { changed: changed() },
        Stop::Unguarded { changed: changed(), unjudged: vec![] },
        Stop::NoStory { reason: text() },
        Stop::ProjectGone { project: "/p".into() },
        Stop::Blocked { reason: text() },
        Stop::Paused { reason: text() },
    ];
    stops.into_iter()
}

#[test]
fn every_outcome_is_told() {
    check("outcomes", |shown| {
        let limits = [
            Exhausted::MaxIterations,
            Exhausted::MaxTime,
            Exhausted::MaxCost,
            Exhausted::MaxTokens,
            Exhausted::MaxIterationCost,
            Exhausted::MaxIterationTokens,
            Exhausted::Until,
            Exhausted::LeaveQuota,
        ];
        let causes = [Cause::Agent, Cause::Gate, Cause::NoChange, Cause::Commit];
        let reason = || "the last failure".to_owned();
        let outcomes = [Outcome::Done, Outcome::Interrupted]
            .into_iter()
            .chain([Outcome::Unready { reason: reason() }])
            .chain(stops().map(Outcome::Stopped))
            .chain(limits.map(|limit| Outcome::Exhausted { limit }))
            .chain(causes.map(|cause| Outcome::GaveUp { cause, reason: reason() }));
        for outcome in outcomes {
            shown.event(Event::RunEnded { outcome, exit_code: 0 });
        }
    });
}

#[test]
fn verbose_says_how_long_and_why() {
    let mut shown = Shown::new(120, |look| look.verbose = true);
    shown.event(turn(1, 1)).event(Event::TurnEnded(Box::new(turn_ended(TurnEnd::Finished, false))));
    shown.event(Event::GateStarted { gate: 1 });
    shown.event(gate_ended(1, Some(0), None));
    shown.event(Event::MessageAsked { agent: None, message: None, usage: Usage::default(), ms: 900 });
    shown.event(Event::CommitStarted { head: None, message: String::new(), boot: None }).after(80);
    shown.event(Event::CommitEnded(CommitEnd::Nothing)).event(Event::WaitEnded { ms: 2_000 });
    let details: Vec<String> =
        shown.printed().lines().filter_map(|line| Some(line.strip_prefix("[ralph] ")?.to_owned())).collect();
    assert_eq!(
        details,
        [
            "Iteration 1/10 starting",
            "Agent turn took 1m1s",
            "Completion response <response>DONE</response>: not found",
            "Running guardrail: make test",
            "Guardrail exited with code 0 (1.2s)",
            "Asked for a commit message: the agent gave no usable answer (900ms)",
            "Commit took 80ms",
            "Waited 2s",
        ]
    );
}

#[test]
fn a_log_is_told_now_and_then_that_a_wait_goes_on() {
    let mut shown = Shown::new(80, |_| {});
    let until_ms = START + 3_600_000;
    shown.event(Event::WaitStarted { until_ms, why: Why::UsageLimit });
    for minute in 1..60 {
        let at = Timestamp::from_millisecond(START + minute * 60_000).expect("a moment");
        shown.human.moment(at);
    }
    shown.human.flush();
    let told: Vec<String> =
        shown.printed().lines().filter(|line| line.starts_with("Still waiting")).map(str::to_owned).collect();
    let left = |minutes: u32| format!("Still waiting for the usage limit: {minutes}m left.");
    assert_eq!(told, [left(45), left(30), left(15)]);
}

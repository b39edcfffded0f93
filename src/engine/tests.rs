//! What each loop does, as scripts of what the world does and transcripts of what the engine makes of it.

mod worlds;

use std::collections::BTreeMap;

use super::{
    Action, State, Wait, decide,
    event::{CommitEnd, Event, GateEnded, Mode, StoryView, TasksJudged, Turn, TurnEnd, TurnEnded, View, Why},
    outcome::{Exhausted, Outcome},
    plan::{Check, Gate, Plan, When},
    presets,
};
use crate::{
    agent::{Failure, FailureKind, Usage},
    fail_action::FailAction,
};

const DONE: &str = "claim";

fn gate(name: &str, when: When) -> Gate {
    let check = Check::Command { command: name.to_owned() };
    Gate { check, when, fail_action: FailAction::Append, hint: None }
}

fn every(names: &[&str]) -> Vec<Gate> {
    names.iter().map(|name| gate(name, When::EveryTurn)).collect()
}

/// All loops that commands stand for, as small as they can be while they keep their shape.
fn all() -> Vec<Plan> {
    let claimed = |name| vec![gate(name, When::Claimed)];
    vec![
        presets::run("DONE", every(&["lint", "test"])),
        presets::plan(),
        presets::build("plan.md", every(&["test"])),
        presets::prompt(),
        Plan { awaits: vec!["other".to_owned()], ..presets::task("DONE", "WAIT", claimed("children ended")) },
        presets::job(),
        presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::ChangedOrClaimed),
        presets::session("DONE", 3, claimed("did some work")),
    ]
}

fn limited(iterations: u32, mut plan: Plan) -> Plan {
    plan.limits.iterations = iterations;
    plan
}

fn ended(end: TurnEnd, line: &str) -> Event {
    Event::TurnEnded(Box::new(TurnEnded {
        end,
        claimed: line.contains(DONE),
        view: Some(view(line)),
        code: None,
        ms: 1000,
        usage: Usage { cost_usd: Some(0.5), input: 100, cached: 0, output: 10 },
        tools: 1,
        tool_errors: 0,
        leftovers: vec![],
        denials: vec![],
        session: None,
        hooks: None,
        tree: None,
    }))
}

/// What a turn did to the task list: nothing that it may not do, or this.
fn judged(line: &str) -> Event {
    let broken = if line.is_empty() { vec![] } else { vec![line.to_owned()] };
    Event::TasksJudged(Box::new(TasksJudged { broken, ..TasksJudged::default() }))
}

fn gate_ended(gate: usize, failure: Option<String>) -> GateEnded {
    GateEnded { gate, failure, code: Some(0), ms: 1, log: String::new(), likeness: None }
}

fn view(line: &str) -> View {
    let files = ["plan.md", "tasks.json", "DONE", "WAIT", "other"]
        .into_iter()
        .filter(|file| line.contains(&format!("+{file}")));
    let next = match line {
        _ if line.contains("+blocked") => Err("nothing can be selected".to_owned()),
        _ if line.contains("+fix") => Ok(Mode::Fix),
        _ if line.contains("+review") => Ok(Mode::Review),
        _ => Ok(Mode::Implement),
    };
    let stories = StoryView { next, story: None, all_approved: line.contains("+approved") };
    let folders = if line.contains("+folder") { vec!["DONE".to_owned()] } else { vec![] };
    View { files: files.map(str::to_owned).collect(), folders, stories: Some(stories) }
}

fn turn_end(line: &str) -> TurnEnd {
    let failed = |kind| TurnEnd::Failed(Failure { kind, message: "no".to_owned() });
    match line {
        _ if line.contains("pause") => TurnEnd::Paused { reason: None },
        _ if line.contains("cut") => TurnEnd::Interrupted,
        _ if line.contains("spent") => TurnEnd::OverBudget { limit: Exhausted::Cost },
        _ if line.contains("own cap") => failed(FailureKind::OwnCap),
        _ if line.contains("quota") => failed(FailureKind::Limited { resets_at: Some(77) }),
        _ if line.contains("used up") => failed(FailureKind::Limited { resets_at: None }),
        _ if line.contains("overload") => failed(FailureKind::Overloaded),
        _ if line.contains("bad key") => failed(FailureKind::Permanent),
        _ if line.contains("fail") => failed(FailureKind::Transient),
        _ => TurnEnd::Finished,
    }
}

/// Drives `plan` against `script` and compares what was done.
///
/// A script line answers the action it starts with: `look`, `turn`, `gate`, `commit`. Lines are used in order
/// per kind; the last one of a kind repeats. `^C` in a line asks to stop before its answer.
#[track_caller]
fn check(plan: &Plan, script: &[&str], expected: &str) {
    let mut state = State::default();
    let mut transcript = Vec::new();
    let mut used = BTreeMap::new();
    let mut answer = |kind: &'static str| {
        let lines: Vec<&str> = script.iter().filter_map(|line| line.strip_prefix(kind)).collect();
        let nth = used.entry(kind).or_insert(0_usize);
        let line = lines.get(*nth).or(lines.last()).copied().unwrap_or("").trim();
        *nth += 1;
        line.to_owned()
    };
    for _ in 0..1000 {
        let (line, event) = match decide(plan, &state) {
            Action::Finish(outcome) => {
                transcript.push(format!("{}={}", name_of(&format!("{outcome:?}")), outcome.exit_code(plan)));
                assert_eq!(transcript.join(" "), expected);
                return;
            }
            Action::AbandonTurn => unreachable!("only on resume"),
            Action::Look => (String::new(), Event::Looked(view(&answer("look")))),
            Action::AwaitFiles(files) => {
                transcript.push(format!("({})", files.join(" ")));
                (String::new(), Event::Looked(view(&answer("look"))))
            }
            Action::StartWait(wait) => {
                let (until_ms, why) = match wait {
                    Wait::For(ms, why) => (i64::try_from(ms).unwrap_or(i64::MAX), why),
                    Wait::ForQuota { resets_at, .. } => (resets_at, Why::UsageLimit),
                };
                transcript.push(format!("({why:?} {until_ms})"));
                (String::new(), Event::WaitStarted { until_ms, why })
            }
            Action::WaitUntil(until_ms) => {
                (String::new(), Event::WaitEnded { ms: u64::try_from(until_ms).unwrap_or(0) })
            }
            Action::RunTurn(turn) => {
                let told: Vec<&str> =
                    state.feedback().iter().map(|it| it.text.split(' ').next().unwrap_or("")).collect();
                let told = if told.is_empty() { String::new() } else { format!("<{}>", told.join("|")) };
                transcript.push(format!("{:?}{}.{}{told}", turn.mode, turn.iteration, turn.attempt));
                let line = answer("turn");
                state.apply(plan, &Event::TurnStarted(turn));
                (line.clone(), ended(turn_end(&line), &line))
            }
            Action::JudgeTasks => {
                transcript.push("j".to_owned());
                (String::new(), judged(&answer("judge")))
            }
            Action::RunBaseline(gate) => {
                let line = answer("base");
                let failure = (!matches!(line.as_str(), "" | "ok" | "^C")).then(|| line.clone());
                if script.iter().any(|line| line.starts_with("base")) {
                    transcript.push(format!("b{gate}{}", if failure.is_some() { "!" } else { "" }));
                }
                (line, Event::BaselineEnded(gate_ended(gate, failure)))
            }
            Action::RunGate(gate) => {
                if plan.gates[gate].check == Check::TaskRules && state.is_unjudged() {
                    state.apply(plan, &judged(&answer("judge")));
                }
                let line = answer("gate");
                let failure = (!matches!(line.as_str(), "" | "ok" | "^C")).then(|| line.clone());
                let rules = plan.gates[gate].check == Check::TaskRules;
                let failure = failure.or(state.broken().filter(|_| rules).map(str::to_owned));
                transcript.push(format!("g{gate}{}", if failure.is_some() { "!" } else { "" }));
                (line, Event::GateEnded(gate_ended(gate, failure)))
            }
            Action::Commit => {
                let line = answer("commit");
                let end = match line.as_str() {
                    "fail" => CommitEnd::Failed { output: "hook says no".to_owned() },
                    "none" => CommitEnd::Nothing,
                    "already" => CommitEnd::Already,
                    "changed" => CommitEnd::Changed,
                    _ => CommitEnd::Made { commit: "abc".to_owned(), subject: "work".to_owned() },
                };
                transcript.push("c".to_owned());
                (line, Event::CommitEnded(end))
            }
        };
        if line.contains("^C") {
            state.apply(plan, &Event::StopRequested);
        }
        state.apply(plan, &event);
    }
    panic!("runaway loop: {transcript:?}");
}

/// `GaveUp { cause: Gate, reason: ".." }` is `GaveUp(Gate)`.
fn name_of(outcome: &str) -> String {
    let (name, rest) = outcome.split_once(" { ").unwrap_or((outcome, ""));
    match rest.strip_prefix("cause: ").or(rest.strip_prefix("limit: ")) {
        Some(rest) => format!("{name}({})", rest.split([',', ' ']).next().unwrap_or("")),
        None => name.to_owned(),
    }
}

#[test]
fn run_is_done_when_the_claim_holds() {
    let run = presets::run("DONE", every(&["lint", "test"]));
    check(&run, &["turn claim"], "Work1.1 g0 g1 c Done=0");
    check(&run, &["turn a", "turn claim"], "Work1.1 g0 g1 c Work2.1 g0 g1 c Done=0");
    check(&limited(2, run.clone()), &["turn a"], "Work1.1 g0 g1 c Work2.1 g0 g1 c Exhausted(Iterations)=1");
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
        "Work1.1 g0 g1! g2! Work2.1<red|bad> g0 g1 g2 c Exhausted(Iterations)=1",
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
        "Work1.1 (Retry 1000) Work1.2 (Retry 2000) Work1.3 c Work2.1 (Retry 1000) Work2.2 c Exhausted(Iterations)=1",
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
        "b0 b1! Work1.1 g0 g1 c Work2.1 g0 g1 c Exhausted(Iterations)=1",
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
    check(&limited(0, run), &["base ok"], "Exhausted(Iterations)=1");
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
fn a_run_that_gets_nowhere_is_told_so_and_ends() {
    let run = presets::run("DONE", every(&["test"]));
    let told = "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red|There> g0! Paused=6";
    check(&run, &["turn a", "gate red"], told);
    // At the limit it ends as the user chose.
    let four = "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red|There> g0! Exhausted(Iterations)=1";
    check(&limited(4, run.clone()), &["turn a", "gate red"], four);
    check(
        &limited(6, Plan { stuck_after: None, ..run.clone() }),
        &["turn a", "gate red"],
        "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red> g0! Work5.1<red> g0! Work6.1<red> g0! \
         Exhausted(Iterations)=1",
    );
    // Told, it tried something else.
    check(
        &limited(5, run),
        &["turn a", "gate red", "gate red", "gate red", "gate bad"],
        "Work1.1 g0! Work2.1<red> g0! Work3.1<red> g0! Work4.1<red|There> g0! Work5.1<bad> g0! \
         Exhausted(Iterations)=1",
    );
    // What is retried ends by its retries.
    let build = presets::build("plan.md", every(&["test"]));
    let gave_up = "Work1.1 g0! Work1.2<red> g0! Work1.3<red> g0! Work1.4<red> g0! GaveUp(Gate)=3";
    check(&build, &["look +plan.md", "gate red"], gave_up);
    // A root agent may wait for its children as long as it likes.
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    check(
        &limited(5, task),
        &["look", "turn a +DONE", "gate busy"],
        "Work1.1 g0! (Rest 1000) Work2.1<busy|You> g0! (Rest 1000) Work3.1<busy|You> g0! (Rest 1000) \
         Work4.1<busy|You> g0! (Rest 1000) Work5.1<busy|You> g0! (Rest 1000) Exhausted(Iterations)=1",
    );
}

#[test]
fn a_stories_loop_that_gets_nowhere_ends_too() {
    let stories = presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::ChangedOrClaimed);
    // What judges every change is checked before the first one; what verifies the whole is not.
    check(
        &limited(1, stories.clone()),
        &["look +tasks.json", "base red", "turn +tasks.json"],
        "b3! Implement1.1 g0 g1 g3 Exhausted(Iterations)=1",
    );
    let whole = presets::stories(&["tasks.json".to_owned()], &["test".to_owned()], When::Claimed);
    check(
        &limited(1, whole),
        &["look +tasks.json", "base red", "turn +tasks.json"],
        "Implement1.1 g0 g1 Exhausted(Iterations)=1",
    );
    // The same rule broken again and again.
    check(
        &stories,
        &["look +tasks.json", "turn +tasks.json", "judge no"],
        "Implement1.1 g0 g1! g3 Implement2.1<The> g0 g1! g3 Implement3.1<The> g0 g1! g3 Implement4.1<The|There> g0 g1! \
         g3 Paused=6",
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
                    let says = format!("{outcome:?}");
                    assert!(says.contains("no progress since iteration"), "{says}");
                    state.apply(&run, &Event::RunEnded { outcome, exit_code: 6 });
                    break;
                }
                Action::RunTurn(turn) => {
                    iterations.push(turn.iteration);
                    ended(TurnEnd::Finished, "a")
                }
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
fn usage_limits_cost_no_attempt() {
    let run = presets::run("DONE", vec![]);
    check(
        &run,
        &["turn quota", "turn quota", "turn claim"],
        "Work1.1 (UsageLimit 77) Work1.1 (UsageLimit 77) Work1.1 c Done=0",
    );
    // Nobody says when it comes back: ralph asks now and then, and no attempt is used up either.
    check(
        &run,
        &["turn used up", "turn used up", "turn used up", "turn claim"],
        "Work1.1 (UsageLimit 60000) Work1.1 (UsageLimit 120000) Work1.1 (UsageLimit 240000) Work1.1 c Done=0",
    );
    let mut impatient = run.clone();
    impatient.limits.max_wait_ms = 100_000;
    check(
        &impatient,
        &["turn used up"],
        "Work1.1 (UsageLimit 60000) Work1.1 (UsageLimit 40000) Work1.1 Paused=6",
    );
    // Waits are part of the run's time.
    let mut short = run.clone();
    short.limits.total_ms = Some(30_000);
    check(&short, &["turn used up"], "Work1.1 (UsageLimit 29000) Exhausted(Time)=1");
    impatient.limits.max_wait_ms = 100;
    check(&impatient, &["turn quota"], "Work1.1 (UsageLimit 77) Work1.1 (UsageLimit 77) Work1.1 Paused=6");
    // A service that never lets anything through is not waited for for ever.
    let mut state = State::default();
    let mut turns = 0;
    while let Action::RunTurn(_) | Action::StartWait(_) | Action::WaitUntil(_) = decide(&run, &state) {
        let event = match decide(&run, &state) {
            Action::RunTurn(_) => {
                turns += 1;
                ended(turn_end("quota"), "")
            }
            Action::StartWait(_) => Event::WaitStarted { until_ms: 0, why: Why::UsageLimit },
            _ => Event::WaitEnded { ms: 0 },
        };
        state.apply(&run, &event);
    }
    assert_eq!(turns, 21);
}

#[test]
fn budgets_end_a_run_between_turns() {
    let mut run = presets::run("DONE", vec![]);
    run.limits.cost_usd = Some(1.0);
    check(&run, &["turn a"], "Work1.1 c Work2.1 c Exhausted(Cost)=1");
    run.limits.cost_usd = None;
    run.limits.tokens = Some(300);
    check(&run, &["turn a"], "Work1.1 c Work2.1 c Work3.1 c Exhausted(Tokens)=1");
    run.limits.tokens = None;
    run.limits.total_ms = Some(1000);
    check(&run, &["turn a"], "Work1.1 c Exhausted(Time)=1");
    // No budget ends a loop as if it were complete, whatever its last iteration does.
    let mut plan = presets::plan();
    plan.limits.cost_usd = Some(0.5);
    check(&plan, &["turn a"], "Work1.1 c Exhausted(Cost)=1");
    // A claim that holds is done, whatever it cost.
    check(&run, &["turn claim"], "Work1.1 c Done=0");
}

#[test]
fn an_iteration_has_a_budget_for_all_its_attempts() {
    // Every turn costs half a dollar and 110 tokens.
    let mut build = presets::build("plan.md", every(&["test"]));
    build.limits.iteration_cost_usd = Some(1.0);
    let script = ["look +plan.md", "turn a", "gate red", "gate ok", "gate red"];
    check(&build, &script, "Work1.1 g0! Work1.2<red> g0 c Exhausted(IterationCost)=1");
    // The next iteration has all of it again.
    build.limits.iteration_cost_usd = Some(1.1);
    check(
        &build,
        &script,
        "Work1.1 g0! Work1.2<red> g0 c Work2.1 g0! Work2.2<red> g0! Work2.3<red> g0! Exhausted(IterationCost)=1",
    );
    build.limits.iteration_cost_usd = None;
    build.limits.iteration_tokens = Some(100);
    check(&build, &["look +plan.md", "turn a", "gate red"], "Work1.1 g0! Exhausted(IterationTokens)=1");
    // What it did is judged and kept.
    check(&build, &["look +plan.md", "turn a"], "Work1.1 g0 c Exhausted(IterationTokens)=1");
    check(&build, &["look +plan.md", "turn claim"], "Work1.1 g0 c Done=0");
}

#[test]
fn a_turn_that_is_ended_for_its_budget_is_not_tried_again() {
    let mut run = presets::run("DONE", every(&["test"]));
    check(&run, &["turn spent"], "Work1.1 Exhausted(Cost)=1");
    // The agent kept to what was left of the budget.
    run.limits.cost_usd = Some(1.0);
    check(&run, &["turn a", "turn own cap"], "Work1.1 g0 c Work2.1 Exhausted(Cost)=1");
    // It kept to a limit of the user's own: the turn is over, and the next goes on.
    run.limits.cost_usd = Some(5.0);
    check(&run, &["turn own cap", "turn claim"], "Work1.1 g0 c Work2.1 g0 c Done=0");
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
    let turn = |iteration, attempt| Turn { iteration, attempt, mode: Mode::Work, ..Turn::default() };
    let started = |iteration, attempt| Event::TurnStarted(turn(iteration, attempt));
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
    // Halfway through the gates: all of them again, because somebody may have changed the files.
    let halfway = vec![started(1, 1), finished(), ok(0), Event::StopRequested, end(Outcome::Interrupted)];
    assert_eq!(next_after_resume(&run, halfway), Action::RunGate(0));
    let passed =
        vec![started(1, 1), finished(), ok(0), ok(1), Event::StopRequested, end(Outcome::Interrupted)];
    assert_eq!(next_after_resume(&run, passed), Action::RunGate(0));
    // Killed while committing: see whether it was made.
    let announced = Event::CommitStarted { head: None, message: String::new() };
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
    let at_limit = Action::Finish(Outcome::Exhausted { limit: Exhausted::Iterations });
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
    assert_eq!(next_after_resume(&run, done), Action::Finish(Outcome::Done));
}

#[test]
fn plan_and_build_want_changes() {
    const PLAN: &str = "look +plan.md";
    let build = presets::build("plan.md", every(&["test"]));
    check(&build, &["look"], "Unready=2");
    check(&build, &[PLAN, "turn a", "turn claim"], "Work1.1 g0 c Work2.1 g0 c Done=0");
    check(
        &build,
        &[PLAN, "turn a", "gate red"],
        "Work1.1 g0! Work1.2<red> g0! Work1.3<red> g0! Work1.4<red> g0! GaveUp(Gate)=3",
    );
    check(
        &limited(1, build.clone()),
        &[PLAN, "gate red", "gate red", "gate red", "gate ok"],
        "Work1.1 g0! Work1.2<red> g0! Work1.3<red> g0! Work1.4<red> g0 c Exhausted(Iterations)=0",
    );
    check(
        &build,
        &[PLAN, "turn a", "commit none"],
        "Work1.1 g0 c Work1.2 g0 c Work1.3 g0 c Work1.4 g0 c GaveUp(NoChange)=4",
    );
    check(&build, &[PLAN, "turn claim", "commit none"], "Work1.1 g0 c Done=0");
    check(&limited(1, presets::plan()), &["turn a", "commit already"], "Work1.1 c Exhausted(Iterations)=0");
}

#[test]
fn prompt_runs_once() {
    check(&presets::prompt(), &["turn a", "commit none"], "Work1.1 c Done=0");
    check(&presets::prompt(), &["turn fail"], "Work1.1 GaveUp(Agent)=4");
    check(&presets::prompt(), &["turn a", "commit fail"], "Work1.1 c GaveUp(Commit)=5");
}

#[test]
fn task_goes_on_until_the_file_is_there() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    check(&task, &["look +DONE"], "g0 Done=0");
    check(
        &task,
        &["look", "turn fail", "turn a", "turn fail +DONE"],
        "Work1.1 (Rest 1000) Work2.1 (Rest 1000) Work3.1 g0 Done=0",
    );
    check(&task, &["turn a", "turn pause"], "Work1.1 (Rest 1000) Work2.1 Paused=6");
    let two = limited(2, task.clone());
    check(&two, &["turn fail"], "Work1.1 (Rest 1000) Work2.1 (Rest 1000) Exhausted(Iterations)=1");
    // A file that does not hold up costs a turn, it does not spin.
    check(
        &two,
        &["look +DONE", "turn a +DONE", "gate busy"],
        "g0! Work1.1<busy|You> g0! (Rest 1000) Work2.1<busy|You> g0! (Rest 1000) Exhausted(Iterations)=1",
    );
    check(&task, &["turn bad key"], "Work1.1 GaveUp(Agent)=4");
}

#[test]
fn a_task_that_waits_for_somebody_is_not_started_again() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    check(&task, &["turn a +WAIT"], "Work1.1 Paused=6");
    check(&task, &["turn fail +WAIT"], "Work1.1 Paused=6");
    check(&task, &["look +WAIT"], "Paused=6");
    // Who is done waits for nobody.
    check(&task, &["look +WAIT +DONE"], "g0 Done=0");
    check(&task, &["turn pause +DONE"], "Work1.1 g0 Done=0");
    check(&task, &["turn fail +WAIT +DONE"], "Work1.1 g0 Done=0");
    // A folder is no answer, before a turn nor after it.
    check(&task, &["look +folder"], "Unready=2");
    check(&task, &["turn a", "turn a +folder"], "Work1.1 (Rest 1000) Work2.1 Unready=2");
    // Where no such file is agreed on it is a file like any other.
    check(&presets::job(), &["turn a +WAIT +folder"], "Work1.1 Done=0");
}

#[test]
fn a_task_waits_for_others_before_its_first_turn() {
    let task = presets::task("DONE", "WAIT", vec![gate("children", When::Claimed)]);
    let task = Plan { awaits: vec!["other".to_owned(), "plan.md".to_owned()], ..limited(2, task) };
    check(
        &task,
        &["look", "look +other", "look +other +plan.md", "look", "turn a"],
        "(other plan.md) (plan.md) Work1.1 (Rest 1000) Work2.1 (Rest 1000) Exhausted(Iterations)=1",
    );
    // What is done already need not wait.
    check(&task, &["look +DONE"], "g0 Done=0");
}

#[test]
fn a_job_runs_once() {
    check(&presets::job(), &["turn a"], "Work1.1 Done=0");
    check(&presets::job(), &["turn fail"], "Work1.1 GaveUp(Agent)=4");
    check(&presets::job(), &["turn pause"], "Work1.1 Paused=6");
}

#[test]
fn stories_fix_before_they_review_before_they_implement() {
    let files = ["tasks.json".to_owned()];
    let stories = presets::stories(&files, &[], When::Claimed);
    check(
        &stories,
        &[
            "look +tasks.json",
            "look +tasks.json +review",
            "look +tasks.json +fix",
            "look +tasks.json +review",
            "turn a",
            "turn b",
            "turn c",
            "turn d +approved",
        ],
        "Implement1.1 g0 g1 Review2.1 g0 g1 Fix3.1 g0 g1 Review4.1 g0 g1 g2 Done=0",
    );
    check(
        &limited(2, stories.clone()),
        &["look +tasks.json", "turn claim", "gate ok", "gate ok", "gate open"],
        "Implement1.1 g0 g1 g2! Implement2.1<open|You> g0! g1! Exhausted(Iterations)=1",
    );
    check(&stories, &["look +tasks.json +blocked"], "Paused=6");
    check(&stories, &["look"], "Unready=2");
}

#[test]
fn stories_are_verified_at_the_end_or_after_each_change() {
    let (files, test) = (["tasks.json".to_owned()], ["test".to_owned()]);
    let script = ["look +tasks.json", "look +tasks.json +review", "turn a", "turn b +approved"];
    let at_the_end = presets::stories(&files, &test, When::Claimed);
    check(&at_the_end, &script, "Implement1.1 g0 g1 Review2.1 g0 g1 g2 g3 Done=0");
    let after_each = presets::stories(&files, &test, When::ChangedOrClaimed);
    check(&after_each, &script, "Implement1.1 g0 g1 g3 Review2.1 g0 g1 g2 g3 Done=0");
    // A claim by a turn that changed code is verified once.
    check(&after_each, &["look +tasks.json", "turn claim"], "Implement1.1 g0 g1 g3 g2 Done=0");
}

#[test]
fn no_turn_follows_one_that_nobody_judged() {
    let stories = limited(2, presets::stories(&["tasks.json".to_owned()], &[], When::Claimed));
    let look = "look +tasks.json";
    // Whatever becomes of a turn, what it did to the list is judged, and what was undone is told.
    check(
        &stories,
        &[look, "turn fail", "turn a", "judge no approval", "judge"],
        "Implement1.1 j (Retry 1000) Implement1.2<The> g0 g1 Implement2.1 g0 g1 Exhausted(Iterations)=1",
    );
    check(&stories, &[look, "turn bad key"], "Implement1.1 j GaveUp(Agent)=4");
    check(&stories, &[look, "turn cut ^C"], "Implement1.1 j Interrupted=130");
    check(&stories, &[look, "turn a ^C"], "Implement1.1 j Interrupted=130");
    // What is broken refutes a claim.
    check(
        &stories,
        &[look, "turn claim", "turn a", "judge no approval", "judge"],
        "Implement1.1 g0 g1! Implement2.1<The|You> g0 g1 Exhausted(Iterations)=1",
    );
}

#[test]
fn what_was_broken_is_told_after_a_crash_too() {
    let stories = presets::stories(&["tasks.json".to_owned()], &[], When::Claimed);
    let started =
        Event::TurnStarted(Turn { iteration: 1, attempt: 1, mode: Mode::Review, ..Turn::default() });
    let mut state = State::default();
    let resumed = Event::RunResumed { pid: 1, limits: stories.limits };
    for event in [started, ended(TurnEnd::Finished, "claim"), judged("no approval"), resumed] {
        state.apply(&stories, &event);
    }
    // Every gate decides again, and the one of the rules knows what it knew.
    assert_eq!(decide(&stories, &state), Action::RunGate(0));
    assert!(state.broken().is_some_and(|broken| broken.contains("no approval")));
}

#[test]
fn session_counts_turns() {
    let session = presets::session("DONE", 3, vec![gate("work", When::Claimed)]);
    check(&session, &["turn a"], "Work1.1 Work2.1 Work3.1 Exhausted(Iterations)=1");
    check(&session, &["turn claim", "gate idle", "gate ok"], "Work1.1 g0! Work2.1<idle|You> g0 Done=0");
}

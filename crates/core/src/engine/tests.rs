//! What each loop does, as scripts of what the world does and transcripts of what the engine makes of it.

mod blocked;
mod deadline;
mod findings;
mod limits;
mod loops;
mod memory;
mod modes;
mod opinions;
mod opinions_again;
mod outcome;
mod plan_rules;
mod preset_table;
mod questions;
mod resume;
mod review_loop;
mod roles;
mod stuck;
mod submission;
mod trial;
mod worlds;

use std::collections::BTreeMap;

use ralph_agents::{Failure, FailureKind, Usage};
use ralph_checks::protected::Role;

use super::{
    Action, AwaitedQuota, Order, State, Wait,
    commit::CommitEnd,
    decide,
    event::{
        Event, Examined, GateEnded, JudgeFailure, JudgeGateEnded, JudgeReady, PlanView, PutBack, StoryView,
        TasksJudged, Turn, TurnEnd, TurnEnded, View, Why,
    },
    outcome::{Exhausted, Outcome},
    plan::{Check, CommitRule, Gate, Plan, When},
    presets,
};
use crate::gate_failure::{GateFailure, OpenTasks};
use crate::plan_file::Task;
use crate::stories::Mode;
use crate::verify::{
    changed_check::{ChangedCheck, FileChange},
    finding::Finding,
};

const DONE: &str = "claim";

fn gate(name: &str, when: When) -> Gate {
    let check = Check::Command { command: name.to_owned() };
    Gate::new(check, when)
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
    plan.limits.max_iterations = iterations;
    plan
}

fn ended(end: TurnEnd, line: &str) -> Event {
    Event::TurnEnded(Box::new(TurnEnded {
        review: None,
        undone: Vec::new(),
        untold: Vec::new(),
        end,
        claimed: line.contains(DONE),
        blocked: line.contains("stumped").then(|| "no key".to_owned()),
        reason: line.contains("because").then(|| "the API changed".to_owned()),
        view: Some(view(line)),
        code: None,
        ms: 1000,
        usage: Usage { cost_usd: Some(0.5), input: 100, cached: 0, output: 10, estimated: false },
        tools: 1,
        tool_errors: 0,
        leftovers: vec![],
        model: None,
        quota: Vec::new(),
        last_lines: Vec::new(),
        denials: vec![],
        session: None,
        hooks: None,
        tree: None,
        branch: line.contains("astray").then(|| "other".to_owned()),
    }))
}

/// How the judge was brought to what it decides about: it was, or not for this reason.
fn brought(line: &str) -> Event {
    let failed = |cause| Event::JudgeFailed { cause, why: "no".to_owned() };
    match line {
        "fetch" => failed(JudgeFailure::NotFetched),
        "place" => failed(JudgeFailure::NoPlace),
        _ => Event::JudgeReady(Box::new(JudgeReady {
            commit: "c".to_owned(),
            ms: 1,
            caveats: Vec::new(),
            prepared: Vec::new(),
        })),
    }
}

/// What the judge does, in a word and as an event.
fn of_judge(action: &Action, answer: &mut dyn FnMut(&'static str) -> String) -> (String, Event) {
    match action {
        Action::BringJudge => ("J".to_owned(), brought(&answer("bring"))),
        Action::RunInJudge(gate) => {
            let failure = Some(answer("try")).filter(|line| !line.is_empty());
            let word = format!("t{gate}{}", if failure.is_some() { "!" } else { "" });
            (word, tried(*gate, failure))
        }
        Action::TakeBase => {
            let commit = Some("base".to_owned());
            (String::new(), Event::BaseTaken { commit, copies: None, why: None, ms: 0 })
        }
        Action::Examine => {
            let examined = examined(&answer("find"));
            let word = if examined.findings.is_empty() { "" } else { "x!" };
            (word.to_owned(), Event::Examined(Box::new(examined)))
        }
        Action::PutBack(files) => {
            let put_back = if answer("back").is_empty() { files.clone() } else { Vec::new() };
            let event = Event::PutBack(PutBack { files: put_back, failed: Vec::new(), kept: None });
            (format!("back({})", files.join(" ")), event)
        }
        _ => ("push".to_owned(), Event::Delivered),
    }
}

fn tried(gate: usize, failure: Option<String>) -> Event {
    let differs = failure.iter().map(|_| "x is only in the working tree".to_owned()).collect();
    Event::JudgeGateEnded(JudgeGateEnded { ended: gate_ended(gate, failure), differs })
}

/// What was done to the checks: one finding for each file that is named.
fn examined(line: &str) -> Examined {
    let finding = |file: &str| Finding::ChecksChanged {
        files: vec![ChangedCheck::new(file, Role::Test, FileChange::Changed)],
        commands: Vec::new(),
    };
    Examined { findings: line.split_whitespace().map(finding).collect(), ..Examined::default() }
}

/// What a turn did to the task list: nothing that it may not do, or this.
fn judged(line: &str) -> Event {
    let broken = if line.is_empty() { vec![] } else { vec![line.to_owned()] };
    Event::TasksJudged(Box::new(TasksJudged { broken, ..TasksJudged::default() }))
}

fn gate_ended(gate: usize, failure: Option<String>) -> GateEnded {
    let failure = failure.map(|text| match text.as_str() {
        "left" => OpenTasks::of("plan.md", &[&Task::default()], 2).into(),
        _ => GateFailure::refused(text),
    });
    GateEnded { gate, failure, ms: 1, log: String::new(), signature: None, tests: None, output_sha256: None }
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
    let story =
        ["US-1", "US-2"].into_iter().find(|id| line.contains(&format!("+of {id}"))).map(str::to_owned);
    let stories = StoryView {
        next,
        story,
        all_approved: line.contains("+approved"),
        submitted: line.contains("+submitted"),
        for_people: ["US-1", "US-2"]
            .into_iter()
            .filter(|_| line.contains("+people"))
            .map(str::to_owned)
            .collect(),
    };
    let folders = if line.contains("+folder") { vec!["DONE".to_owned()] } else { vec![] };
    let open = usize::from(line.contains("+open"));
    let plan = (line.contains("+open") || line.contains("+settled")).then_some(PlanView { tasks: 1, open });
    let files = files.map(str::to_owned).collect();
    View { files, folders, plan, stories: Some(stories), ..View::default() }
}

fn turn_end(line: &str) -> TurnEnd {
    let failed = |kind| TurnEnd::Failed(Failure { kind, message: "no".to_owned() });
    match line {
        _ if line.contains("tampered") => TurnEnd::Tampered { changed: vec![".mcp.json".to_owned()] },
        _ if line.contains("unguarded") => TurnEnd::Unguarded { changed: vec![], unjudged: vec![] },
        _ if line.contains("pause") => TurnEnd::Paused { reason: None },
        _ if line.contains("cut") => TurnEnd::Interrupted,
        _ if line.contains("spent") => TurnEnd::OverBudget { limit: Exhausted::MaxCost },
        _ if line.contains("own cap") => failed(FailureKind::AgentBudget),
        _ if line.contains("quota") => failed(FailureKind::Limited { resets_at: Some(77) }),
        _ if line.contains("used up") => failed(FailureKind::Limited { resets_at: None }),
        _ if line.contains("overload") => failed(FailureKind::Overloaded),
        _ if line.contains("bad key") => failed(FailureKind::Permanent),
        _ if line.contains("fail") => failed(FailureKind::Transient),
        _ => TurnEnd::Finished,
    }
}

/// How a commit ends that this line answers.
fn commit_end(line: &str) -> CommitEnd {
    match line {
        "fail" => CommitEnd::Failed { output: "hook says no".to_owned() },
        "none" => CommitEnd::Nothing,
        "already" => CommitEnd::Already { beyond: vec![] },
        "changed" => CommitEnd::Changed { cause: None },
        _ => CommitEnd::Made { commit: "abc".to_owned(), subject: "work".to_owned(), beyond: vec![] },
    }
}

/// Drives `plan` against `script` and compares what was done.
///
/// A script line answers the action it starts with: `look`, `turn`, `gate`, `commit`. Lines are used in order
/// per kind; the last one of a kind repeats. `^C` in a line asks to stop before its answer.
#[track_caller]
#[expect(clippy::too_many_lines, reason = "one arm for each thing that is done")]
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
                let code = state.exit_code(plan, &outcome);
                transcript.push(format!("{}={code}", name_of(&format!("{outcome:?}"))));
                assert_eq!(transcript.join(" "), expected);
                return;
            }
            Action::AbandonTurn | Action::AbandonOpinion | Action::Hold => {
                unreachable!("only on resume, and where a person pauses it")
            }
            Action::AskOpinion(_) | Action::ForgoLook(_) => unreachable!("no script has a reviewer"),
            Action::Look => (String::new(), Event::Looked(view(&answer("look")))),
            Action::AwaitFiles(files) => {
                transcript.push(format!("({})", files.join(" ")));
                (String::new(), Event::Looked(view(&answer("look"))))
            }
            Action::PutAside(file) => {
                let to = answer("aside");
                transcript.push(format!("{file}>{to}"));
                (String::new(), Event::ClaimPutAside { file, to: (!to.is_empty()).then_some(to) })
            }
            Action::HandOver { story, reason } => {
                transcript.push(format!("{story}({reason})"));
                (String::new(), Event::StoryHandedOver { story, reason })
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
                state.apply(plan, &Event::TurnStarted(turn.into()));
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
            action @ (Action::TakeBase
            | Action::BringJudge
            | Action::RunInJudge(_)
            | Action::Examine
            | Action::PutBack(_)
            | Action::Deliver) => {
                let (word, event) = of_judge(&action, &mut answer);
                transcript.extend(Some(word).filter(|word| !word.is_empty()));
                (String::new(), event)
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
                let end = commit_end(&line);
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

/// `GaveUp { cause: Gate, reason: ".." }` is `GaveUp(Gate)`, and `Stopped(Quota { message: ".." })` is `Quota`.
fn name_of(outcome: &str) -> String {
    let outcome = outcome.strip_prefix("Stopped(").map_or(outcome, |stop| {
        let end = stop.find(|char: char| !char.is_alphanumeric()).unwrap_or(stop.len());
        &stop[..end]
    });
    let (name, rest) = outcome.split_once(" { ").unwrap_or((outcome, ""));
    match rest.strip_prefix("cause: ").or(rest.strip_prefix("limit: ")) {
        Some(rest) => format!("{name}({})", rest.split([',', ' ']).next().unwrap_or("")),
        None => name.to_owned(),
    }
}

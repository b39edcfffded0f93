//! `ralph status`: which runs there are and how they stand.

use std::{
    fmt::Write,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use clap::Args;
use jiff::{Timestamp, tz::TimeZone};
use ralph_agents::AgentEvent;
use ralph_core::{
    doctor::bytes,
    engine::{Run, memory::LastTurn, plan::Check},
    verify::tested::Tested,
    view::{Activity, Standing},
};
use ralph_sys::{
    error::{Error, Result},
    files,
};
use serde_json::{Value, json};

use super::{display::settings_of, fleet::seen, print, print_lines, runs, say::said, session::bound_to};
use crate::{
    fleet::FleetDir,
    journal::{
        self, Folded,
        run_dir::{AGENT_STREAM, RunDir},
    },
    live::asked,
    report::{
        listing::{Listed, Style},
        style::Marks,
        summary::{self, count},
        who,
    },
    term::{Palette, Stream, Width, fit::one_line},
    workspace::place::Judge,
};

/// Show the runs of this project and their state
///
/// The newest run comes first. For each run: the task, the iteration, time and cost, the last result of each
/// guardrail, what a running agent is doing, and what to type to continue or end it.
///
/// Example: ralph status --all
#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    /// Show this run or fleet alone, of any project: its id, or the beginning of it
    #[arg(conflicts_with = "all")]
    run: Option<String>,

    /// Show the runs of all projects
    #[arg(short, long)]
    all: bool,

    /// Print one JSON object per run, and every run
    #[arg(long)]
    json: bool,

    /// Print nothing, and exit with what this run or fleet (its id or the beginning; without it, the newest run) exited with
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["all", "json"])]
    exit_code: Option<String>,
}

/// How many runs a person wants to see.
const MAX_SHOWN: usize = 10;

/// How much of the end of an agent's stream says what it is doing.
const TAIL: u64 = 64 * 1024;

/// Prints the runs, the newest first.
pub(super) fn main(args: &StatusArgs, project: &Path) -> Result<u8> {
    if let Some(fleet) = args.run.as_deref().and_then(FleetDir::by_id) {
        return seen::show(&fleet, args.json);
    }
    if let Some(id) = &args.exit_code {
        if let Some(fleet) = FleetDir::by_id(id) {
            return seen::exit_code(&fleet);
        }
        let run = if id.is_empty() { runs::newest(project)? } else { runs::by_id(id)? };
        return exit_code(&run);
    }
    let mut runs = match &args.run {
        Some(id) => vec![runs::by_id(id)?],
        None if args.all => RunDir::all()?,
        None => RunDir::of_project(project)?,
    };
    runs.reverse();
    let settings = settings_of(project);
    let style = Style {
        palette: Palette::of(settings.output.color, &io::stdout()),
        marks: Marks::of(settings.output.emoji),
        columns: Width::of(Stream::Out).columns(),
        with_project: args.all || args.run.is_some(),
    };
    let fleet = if args.json || args.all || args.run.is_some() { None } else { seen::summary(project) };
    let has_fleet = fleet.is_some();
    let mut out = fleet.unwrap_or_default();
    let shown = if args.json { runs.len() } else { runs.len().min(MAX_SHOWN) };
    for run in &runs[..shown] {
        let id = run.id();
        // A run whose journal is damaged is shown as such, not hidden.
        match journal::fold_brief(&run.journal(), &mut |_| {}) {
            Ok(folded) if args.json => drop(writeln!(out, "{}", json_of(&listed(run, &id, &folded), run))),
            Ok(folded) => out.push_str(&listed(run, &id, &folded).text(&style)),
            Err(error) if args.json => {
                let _ = writeln!(out, "{}", json!({"run": id, "error": error.to_string()}));
            }
            Err(error) => drop(writeln!(out, "{} unreadable  {id}: {error}", style.marks.bad)),
        }
    }
    let older = runs.len() - shown;
    if 0 < older {
        let _ = writeln!(out, "({older} older runs are not shown; --json shows all)");
    }
    if runs.is_empty() && !args.json && !has_fleet {
        out.push_str("no runs yet; start one: ralph run \"...\"\n");
    }
    if args.all && !args.json {
        out.push_str(&judges()?);
    }
    if args.json {
        print(&out)?;
    } else {
        print_lines(&out)?;
    }
    Ok(0)
}

/// What a run that has ended exited with, or would by what a person decided since.
fn exit_code(run: &RunDir) -> Result<u8> {
    let Run { plan, state, .. } = journal::fold_brief(&run.journal(), &mut |_| {})?.run;
    match state.outcome() {
        Some(outcome) if journal::process(run).is_none() => Ok(state.exit_code(&plan, outcome)),
        Some(_) | None => Err(Error::new(format!("run {} has not ended", run.id()))
            .hint(format!("`ralph status` shows its state; `ralph resume {}` continues it", run.id()))),
    }
}

/// What the judges and the lanes of all projects take on the disk.
fn judges() -> Result<String> {
    let (judges, lanes) = (Judge::all(None)?, Judge::lanes(None)?);
    let disk = judges.iter().chain(&lanes).map(|it| it.disk).sum();
    let counts = [(judges.len(), "judge"), (lanes.len(), "lane")];
    let counts = counts.into_iter().filter(|(number, _)| 0 < *number);
    let counts: Vec<String> = counts.map(|(number, noun)| count(number as u64, noun)).collect();
    if counts.is_empty() {
        return Ok(String::new());
    }
    Ok(format!(
        "{}, {} on the disk; to remove those not in use: ralph clean --all --older-than 0\n",
        counts.join(" and "),
        bytes(disk)
    ))
}

fn listed<'a>(run: &'a RunDir, id: &'a str, folded: &'a Folded) -> Listed<'a> {
    let has_process = journal::process(run).is_some();
    let standing = Standing::of(has_process || bound_to(run).is_some(), &folded.run.state);
    let doing = has_process.then(|| doing(run, folded)).flatten();
    Listed { id, folded, standing, asked: asked(run, &folded.run), doing, now: Timestamp::now() }
}

/// The same facts for scripts.
fn json_of(listed: &Listed<'_>, run: &RunDir) -> Value {
    let Folded { run: Run { started, plan, state, .. }, entries, .. } = listed.folded;
    let ((iteration, attempt), spent) = (state.position(), state.spent());
    let gates = listed.gates().into_iter().map(|ended| {
        let check = plan.gates.get(ended.gate).map(|gate| &gate.check);
        let code = match &ended.failure {
            Some(failure) => failure.exit.code(),
            None => check.filter(|check| check.is_command()).map(|_| 0),
        };
        let (name, passed) = (check.map(Check::name), ended.failure.is_none());
        let tests = state.tests(plan).find(|tests| tests.gate == ended.gate);
        let before = tests.and_then(|tests| tests.before).map(Tested::total);
        let now = tests.map(|tests| tests.now.total());
        json!({"name": name, "passed": passed, "code": code, "ms": ended.ms, "tests": now, "testsBefore": before})
    });
    let (judged, refused) = listed.judgements();
    let guard = (0 < judged).then(|| json!({"judged": judged, "refused": refused}));
    let next = listed.commands().into_iter().map(|(_, command)| command);
    json!({
        "run": listed.id,
        "standing": listed.standing.word(),
        "mode": started.plan.preset,
        "project": started.setup.project,
        "agent": started.setup.agent.command,
        "agents": who::figures(&started.setup, state.crew()),
        "asked": listed.asked,
        "iteration": iteration,
        "attempt": attempt,
        "maxIterations": plan.limits.max_iterations,
        "turns": spent.turns,
        "ms": spent.ms,
        "tools": spent.tools,
        "commits": spent.commits,
        "usage": spent.usage,
        "changes": listed.folded.run.memory.work,
        "gates": gates.collect::<Vec<_>>(),
        "sandbox": listed.level(),
        "hosts": listed.connections(),
        "guard": guard,
        "doing": listed.doing,
        "startedAt": entries.first().map(|entry| entry.at),
        "lastEventAt": entries.last().map(|entry| entry.at),
        "outcome": state.outcome(),
        "exitCode": state.outcome().map(|outcome| state.exit_code(plan, outcome)),
        "findings": state.findings(),
        "reason": state.reason(),
        "notes": state.notes(),
        "said": state.person_notes().iter().map(said::json_of).collect::<Vec<_>>(),
        "askedTurns": {
            "turns": state.spent().asked.turns,
            "inVain": state.asked_in_vain(),
            "costUsd": state.spent().asked.usage.cost_usd,
            "tokens": state.spent().asked.usage.tokens(),
        },
        "opinions": summary::opinions(state),
        "caveats": summary::caveats(&listed.folded.run),
        "next": next.collect::<Vec<_>>(),
        "folder": run.path(),
    })
}

/// What a running run was last seen doing.
fn doing(run: &RunDir, folded: &Folded) -> Option<String> {
    let activity = folded.entries.iter().rev().find_map(|entry| Activity::after(&entry.event))?;
    match (activity, &folded.run.memory.turn) {
        (Activity::Turn, Some(LastTurn { turn, .. })) => {
            let command = &folded.run.started.setup.agent_named(turn.agent.as_deref()).command;
            last_act(&run.turn(turn.iteration, turn.attempt).join(AGENT_STREAM), command)
                .or_else(|| Some("the agent has said nothing yet".to_owned()))
        }
        (Activity::Opinion, _) => {
            let started = &folded.run.memory.opinion.as_ref()?.started;
            let command = &folded.run.started.setup.agent_named(started.agent.as_deref()).command;
            let who = started.agent.as_deref().unwrap_or("a reviewer");
            let act = last_act(&run.opinion(started.number).join(AGENT_STREAM), command);
            let act = act.map(|act| format!(": {act}")).unwrap_or_default();
            Some(format!("{who} judges the claim{act}"))
        }
        (activity, _) => activity.words(&folded.run.plan, &TimeZone::system()),
    }
}

/// The last thing in the stream of an agent that says what it does.
fn last_act(stream: &Path, command: &str) -> Option<String> {
    let mut file = files::open(stream).ok()?;
    let start = file.metadata().ok()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    // What was cut off at the beginning is no event.
    let cut =
        if start == 0 { 0 } else { bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1) };
    let mut act = None;
    ralph_agents::adapter(command).parser().push(&bytes[cut..], &mut |event| match event {
        AgentEvent::ToolStart { name, summary, .. } => {
            act = Some(format!("{}({})", one_line(&name), one_line(&summary)));
        }
        AgentEvent::Text { text, .. } => {
            if let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) {
                act = Some(one_line(line.trim()).into_owned());
            }
        }
        _ => {}
    });
    act
}

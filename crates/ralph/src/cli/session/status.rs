//! `ralph session status`: the loops inside conversations, and why each turn was not the last.

use std::{fmt::Write, path::Path};

use clap::Args;
use ralph_core::{
    engine::{
        event::{Event, TurnEnd},
        outcome::Outcome,
    },
    prompt::message::first_line,
    session::{marker, status},
    setup::{InSession, PromptSource},
};
use ralph_sys::error::Result;
use serde_json::{Value, json};

use crate::{
    cli::{print, print_lines},
    journal::{self, Folded, run_dir::RunDir},
    term::fit::one_line,
};

/// Show the loops inside conversations and their state
///
/// The newest comes first, with the result of each time the agent tried to stop.
///
/// Example: ralph session status --json
#[derive(Args, Debug)]
pub(super) struct SessionStatusArgs {
    /// Only the loops of this conversation, of any project
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,

    /// Print one JSON object per loop
    #[arg(long)]
    json: bool,
}

/// How many loops a person wants to see.
const MAX_SHOWN: usize = 5;

/// Prints the loops, the newest first.
pub(super) fn main(args: &SessionStatusArgs, project: &Path) -> Result<u8> {
    let wanted = args.session_id.as_deref();
    let runs = if wanted.is_some() { RunDir::all()? } else { RunDir::of_project(project)? };
    let mut loops: Vec<(RunDir, Folded)> = runs
        .into_iter()
        .rev()
        .filter_map(|run| journal::fold(&run.journal()).ok().map(|folded| (run, folded)))
        .filter(|(_, folded)| {
            let session = folded.run.started.setup.session.as_ref();
            session.is_some_and(|session| wanted.is_none_or(|wanted| session.id.as_deref() == Some(wanted)))
        })
        .collect();
    if !args.json {
        loops.truncate(MAX_SHOWN);
    }
    let mut out = String::new();
    for (run, folded) in &loops {
        if args.json {
            let _ = writeln!(out, "{}", object(run, folded));
        } else {
            out.push_str(&text(run, folded));
        }
    }
    if loops.is_empty() && !args.json {
        out.push_str("no loops inside conversations yet; type /ralph-loop in your agent\n");
    }
    if args.json {
        print(&out)?;
    } else {
        print_lines(&out)?;
    }
    Ok(0)
}

/// What was found when the agent tried to stop.
struct StopAttempt {
    iteration: u32,
    found: &'static str,
    why: Option<String>,
}

/// Every stop of a loop.
fn stops(folded: &Folded) -> Vec<StopAttempt> {
    let (mut stops, mut iteration) = (Vec::<StopAttempt>::new(), 0);
    for entry in &folded.entries {
        match &entry.event {
            Event::TurnStarted(turn) => iteration = turn.iteration,
            Event::TurnEnded(turn) => {
                let (found, why) = match &turn.end {
                    TurnEnd::Finished if turn.claimed => ("promise", None),
                    TurnEnd::Finished => ("no promise", None),
                    TurnEnd::Failed(failure) => ("failed", Some(failure.message.clone())),
                    TurnEnd::Interrupted
                    | TurnEnd::Abandoned
                    | TurnEnd::Paused { .. }
                    | TurnEnd::OverBudget { .. }
                    | TurnEnd::Tampered { .. }
                    | TurnEnd::Unguarded { .. } => ("cut off", None),
                };
                stops.push(StopAttempt { iteration, found, why });
            }
            Event::GateEnded(ended) => {
                let gate = folded.run.plan.gates.get(ended.gate);
                let told = gate.and_then(|gate| ended.feedback(gate)).map(|feedback| feedback.text);
                if let (Some(stop), Some(told)) = (stops.last_mut(), told) {
                    (stop.found, stop.why) = ("promise rejected", Some(told));
                }
            }
            _ => {}
        }
    }
    if let (Some(last), Some(Outcome::Done)) = (stops.last_mut(), folded.run.state.outcome()) {
        last.found = "promise accepted";
    }
    stops
}

/// How a loop stands. One whose conversation went away without a word is as good as cancelled.
fn word(run: &RunDir, folded: &Folded) -> &'static str {
    let is_left =
        folded.run.state.outcome().is_none() && hook_driven(folded) && super::bound_to(run).is_none();
    if is_left { "STOPPED" } else { status(&folded.run.state) }
}

fn hook_driven(folded: &Folded) -> bool {
    matches!(&folded.run.started.setup.session, Some(InSession { id: Some(_), .. }))
}

fn task(folded: &Folded) -> &str {
    match &folded.run.started.setup.prompt {
        PromptSource::Text(task) => task,
        PromptSource::File(_) | PromptSource::Template(_) => "",
    }
}

fn object(run: &RunDir, folded: &Folded) -> Value {
    let log = stops(folded)
        .into_iter()
        .map(|stop| json!({"iteration": stop.iteration, "found": stop.found, "why": stop.why}));
    json!({
        "session": folded.run.started.setup.session.as_ref().and_then(|session| session.id.clone()),
        "run": run.id(),
        "status": word(run, folded),
        "iteration": folded.run.state.position().0.min(folded.run.plan.limits.max_iterations),
        "maxIterations": folded.run.plan.limits.max_iterations,
        "promise": marker(&folded.run.plan),
        "toolCalls": folded.run.state.spent().tools,
        "task": task(folded),
        "project": folded.run.started.setup.project,
        "startedAt": folded.entries.first().map(|entry| entry.at),
        "lastEventAt": folded.entries.last().map(|entry| entry.at),
        "log": log.collect::<Vec<_>>(),
    })
}

fn text(run: &RunDir, folded: &Folded) -> String {
    let session = folded.run.started.setup.session.as_ref().and_then(|session| session.id.as_deref());
    let of = folded.run.plan.limits.max_iterations;
    let turn = folded.run.state.position().0.min(of);
    let mut text = format!("{}  turn {turn} of {of}  {}\n", word(run, folded), run.id());
    let _ = writeln!(text, "  conversation: {}", one_line(session.unwrap_or("ralph's own")));
    let _ = writeln!(text, "  task: {}", one_line(&first_line(task(folded))));
    for StopAttempt { iteration, found, why } in stops(folded) {
        let why = why.as_deref().map(|why| format!(": {}", one_line(&first_line(why)))).unwrap_or_default();
        let _ = writeln!(text, "  turn {iteration}: {found}{why}");
    }
    text
}

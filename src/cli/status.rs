//! `ralph status`: which runs there are and how they stand.

use std::{fmt::Write, path::Path};

use clap::Args;
use serde_json::json;

use super::{print, runs};
use crate::{
    engine::outcome::Outcome,
    error::Result,
    journal::{self, Folded, run_dir::RunDir},
    report::summary,
};

/// Show the runs of this project
///
/// Example: ralph status --all --json
#[derive(Args, Debug)]
pub(super) struct StatusArgs {
    /// Show the runs of all projects
    #[arg(short, long)]
    all: bool,

    /// Print one JSON object per run
    #[arg(long)]
    json: bool,
}

/// How many finished runs a person wants to see.
const MOST_SHOWN: usize = 10;

/// Prints the runs, the newest last.
pub(super) fn main(args: &StatusArgs, project: &Path) -> Result<u8> {
    let runs = if args.all { RunDir::all()? } else { RunDir::of_project(project)? };
    let mut out = String::new();
    let skipped = if args.json { 0 } else { runs.len().saturating_sub(MOST_SHOWN) };
    for run in &runs[skipped..] {
        // A run whose journal is damaged is shown as such, not hidden.
        let folded = journal::fold(&run.journal());
        let line = match (&folded, args.json) {
            (Ok(folded), true) => as_json(run, folded),
            (Ok(folded), false) => as_text(run, folded, args.all),
            (Err(error), true) => json!({"run": run.id(), "error": error.to_string()}).to_string(),
            (Err(error), false) => format!("{}  unreadable: {error}", run.id()),
        };
        let _ = writeln!(out, "{line}");
    }
    if 0 < skipped {
        let _ = writeln!(out, "({skipped} older runs are not shown; --json shows all)");
    }
    if runs.is_empty() && !args.json {
        let _ = writeln!(out, "no runs yet; start one: ralph run -p \"...\"");
    }
    print(&out)?;
    Ok(0)
}

/// What a run is doing, in one word.
fn standing(run: &RunDir, folded: &Folded) -> &'static str {
    if runs::process(run).is_some() {
        return "running";
    }
    match folded.state.outcome() {
        None => "killed",
        Some(Outcome::Done) => "complete",
        Some(Outcome::Exhausted { .. }) => "limit",
        Some(Outcome::Paused { .. }) => "stopped",
        Some(Outcome::Interrupted) => "interrupted",
        Some(Outcome::Unready { .. }) => "unready",
        Some(Outcome::GaveUp { .. }) => "gave up",
    }
}

fn as_text(run: &RunDir, folded: &Folded, with_project: bool) -> String {
    let standing = standing(run, folded);
    let (iteration, _) = folded.state.position();
    let of = folded.plan.limits.iterations;
    let mut text = format!(
        "{}  {standing:<11}  {} iteration {} of {of}  {}",
        run.id(),
        folded.started.plan.mode,
        iteration.min(of),
        summary::spent(&folded.state)
    );
    if with_project {
        let _ = write!(text, "  {}", folded.started.setup.project.display());
    }
    if let Some(outcome) = folded.state.outcome() {
        let _ = write!(text, "\n    {}", summary::outcome(outcome, &folded.plan));
    }
    match standing {
        "running" | "complete" | "unready" => {}
        _ => {
            let _ = write!(text, "\n    go on with: ralph resume {}", run.id());
        }
    }
    text
}

fn as_json(run: &RunDir, folded: &Folded) -> String {
    let (iteration, attempt) = folded.state.position();
    let spent = folded.state.spent();
    json!({
        "run": run.id(),
        "standing": standing(run, folded),
        "mode": folded.started.plan.mode,
        "project": folded.started.setup.project,
        "iteration": iteration,
        "attempt": attempt,
        "maxIterations": folded.plan.limits.iterations,
        "turns": spent.turns,
        "ms": spent.ms,
        "tools": spent.tools,
        "commits": spent.commits,
        "usage": spent.usage,
        "outcome": folded.state.outcome(),
        "exitCode": folded.state.outcome().map(|outcome| outcome.exit_code(&folded.plan)),
        "folder": run.path(),
    })
    .to_string()
}

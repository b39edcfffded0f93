//! `ralph clean`: removes the records of old runs.

use std::{
    fmt::Write,
    path::Path,
    time::{Duration, SystemTime},
};

use clap::Args;
use ralph_core::{
    doctor::bytes, duration::parse_typed_duration, fleet::FleetOutcome, setup::PROJECT_DIR, view::Standing,
};
use ralph_sys::error::Result;

use super::print_lines;
use crate::{
    fleet::{FileLedger, FleetDir},
    journal::{self, run_dir::RunDir},
    project::iteration_files,
    report::summary::count,
    workspace::place::Judge,
};

/// Remove the records of runs that ended long ago
///
/// Keeps running loops, and runs that can be resumed unless you add --resumable. Also removes judges and fleet lanes
/// that were not used for as long (the next one starts with empty caches), and old prompts and logs in the project's
/// `.ralph` folder unless a loop is running there.
///
/// Example: ralph clean --older-than 7d
#[derive(Args, Debug)]
pub(super) struct CleanArgs {
    /// Remove what ended longer ago than this
    #[arg(long, value_name = "DURATION", default_value = "30d", value_parser = parse_typed_duration)]
    older_than: Duration,

    /// Of all projects
    #[arg(short, long)]
    all: bool,

    /// Also those that can be resumed: at a limit, stopped, interrupted or killed
    #[arg(long)]
    resumable: bool,

    /// Only say what would be removed
    #[arg(short = 'n', long)]
    dry_run: bool,
}

/// Removes the records.
pub(super) fn main(args: &CleanArgs, project: &Path) -> Result<u8> {
    let runs = if args.all { RunDir::all()? } else { RunDir::of_project(project)? };
    let runs_now = RunDir::of_project(project)?.iter().any(|run| journal::is_running(&run.journal()));
    let older: Vec<RunDir> = runs.into_iter().filter(|run| is_older(run, args.older_than)).collect();
    let (kept, removed): (Vec<_>, Vec<_>) =
        older.into_iter().partition(|run| !args.resumable && can_be_resumed(run));
    let scope = (!args.all).then_some(project);
    let is_old = |judge: &Judge| judge.is_older(args.older_than);
    let mut judges: Vec<Judge> = Judge::all(scope)?.into_iter().filter(is_old).collect();
    let is_free = |lane: &Judge| is_old(lane) && (args.resumable || !is_needed(lane));
    let mut lanes: Vec<Judge> = Judge::lanes(scope)?.into_iter().filter(is_free).collect();
    if args.dry_run {
        judges.retain(|judge| !judge.is_used());
        lanes.retain(|lane| !lane.is_used());
    } else {
        removed.iter().try_for_each(RunDir::remove)?;
        (judges, lanes) = (remove_free(judges)?, remove_free(lanes)?);
    }
    let left = if runs_now { Vec::new() } else { iteration_files::older(project, args.older_than) };
    if !args.dry_run {
        iteration_files::remove(project, &left);
    }
    let verb = if args.dry_run { "would be removed" } else { "removed" };
    let freed = [sizes(&judges, "judge"), sizes(&lanes, "lane")].into_iter().flatten();
    let freed: Vec<String> = freed.map(|freed| format!(" and {freed}")).collect();
    let freed = freed.concat();
    let mut said = format!("{}{freed} {verb}\n", count(removed.len() as u64, "run"));
    if !left.is_empty() {
        let left = count(left.len() as u64, "file");
        let _ = writeln!(said, "{left} of iterations in {PROJECT_DIR} {verb}");
    }
    if !kept.is_empty() {
        let kept = count(kept.len() as u64, "run");
        let _ = writeln!(said, "{kept} can be resumed and stay; --resumable removes them too");
    }
    print_lines(&said)?;
    Ok(0)
}

/// Whether `ralph resume` would continue a run that is not running.
fn can_be_resumed(run: &RunDir) -> bool {
    let Some(started) = journal::started(&run.journal()) else { return false };
    // A loop inside a conversation is started again there.
    let in_session = started.setup.session.is_some_and(|session| session.id.is_some());
    let is_over =
        journal::fold(&run.journal()).is_ok_and(|it| !Standing::of(false, &it.run.state).can_go_on());
    !in_session && !is_over
}

/// Whether the newest fleet of a lane's project can be resumed: it goes on in its lanes.
fn is_needed(lane: &Judge) -> bool {
    let fleet = lane.project.as_ref().and_then(|project| FleetDir::newest(project).ok());
    let state = fleet.and_then(|fleet| FileLedger::look(&fleet).ok());
    state.is_some_and(|state| state.outcome != Some(FleetOutcome::Done))
}

/// Removes those that no one uses, and returns them.
fn remove_free(places: Vec<Judge>) -> Result<Vec<Judge>> {
    let mut removed = Vec::new();
    for place in places {
        if place.remove()? {
            removed.push(place);
        }
    }
    Ok(removed)
}

/// How many of these there are, and what they take on the disk.
fn sizes(places: &[Judge], noun: &str) -> Option<String> {
    let disk = places.iter().map(|place| place.disk).sum();
    (!places.is_empty()).then(|| format!("{} ({})", count(places.len() as u64, noun), bytes(disk)))
}

/// Removes those runs that ended longer ago than this; returns how many.
pub(super) fn remove_older(runs: &[RunDir], age: Duration) -> Result<usize> {
    let mut removed = 0;
    for run in runs.iter().filter(|run| is_older(run, age)) {
        run.remove()?;
        removed += 1;
    }
    Ok(removed)
}

/// The journal was last written that long ago and no process is writing it.
fn is_older(run: &RunDir, age: Duration) -> bool {
    let written = std::fs::metadata(run.journal()).and_then(|file| file.modified());
    let past = written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|passed| age <= passed));
    past && !journal::is_running(&run.journal())
}

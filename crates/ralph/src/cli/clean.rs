//! `ralph clean`: removes the records of old runs.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use clap::Args;
use ralph_core::duration::parse_duration;
use ralph_sys::error::Result;

use super::print;
use crate::{
    journal::{self, run_dir::RunDir},
    report::summary::count,
};

/// Remove the records of runs that ended long ago
///
/// Running loops are left alone. A run whose record is gone cannot be resumed.
///
/// Example: ralph clean --older-than 7d
#[derive(Args, Debug)]
pub(super) struct CleanArgs {
    /// Remove what ended longer ago than this
    #[arg(long, value_name = "DURATION", default_value = "30d", value_parser = parse_duration)]
    older_than: Duration,

    /// Of all projects
    #[arg(short, long)]
    all: bool,

    /// Only say what would be removed
    #[arg(short = 'n', long)]
    dry_run: bool,
}

/// Removes the records.
pub(super) fn main(args: &CleanArgs, project: &Path) -> Result<u8> {
    let runs = if args.all { RunDir::all()? } else { RunDir::of_project(project)? };
    let (removed, verb) = if args.dry_run {
        (runs.iter().filter(|run| is_older(run, args.older_than)).count(), "would be removed")
    } else {
        (remove_older(&runs, args.older_than)?, "removed")
    };
    print(&format!("{} {verb}\n", count(removed as u64, "run")))?;
    Ok(0)
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

/// The journal was last written that long ago and nobody is writing it.
fn is_older(run: &RunDir, age: Duration) -> bool {
    let written = std::fs::metadata(run.journal()).and_then(|file| file.modified());
    let past = written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|passed| age <= passed));
    past && !journal::is_running(&run.journal())
}

//! What it costs to judge a commit in a clean clone.

use std::{path::Path, process::Command, time::Duration};

use anyhow::{Context, Result};
use serde_json::Value;

use super::{
    Effort,
    clock::{self, Sample, median},
    place::Place,
    table::Table,
};

/// As many files as a large project has, and as a small one has.
const LARGE: usize = 50_000;
const SMALL: usize = 100;
/// What a claim may cost more in a small project.
const MAX_CLAIM: Duration = Duration::from_millis(60);

/// Measures how long the judge takes to be at a new commit, against `git status` in the same repository.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let (status, brought, _) = compare(place, effort.rounds(12), LARGE)?;
    table.ratio("bringing the judge to a commit, 50,000 files, against git status", status, brought, 3.0);
    let (status, brought, ran) = compare(place, effort.rounds(40), SMALL)?;
    table.time("  100 files and a guardrail that does nothing", brought + ran, MAX_CLAIM);
    table.note(format!("judge, 100 files: git status {:.1} ms", status * 1e3));
    Ok(())
}

/// The medians, in seconds, of `git status`, of bringing the judge to a commit, and of the guardrail in it.
fn compare(place: &Place, rounds: usize, files: usize) -> Result<(f64, f64, f64)> {
    place.renew()?;
    furnish(place, files)?;
    let (mut statuses, mut brought, mut ran) = (Vec::new(), Vec::new(), Vec::new());
    // The first round makes the clone.
    for round in 0..=rounds {
        fs_err::write(place.current("project/folder-0/file-0"), round.to_string())?;
        git(place, &["commit", "--quiet", "--all", "--message", "more"])?;
        let status = git(place, &["status", "--porcelain"])?;
        let mut judge = place.ralph()?;
        clock::run(judge.args(["judge", "--judge-only", "--json", "--guardrail", "true"]), 0)?;
        let said: Value = serde_json::from_str(&fs_err::read_to_string(place.current("stdout"))?)?;
        let seconds = |value: &Value| value.as_f64().context("a time").map(|ms| ms / 1e3);
        if 0 < round {
            statuses.push(status.seconds);
            brought.push(seconds(&said["bringMs"])?);
            ran.push(seconds(&said["guardrails"][0]["inJudge"]["ms"])?);
        }
    }
    let middle = |values: Vec<f64>| median(values.into_iter());
    Ok((middle(statuses), middle(brought), middle(ran)))
}

/// A repository with so many files.
pub(super) fn furnish(place: &Place, files: usize) -> Result<()> {
    let project = place.current("project");
    for number in 0..files {
        let folder = project.join(format!("folder-{}", number / 100));
        if number % 100 == 0 {
            fs_err::create_dir(&folder)?;
        }
        let text = format!("file {number}\n").repeat(8);
        fs_err::write(folder.join(format!("file-{}", number % 100)), text)?;
    }
    for args in [
        &["init", "--quiet"][..],
        &["config", "user.name", "bench"],
        &["config", "user.email", "bench@localhost"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "first"],
    ] {
        git(place, args)?;
    }
    Ok(())
}

fn git(place: &Place, args: &[&str]) -> Result<Sample> {
    let mut git: Command = place.command(Path::new("git"))?;
    clock::run(git.args(args), 0)
}

//! To whom a person speaks: a run, the run of a lane, or all lanes of a fleet that are at work.

use std::path::Path;

use ralph_sys::error::{Error, Result};

use crate::{
    cli::runs,
    fleet::{FleetDir, lanes_at_work},
    journal::{self, run_dir::RunDir},
};

/// The runs that are meant.
pub(super) fn runs(given: Option<&str>, project: &Path) -> Result<Vec<RunDir>> {
    let Some(given) = given else { return without_name(project) };
    if is_lane(given) {
        let fleet = FleetDir::newest(project)?;
        let mut lanes = lanes_at_work(&fleet)?;
        lanes.retain(|(lane, _)| lane == given);
        return if lanes.is_empty() {
            Err(Error::new(format!("nothing is at work in {given}"))
                .hint("`ralph fleet status` shows the lanes"))
        } else {
            Ok(lanes.into_iter().map(|(_, run)| run).collect())
        };
    }
    match FleetDir::by_id(given) {
        Some(fleet) => of_fleet(&fleet),
        None => Ok(vec![runs::by_id(given)?]),
    }
}

/// The only run that is meant.
pub(super) fn only(given: Option<&str>, project: &Path) -> Result<RunDir> {
    let mut meant = runs(given, project)?;
    match (meant.len(), meant.pop()) {
        (1, Some(run)) => Ok(run),
        _ => {
            Err(Error::new("several runs are at work")
                .hint("name one of them: `ralph fleet status` shows them"))
        }
    }
}

/// Whether a word names a run rather than being something to say.
pub(super) fn is_one(word: &str) -> bool {
    let is_run = || RunDir::all().is_ok_and(|runs| runs.iter().any(|run| run.id() == word));
    is_lane(word)
        || !word.contains(' ') && (is_run() || FleetDir::by_id(word).is_some_and(|it| it.id() == word))
}

fn is_lane(word: &str) -> bool {
    word.strip_prefix("lane-").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// What runs in the project, or ran last.
fn without_name(project: &Path) -> Result<Vec<RunDir>> {
    if let Ok(run) = runs::running(project) {
        return Ok(vec![run]);
    }
    let fleet = FleetDir::of_project(project)?.pop().filter(|it| journal::is_running(&it.journal()));
    match fleet {
        Some(fleet) => of_fleet(&fleet),
        None => Ok(vec![runs::newest(project)?]),
    }
}

fn of_fleet(fleet: &FleetDir) -> Result<Vec<RunDir>> {
    let lanes = lanes_at_work(fleet)?;
    if lanes.is_empty() {
        return Err(Error::new(format!("no lane of fleet {} is at work", fleet.id()))
            .hint("`ralph fleet status` shows its items and lanes"));
    }
    Ok(lanes.into_iter().map(|(_, run)| run).collect())
}

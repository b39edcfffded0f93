//! To whom a person speaks: a run, the run of a lane, or all lanes of a fleet that are at work.

use std::path::Path;

use ralph_core::fleet::Lease;
use ralph_sys::error::{Error, Result};

use super::far::FarItem;
use crate::{
    cli::runs,
    fleet::{FarRun, FileLedger, FleetDir, lanes_at_work},
    journal::{self, run_dir::RunDir},
};

/// Who is spoken to.
pub(super) enum Addressee {
    Here(RunDir),
    Far(FarItem),
}

/// The runs that are meant, as far as their records are here.
pub(super) fn runs(given: Option<&str>, project: &Path) -> Result<Vec<RunDir>> {
    let meant = addressees(given, project)?.into_iter().filter_map(|it| match it {
        Addressee::Here(run) => Some(run),
        Addressee::Far(far) => far.run,
    });
    Ok(meant.collect())
}

/// Those who are meant.
pub(super) fn addressees(given: Option<&str>, project: &Path) -> Result<Vec<Addressee>> {
    let Some(given) = given else { return without_name(project) };
    let of_worker = of_worker(given, project)?;
    if !of_worker.is_empty() {
        return Ok(of_worker);
    }
    if is_lane(given) {
        let fleet = FleetDir::newest(project)?;
        let mut lanes = lanes_at_work(&fleet)?;
        lanes.retain(|(lane, _)| lane == given);
        return if lanes.is_empty() {
            Err(Error::new(format!("nothing is at work in {given}"))
                .hint("`ralph fleet status` shows the lanes"))
        } else {
            Ok(lanes.into_iter().map(|(_, run)| Addressee::Here(run)).collect())
        };
    }
    if let Some(fleet) = FleetDir::by_id(given) {
        return of_fleet(&fleet);
    }
    let run = runs::by_id(given)?;
    let far = FarRun::of(&run).and_then(|far| Some((FleetDir::by_id(&far.fleet)?, far)));
    Ok(vec![match far {
        Some((fleet, FarRun { item, worker, .. })) => {
            Addressee::Far(FarItem { fleet, item, worker: Some(worker), run: Some(run) })
        }
        None => Addressee::Here(run),
    }])
}

/// The items that a worker of the newest fleet is at, if it has one of this name.
fn of_worker(name: &str, project: &Path) -> Result<Vec<Addressee>> {
    let Some(fleet) = FleetDir::of_project(project)?.pop() else { return Ok(Vec::new()) };
    Ok(far_items(&fleet, Some(name))?.into_iter().map(Addressee::Far).collect())
}

/// What workers elsewhere are at: all of them, or one.
fn far_items(fleet: &FleetDir, worker: Option<&str>) -> Result<Vec<FarItem>> {
    let state = FileLedger::look(fleet)?;
    if !state.is_far() {
        return Ok(Vec::new());
    }
    let runs = fleet.far_runs();
    let of_item = |(item, held): (&String, &Lease)| {
        let is_its = |run: &&RunDir| {
            FarRun::of(run).is_some_and(|far| far.item == *item && far.worker == held.worker)
                && journal::is_running(&run.journal())
        };
        let (worker, run) = (worker.map(str::to_owned), runs.iter().rfind(is_its).cloned());
        FarItem { fleet: fleet.clone(), item: item.clone(), worker, run }
    };
    let held = state.items.iter().filter_map(|(id, item)| Some((id, item.held()?)));
    Ok(held.filter(|(_, held)| worker.is_none_or(|name| held.worker == name)).map(of_item).collect())
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
pub(super) fn is_one(word: &str, project: &Path) -> bool {
    let is_run = || RunDir::all().is_ok_and(|runs| runs.iter().any(|run| run.id() == word));
    let is_fleet = || FleetDir::by_id(word).is_some_and(|it| it.id() == word);
    is_lane(word) || !word.contains(' ') && (is_run() || is_fleet() || is_worker(word, project))
}

/// Whether a worker of the newest fleet is called so: one that is at work, or was.
fn is_worker(word: &str, project: &Path) -> bool {
    let fleet = FleetDir::of_project(project).ok().and_then(|mut fleets| fleets.pop());
    let was_at_work =
        |fleet: &FleetDir| fleet.far_runs().iter().filter_map(FarRun::of).any(|far| far.worker == word);
    fleet.is_some_and(|fleet| {
        was_at_work(&fleet) || far_items(&fleet, Some(word)).is_ok_and(|items| !items.is_empty())
    })
}

fn is_lane(word: &str) -> bool {
    word.strip_prefix("lane-").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// What runs in the project, or ran last.
fn without_name(project: &Path) -> Result<Vec<Addressee>> {
    if let Ok(run) = runs::running(project) {
        return Ok(vec![Addressee::Here(run)]);
    }
    let fleet = FleetDir::of_project(project)?.pop().filter(|it| journal::is_running(&it.journal()));
    match fleet {
        Some(fleet) => of_fleet(&fleet),
        None => Ok(vec![Addressee::Here(runs::newest(project)?)]),
    }
}

fn of_fleet(fleet: &FleetDir) -> Result<Vec<Addressee>> {
    let far = far_items(fleet, None)?;
    if !far.is_empty() {
        return Ok(far.into_iter().map(Addressee::Far).collect());
    }
    let lanes = lanes_at_work(fleet)?;
    if lanes.is_empty() {
        return Err(Error::new(format!("no lane of fleet {} is at work", fleet.id()))
            .hint("`ralph fleet status` shows its items and lanes"));
    }
    Ok(lanes.into_iter().map(|(_, run)| Addressee::Here(run)).collect())
}

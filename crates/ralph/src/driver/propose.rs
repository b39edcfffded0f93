//! Proposes what a run did when it ends, where the settings ask for that.
//!
//! Invariant: it is proposed before the run is on record as over, so that a ralph that is killed in between does it when the
//! run is resumed; an open pull request is changed and not made again.

use ralph_core::{
    engine::{entry::Entry, event::Event, outcome::Outcome},
    pull_request::{Due, due},
    setup::ScmTask,
};
use ralph_sys::error::Result;

use super::site::Site;
use crate::{forge::pull_request::Proposed, journal, project::git::Git, receipt};

/// Proposes it, or says why not.
pub(super) fn propose(site: &mut Site, repository: Option<&Git>, outcome: &Outcome, exit_code: u8) {
    let wants = |scm: &ralph_core::setup::Scm| scm.tasks.contains(&ScmTask::PullRequest);
    let (true, Some(git)) = (site.setup.scm.as_ref().is_some_and(wants), repository) else { return };
    let (pushes, draft) = match due(outcome, exit_code, site.run().state.needs_person()) {
        Due::No => return,
        Due::Waits => return site.ledger.warn("the pull request waits for `ralph accept`".to_owned()),
        Due::Propose { pushes, draft } => (pushes, draft),
    };
    let ended = Event::RunEnded { outcome: outcome.clone(), exit_code };
    if let Err(error) = proposed(site, git, ended, (pushes, draft)) {
        let hints: Vec<String> = error.hints().iter().map(|hint| format!("; {hint}")).collect();
        site.ledger.warn(format!("there is no pull request: {error}{}", hints.concat()));
    }
}

fn proposed(site: &mut Site, git: &Git, ended: Event, (pushes, draft): (bool, bool)) -> Result<()> {
    let entry = Entry { at: journal::now(), event: ended };
    let mut run = site.run().clone();
    run.apply(&entry);
    let Some((_, mut seen)) = site.ledger.for_receipt() else { return Ok(()) };
    seen.fold.take(&entry);
    let Site { supervisor, dir, .. } = site;
    let judged = receipt::foreseen(supervisor, dir, git, &run, seen)?;
    let made = Proposed { supervisor, git, run: &run, judged: &judged, pushes, draft }.propose()?;
    if let Some(made) = made {
        site.ledger.record(Event::PullRequest(made));
    }
    Ok(())
}

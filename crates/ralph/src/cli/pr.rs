//! `ralph pr`: proposes what a run did to others.

use std::path::Path;

use clap::Args;
use ralph_core::{
    engine::{
        Run,
        entry::Entry,
        event::{Event, PullRequestMade},
    },
    receipt::compose::ReceiptFold,
};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::{persons_command::refuse_inside_run, print_lines, runs, warn};
use crate::{
    forge::pull_request::Proposed,
    journal::{self, Journal, run_dir::RunDir},
    project::git::Git,
    receipt::{self, Issue, Seen},
};

/// Push the branch of a run and open a pull request
///
/// The description has the task, the checks, the findings, the cost and the place of the receipt. If the branch has
/// an open pull request, ralph updates it. For a run that did not exit with 0, ralph opens a draft. Ralph uses `gh`
/// for GitHub and push options for GitLab; for any other forge it pushes and prints the address. With `"pr"` in
/// scm.tasks, every run does this at its end.
///
/// Example: ralph pr
#[derive(Args, Debug)]
pub(super) struct PrArgs {
    /// The run's id or its beginning; without it, the newest run of this project
    run: Option<String>,
}

/// Proposes it, and records that.
pub(super) fn main(args: &PrArgs, project: &Path) -> Result<u8> {
    refuse_inside_run("pr")?;
    let dir = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    fs_err::metadata(dir.journal())?;
    let mut journal = Journal::open(&dir.journal())?;
    let run = journal::fold(&dir.journal())?.run;
    let id = dir.id();
    if run.state.outcome().is_none() {
        return Err(
            Error::new(format!("run {id} has not ended")).hint(format!("continue it: ralph resume {id}"))
        );
    }
    if run.state.needs_person() {
        return Err(Error::new(format!("run {id} has findings, and a person must decide"))
            .hint(format!("take it as it is, which proposes it, too: ralph accept {id}")));
    }
    let made = propose(&dir, None)?;
    let Some(made) = made else {
        return Err(Error::new(format!("run {id} made no commit; there is nothing to propose")));
    };
    let line = made.line();
    record(&mut journal, Some(made))?;
    journal.unlock();
    renew_receipt(&dir, &run)?;
    print_lines(&format!("{line}\n"))?;
    Ok(0)
}

/// Proposes a run that has ended, with what a person decides about it just now.
pub(super) fn propose(dir: &RunDir, decided: Option<Event>) -> Result<Option<PullRequestMade>> {
    let folded = journal::fold(&dir.journal())?;
    let (mut run, mut entries) = (folded.run, folded.entries);
    if let Some(event) = decided {
        let entry = Entry { at: journal::now(), event };
        run.apply(&entry);
        entries.push(entry);
    }
    let project = &run.started.setup.project;
    let mut supervisor = Supervisor::new()?;
    let git = Git::find(&mut supervisor, project)?;
    let git = git.ok_or_else(|| Error::new(format!("{} is not in a git repository", project.display())))?;
    let seen = Seen { fold: ReceiptFold::of(&entries), ..Seen::default() };
    let judged = receipt::foreseen(&mut supervisor, dir, &git, &run, seen)?;
    let draft = judged.predicate.run.exit_code != 0;
    let made =
        Proposed { supervisor: &mut supervisor, git: &git, run: &run, judged: &judged, pushes: true, draft }
            .propose();
    supervisor.release();
    made
}

/// Keeps what was made in the record, and says so.
pub(super) fn record(journal: &mut Journal, made: Option<PullRequestMade>) -> Result<()> {
    if let Some(made) = made {
        journal.append(&Entry { at: journal::now(), event: Event::PullRequest(made) })?;
    }
    Ok(())
}

/// The receipt is about the whole record.
fn renew_receipt(dir: &RunDir, run: &Run) -> Result<()> {
    if receipt::read(dir).is_err() {
        return Ok(());
    }
    let mut supervisor = Supervisor::new()?;
    let repository = Git::find(&mut supervisor, &run.started.setup.project).ok().flatten();
    let issue = Issue { repository: repository.as_ref(), key_reachable: None };
    for warning in receipt::issue(&mut supervisor, dir, &issue)? {
        warn(&warning);
    }
    supervisor.release();
    Ok(())
}

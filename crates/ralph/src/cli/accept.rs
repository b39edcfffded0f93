//! `ralph accept`: a person looked at the findings of a run, and takes the work as it is.

use std::path::Path;

use clap::Args;
use ralph_core::{
    engine::{Run, entry::Entry, event::Event},
    setup::ScmTask,
};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::{persons_command::refuse_inside_run, print_lines, runs, warn};
use crate::{
    driver::task_failure,
    fleet::FarRun,
    journal::{self, Journal, run_dir::RunDir},
    project::git::Git,
    receipt::{self, Issue},
};

/// Accept a run that is done, with findings
///
/// A run whose checks passed exits with 7 if those checks may have been weakened: a test was deleted, a story was
/// approved at the review cap, the agent called a command that only a person may use. Look at the findings
/// (`ralph status`), then accept the work, or send it back with `ralph reject`. Postponed tasks, such as a push, run
/// now.
///
/// Example: ralph accept -m "the concern is a matter of taste"
#[derive(Args, Debug)]
pub(super) struct AcceptArgs {
    /// The run's id or its beginning; without it, the newest run of this project
    run: Option<String>,

    /// Why, for the record
    #[arg(short, long, value_name = "WHY")]
    message: Option<String>,
}

/// Records it, and does what was postponed.
pub(super) fn main(args: &AcceptArgs, project: &Path) -> Result<u8> {
    refuse_inside_run("accept")?;
    let dir = match &args.run {
        Some(id) => runs::by_id(id)?,
        None => runs::newest(project)?,
    };
    FarRun::refuse(&dir, &format!("accept {}", dir.id()))?;
    let (mut journal, run) = with_findings(&dir)?;
    // Before it is on record: who is killed in between accepts again, and a push that is made twice is made once.
    for failure in postponed(&run)? {
        warn(&failure);
    }
    if run.started.setup.scm.as_ref().is_some_and(|scm| scm.tasks.contains(&ScmTask::PullRequest)) {
        let accepted = Event::Accepted { why: args.message.clone() };
        match super::pr::propose(&dir, Some(accepted)) {
            Ok(made) => super::pr::record(&mut journal, made)?,
            Err(error) => warn(&format!("there is no pull request: {error}")),
        }
    }
    journal.append(&Entry { at: journal::now(), event: Event::Accepted { why: args.message.clone() } })?;
    let mut supervisor = Supervisor::new()?;
    let repository = Git::find(&mut supervisor, &run.started.setup.project).ok().flatten();
    // What a run of an older ralph has no receipt of stays without one.
    if receipt::read(&dir).is_ok() {
        let issue = Issue { repository: repository.as_ref(), key_reachable: None };
        for warning in receipt::issue(&mut supervisor, &dir, &issue)? {
            warn(&warning);
        }
    }
    supervisor.release();
    journal.unlock();
    print_lines(&format!("accepted run {}\n", dir.id()))?;
    Ok(0)
}

/// A run that a person must decide about, with its journal locked.
pub(super) fn with_findings(dir: &RunDir) -> Result<(Journal, Run)> {
    // A run that is gone must not come back as an empty journal.
    fs_err::metadata(dir.journal())?;
    let journal = Journal::open(&dir.journal())?;
    let run = journal::fold(&dir.journal())?.run;
    if run.state.is_done_with_findings() {
        return Ok((journal, run));
    }
    let id = dir.id();
    Err(if run.state.findings().is_empty() {
        Error::new(format!("run {id} has no findings; there is nothing to decide"))
    } else if run.state.needs_person() {
        Error::new(format!("run {id} is not done")).hint(format!("continue it: ralph resume {id}"))
    } else {
        Error::new(format!("the findings of run {id} are accepted already"))
    })
}

/// Does what the settings do after a commit and what waited for a person; returns what failed.
fn postponed(run: &Run) -> Result<Vec<String>> {
    let setup = &run.started.setup;
    let Some(scm) = setup.scm.as_ref().filter(|_| 0 < run.state.spent().commits) else {
        return Ok(Vec::new());
    };
    let mut supervisor = Supervisor::new()?;
    let tasks = scm.tasks.iter().filter(|task| task.follows_commit());
    Ok(tasks.filter_map(|task| task_failure(&mut supervisor, scm, setup, task.words())).collect())
}

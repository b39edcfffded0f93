//! Commits what passed the gates, and does what else the settings ask of the SCM.

mod beyond;
mod message;

use std::{
    ffi::OsString,
    io,
    time::{Duration, Instant},
};

use ralph_core::{
    engine::{
        commit::{ChangeCause, CommitEnd},
        event::Event,
    },
    prompt::truncate,
    setup::{Scm, ScmTask, Setup},
};
use ralph_sys::{
    boot,
    calls::{refusal, succeeded, unattended},
    error::Result,
    process::{Spec, Supervisor, Waited},
};

use super::{agent::Agent, containment::Containment, prompts::Prompts, site::Site};
use crate::forge;
use crate::project::git::{self, Change, ChangeList, Git, LastCommit, NewCommit, TreeLook, locks::lock_in};
use message::Worded;

/// How much of an answer or of a refusal is looked at.
const MAX_ANSWER_LEN: usize = 64 * 1024;
/// How much of a refusal the agent is told, in characters.
const MAX_TOLD_CHARS: usize = 4000;

/// How long the git of another may hold a lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(15);
/// Between two tries.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

const CHANGED: &str = "files changed while the agent was asked for a commit message: the guardrails run again, \
                       and the agent is not asked any more in this run";

/// A commit that is being made, and who is needed for it.
pub(super) struct Committing<'a> {
    pub(super) site: &'a mut Site,
    /// Nothing where another SCM commits.
    pub(super) git: Option<&'a Git>,
    pub(super) agent: &'a Agent,
    /// Who is asked for a message, where that is not who had the turn.
    pub(super) wording: Option<String>,
    pub(super) prompts: &'a mut Prompts,
    pub(super) containment: &'a mut Containment,
    /// What the files are like, where nothing has run since that is known.
    pub(super) look: Option<TreeLook>,
}

impl Committing<'_> {
    /// Does the SCM tasks in their order and records how the commit went. Returns what the files are like now, where that is
    /// known without another look.
    pub(super) fn commit(mut self) -> Option<TreeLook> {
        let Some(scm) = self.site.setup.scm.clone() else {
            self.site.ledger.record(Event::CommitEnded(CommitEnd::NotWanted));
            return self.look;
        };
        let mut end = CommitEnd::NotWanted;
        for task in &scm.tasks {
            if let ScmTask::Command(words) = task {
                // What follows a commit that is claimed to be the last waits for the judge.
                let is_commit = matches!(end, CommitEnd::Made { .. } | CommitEnd::Already { .. });
                self.look = None;
                if !is_commit || !self.site.run().state.awaits_judge(&self.site.run().plan) {
                    run_task(self.site, &scm, words);
                }
                continue;
            }
            if matches!(task, ScmTask::Notes | ScmTask::Branch | ScmTask::PullRequest) {
                // A branch is made before the run, and there is a receipt when it has ended.
                continue;
            }
            // A machine that cannot run git for the moment is a commit to try again, not the end of the run.
            end = self
                .make_commit(&scm)
                .unwrap_or_else(|error| CommitEnd::Failed { output: error.to_string() });
            if !matches!(end, CommitEnd::Made { .. } | CommitEnd::Already { .. }) {
                break;
            }
        }
        // The user ended git: it has refused nothing.
        let is_cut_off = matches!(end, CommitEnd::Failed { .. }) && self.site.supervisor.is_ending();
        if is_cut_off {
            self.site.ledger.stop_requested();
        } else {
            // After the other tasks, so that a ralph that is killed in between does them when it goes on.
            self.site.ledger.record(Event::CommitEnded(end));
        }
        self.look
    }

    fn make_commit(&mut self, scm: &Scm) -> Result<CommitEnd> {
        match self.git {
            Some(git) => self.make_git_commit(git),
            None => self.make_other_commit(scm),
        }
    }

    fn make_git_commit(&mut self, git: &Git) -> Result<CommitEnd> {
        if let Some(elsewhere) = other_branch(self.site, git) {
            return Ok(CommitEnd::Failed { output: elsewhere });
        }
        let look = self.look.take();
        let head = git.head(&mut self.site.supervisor)?;
        // By an earlier process of the run, which did not live to report it.
        let announced = self.site.run().memory.announced.clone();
        if let Some(announced) = announced.as_ref().filter(|announced| announced.head != head) {
            let last = git.last_commit(&mut self.site.supervisor)?;
            if last.message == announced.message.trim() {
                return self.made(git, last);
            }
        }
        let has_moved = self.notice_lost_commits(git, head.as_deref())?;
        let mut listing = match look.filter(|look| look.head == head) {
            Some(look) => look.listing,
            None => git.listing(&mut self.site.supervisor)?,
        };
        let changes = git::since(&self.site.setup.dirty, listing.changes.clone());
        if changes.is_empty() {
            if !has_moved {
                self.look = Some(TreeLook { head, listing });
                return Ok(CommitEnd::Nothing);
            }
            return Ok(CommitEnd::Already { beyond: beyond::files(self.site, git)? });
        }
        if announced.is_some() {
            // Announced by a ralph that died, and not made: no one knows what happened to the files meanwhile.
            return Ok(CommitEnd::Changed { cause: Some(ChangeCause::RalphDied) });
        }
        let Worded { message, was_asked } = self.message()?;
        // What is committed is what passed the gates, whatever the agent did while it was asked.
        if was_asked {
            listing = git.listing(&mut self.site.supervisor)?;
            if git::since(&self.site.setup.dirty, listing.changes.clone()) != changes
                || git.head(&mut self.site.supervisor)? != head
            {
                self.site.ledger.warn(CHANGED.to_owned());
                return Ok(CommitEnd::Changed { cause: Some(ChangeCause::AgentAsked) });
            }
        }
        self.site.ledger.record(Event::CommitStarted { head, message: message.clone(), boot: boot::id() });
        match self.commit_patiently(git, &changes, &listing, &message)? {
            Ok(NewCommit { left }) => {
                let last = git.last_commit(&mut self.site.supervisor)?;
                self.look = left.map(|listing| TreeLook { head: Some(last.id.clone()), listing });
                self.made(git, last)
            }
            Err(output) => Ok(CommitEnd::Failed { output: truncate(&output, MAX_TOLD_CHARS) }),
        }
    }

    /// Whether HEAD has gone forward since the turn began. If it went elsewhere, commits may be lost from sight: that
    /// is no work, and someone should know how to get them back.
    fn notice_lost_commits(&mut self, git: &Git, head: Option<&str>) -> Result<bool> {
        let before = self.site.run().memory.turn.as_ref().and_then(|last| last.turn.head.clone());
        let (Some(before), Some(head)) = (before.as_deref(), head) else {
            return Ok(before.as_deref() != head);
        };
        if before == head {
            return Ok(false);
        }
        if git.is_in_history(&mut self.site.supervisor, before, head)? {
            return Ok(true);
        }
        let (before, head) = (short(before), short(head));
        self.site.ledger.warn(format!(
            "the agent moved HEAD from {before} to {head}, which does not contain it; to get back: git branch rescued {before}"
        ));
        Ok(false)
    }

    /// The git of another may be at work for a moment: it is named, and waited for.
    fn commit_patiently(
        &mut self,
        git: &Git,
        changes: &[Change],
        listing: &ChangeList,
        message: &str,
    ) -> io::Result<std::result::Result<NewCommit, String>> {
        let until = Instant::now() + LOCK_TIMEOUT;
        let (mut is_named, mut listing) = (false, Some(listing));
        loop {
            let Self { site, containment, .. } = &mut *self;
            let limit = call_timeout(&site.setup);
            // Hooks and filters of the repository may be the agent's work.
            let withheld = site.setup.withheld();
            let mut contain = |spec: Spec| {
                let spec = withheld.iter().fold(spec, |spec, name| spec.without(*name));
                containment.wrap(spec.within(limit))
            };
            let committed = git.commit(&mut site.supervisor, changes, listing, message, &mut contain)?;
            let Some(lock) = committed.as_ref().err().and_then(|refusal| lock_in(refusal)) else {
                return Ok(committed);
            };
            if until < Instant::now() {
                return Ok(committed);
            }
            // The other git may stage something.
            listing = None;
            if !std::mem::replace(&mut is_named, true) {
                let text = format!("git is locked by another process: ralph waits until {lock} is gone");
                self.site.ledger.warn(text);
            }
            if self.site.supervisor.wait(Instant::now() + POLL_INTERVAL, &mut || {}) == Waited::StopRequested
            {
                return Ok(committed);
            }
        }
    }

    fn made(&mut self, git: &Git, last: LastCommit) -> Result<CommitEnd> {
        let LastCommit { short_id, message, .. } = last;
        let subject = message.lines().next().unwrap_or_default().to_owned();
        Ok(CommitEnd::Made { commit: short_id, subject, beyond: beyond::files(self.site, git)? })
    }

    /// Any other SCM that has `status` and `commit -m`.
    fn make_other_commit(&mut self, scm: &Scm) -> Result<CommitEnd> {
        let status =
            self.site.supervisor.capture(self.task_spec(scm, vec!["status".into()]), MAX_ANSWER_LEN)?;
        if succeeded(&status) && status.out.trim_ascii().is_empty() {
            return Ok(CommitEnd::Nothing);
        }
        let message = self.message()?.message;
        self.site.ledger.record(Event::CommitStarted {
            head: None,
            message: message.clone(),
            boot: boot::id(),
        });
        let args = vec!["commit".into(), "-m".into(), message.clone().into()];
        let captured = self.site.supervisor.capture(self.task_spec(scm, args), MAX_ANSWER_LEN)?;
        if succeeded(&captured) {
            return Ok(CommitEnd::Made { commit: String::new(), subject: message, beyond: Vec::new() });
        }
        Ok(CommitEnd::Failed { output: truncate(&refusal(&captured), MAX_TOLD_CHARS) })
    }

    fn task_spec(&self, scm: &Scm, args: Vec<OsString>) -> Spec {
        let Setup { project, .. } = &self.site.setup;
        unattended(scm.command.clone().into(), project, args).within(call_timeout(&self.site.setup))
    }
}

/// How long a call may take that runs hooks, signs or waits for another machine: as long as a guardrail.
fn call_timeout(setup: &Setup) -> Option<Duration> {
    setup.timeouts.gate_timeout_ms.map(Duration::from_millis)
}

/// A task that is not a commit, unless it waits for a person. A failure is shown; the loop goes on.
pub(super) fn run_task(site: &mut Site, scm: &Scm, task: &str) {
    if site.run().state.needs_person() {
        return site.ledger.warn(format!("{} {task} waits for `ralph accept`", scm.command));
    }
    let Site { supervisor, setup, ledger, .. } = site;
    if let Some(failure) = task_failure(supervisor, scm, setup, task) {
        ledger.warn(failure);
    }
}

/// Runs a task that is not a commit; returns how it failed.
pub(crate) fn task_failure(
    supervisor: &mut Supervisor,
    scm: &Scm,
    setup: &Setup,
    task: &str,
) -> Option<String> {
    let words = shell_words::split(task).unwrap_or_else(|_| vec![task.to_owned()]);
    let mut args: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    if git::is_git(&scm.command) && args.first().is_some_and(|verb| verb == "push") {
        // What runs before a push must not be what the agent wrote.
        args.push("--no-verify".into());
        if args.len() == 2 && scm.is_proposed() {
            // A branch that ralph made is not there yet.
            let remote =
                forge::remote_name(supervisor, &setup.project).unwrap_or_else(|| "origin".to_owned());
            args.extend(["--set-upstream".into(), remote.into(), "HEAD".into()]);
        }
    }
    let call = unattended(scm.command.clone().into(), &setup.project, args).within(call_timeout(setup));
    let failure = match supervisor.capture(call, MAX_ANSWER_LEN) {
        Ok(captured) if succeeded(&captured) => return None,
        Ok(captured) => refusal(&captured),
        Err(error) => error.to_string(),
    };
    Some(format!("{} {task} failed: {failure}", scm.command))
}

/// Says that another branch is checked out than the run is for, if one is.
fn other_branch(site: &Site, git: &Git) -> Option<String> {
    let (expected, found) = (site.run().plan.branch.as_ref()?, git.checked_out()?);
    (found != *expected).then(|| format!("`{found}` is checked out, and the run is for `{expected}`"))
}

/// A commit id as people write it.
fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

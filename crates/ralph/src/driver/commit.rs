//! Commits what passed the gates, and does what else the settings ask of the SCM.

use std::{
    ffi::OsString,
    io,
    path::Path,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};
use ralph_agents::{Output, Usage};
use ralph_core::duration::millis;
use ralph_core::{
    engine::{
        commit::{ChangeCause, CommitEnd},
        event::Event,
        memory::Announced,
    },
    prompt::{commit_message, message_from_task, truncate},
    setup::{MessageFrom, Scm},
};
use ralph_sandbox::{Sandbox, spool::FOLDER};
use ralph_sys::{
    calls::{refusal, succeeded, unattended},
    error::Result,
    files::Root,
    process::{ProcessEvent, Sink, Spec, Waited},
};

use super::{
    Driver,
    turn::{Call, copied_to},
};
use crate::{
    journal::hook_notes,
    project::git::{self, Change, Git, index_lock::is_locked},
};

/// What the agent is asked, word for word.
const MESSAGE_PROMPT: &str =
    "Provide a short imperative commit message for the changes. Output only the message, no explanation.";
/// How often it is asked.
const MESSAGE_TURNS: u32 = 2;
/// How much of an answer or of a refusal is looked at.
const MAX_ANSWER_LEN: usize = 64 * 1024;
/// How much of a refusal the agent is told, in characters.
const MAX_TOLD_CHARS: usize = 4000;

/// How long somebody else's git may hold the index.
const INDEX_LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// Between two tries.
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// File systems keep time in steps.
const CLOCK_TICK: SignedDuration = SignedDuration::from_millis(100);

const CHANGED: &str = "files changed while the agent was asked for a commit message: the gates run again, and the \
                       agent is not asked any more in this run";

impl Driver {
    /// Does the SCM tasks in their order and records how the commit went.
    pub(super) fn commit(&mut self) {
        let Some(scm) = self.setup.scm.clone() else {
            return self.ledger.record(Event::CommitEnded(CommitEnd::NotWanted));
        };
        let mut end = CommitEnd::NotWanted;
        for task in &scm.tasks {
            if task != "commit" {
                self.run_task(&scm, task);
                continue;
            }
            // A machine that cannot run git for the moment is a commit to try again, not the end of the run.
            end = self
                .make_commit(&scm)
                .unwrap_or_else(|error| CommitEnd::Failed { output: error.to_string() });
            if !matches!(end, CommitEnd::Made { .. } | CommitEnd::Already) {
                break;
            }
        }
        // The user ended git: it has refused nothing.
        let is_cut_off = matches!(end, CommitEnd::Failed { .. }) && self.supervisor.is_ending();
        if is_cut_off {
            self.ledger.stop_requested();
        } else {
            // After the other tasks, so that a ralph that is killed in between does them when it goes on.
            self.ledger.record(Event::CommitEnded(end));
        }
    }

    fn make_commit(&mut self, scm: &Scm) -> Result<CommitEnd> {
        match self.git.clone() {
            Some(git) => self.make_git_commit(&git),
            None => self.make_other_commit(scm),
        }
    }

    fn make_git_commit(&mut self, git: &Git) -> Result<CommitEnd> {
        let head = git.head(&mut self.supervisor)?;
        // By an earlier process of the run, which did not live to report it.
        let announced = self.ledger.run().memory.announced.clone();
        if let Some(announced) = &announced
            && announced.head != head
            && git.last_commit(&mut self.supervisor)?.1 == announced.message.trim()
        {
            return self.made(git);
        }
        let has_moved = self.notice_lost_commits(git, head.as_deref())?;
        let changes = git::since(&self.setup.dirty, git.changes(&mut self.supervisor)?);
        if changes.is_empty() {
            return Ok(if has_moved { CommitEnd::Already } else { CommitEnd::Nothing });
        }
        if let Some(announced) = announced {
            self.remove_own_lock(git, &announced);
            // Announced by a ralph that died, and not made: nobody knows what happened to the files meanwhile.
            return Ok(CommitEnd::Changed { cause: Some(ChangeCause::RalphDied) });
        }
        let message = self.message()?;
        // What is committed is what passed the gates, whatever the agent did while it was asked.
        if git::since(&self.setup.dirty, git.changes(&mut self.supervisor)?) != changes
            || git.head(&mut self.supervisor)? != head
        {
            self.ledger.warn(CHANGED.to_owned());
            return Ok(CommitEnd::Changed { cause: Some(ChangeCause::AgentAsked) });
        }
        self.ledger.record(Event::CommitStarted { head, message: message.clone() });
        match self.commit_patiently(git, &changes, &message)? {
            Ok(()) => self.made(git),
            Err(output) => Ok(CommitEnd::Failed { output: truncate(&output, MAX_TOLD_CHARS) }),
        }
    }

    /// Whether HEAD has gone forward since the turn began. If it went elsewhere, commits may be lost from sight: that
    /// is no work, and somebody should know how to get them back.
    fn notice_lost_commits(&mut self, git: &Git, head: Option<&str>) -> Result<bool> {
        let before = self.ledger.run().memory.turn.as_ref().and_then(|last| last.turn.head.clone());
        let (Some(before), Some(head)) = (before.as_deref(), head) else {
            return Ok(before.as_deref() != head);
        };
        if before == head {
            return Ok(false);
        }
        if git.is_in_history(&mut self.supervisor, before, head)? {
            return Ok(true);
        }
        let (before, head) = (short(before), short(head));
        self.ledger.warn(format!(
            "the agent moved HEAD from {before} to {head}, which does not contain it; to get back: git branch rescued {before}"
        ));
        Ok(false)
    }

    /// Somebody else's git may be at work for a moment.
    fn commit_patiently(
        &mut self,
        git: &Git,
        changes: &[Change],
        message: &str,
    ) -> io::Result<std::result::Result<(), String>> {
        let until = Instant::now() + INDEX_LOCK_TIMEOUT;
        loop {
            let Self { supervisor, sandbox, .. } = &mut *self;
            // Hooks and filters of the repository may be the agent's work.
            let mut contain = |spec| match sandbox {
                Some(sandbox) => sandbox.wrap(spec),
                None => Ok(spec),
            };
            let committed = git.commit(supervisor, changes, message, &mut contain)?;
            let is_locked = committed.as_ref().is_err_and(|refusal| is_locked(refusal));
            if !is_locked || until < Instant::now() {
                return Ok(committed);
            }
            if self.supervisor.wait(Instant::now() + POLL_INTERVAL, &mut || {}) == Waited::StopRequested {
                return Ok(committed);
            }
        }
    }

    /// A git that was killed together with the ralph that announced a commit has left its lock, which nobody else
    /// would ever remove. One that was there before, or while any git is at work, is somebody else's.
    fn remove_own_lock(&mut self, git: &Git, announced: &Announced) {
        let Some(lock) = git.index_lock(&mut self.supervisor) else { return };
        let is_own = Timestamp::try_from(lock.since).is_ok_and(|since| announced.at - CLOCK_TICK <= since);
        if is_own && !git.is_at_work() && std::fs::remove_file(&lock.path).is_ok() {
            self.ledger
                .warn(format!("{} was left behind by a git of this run and is removed", lock.path.display()));
        }
    }

    fn made(&mut self, git: &Git) -> Result<CommitEnd> {
        let (commit, message) = git.last_commit(&mut self.supervisor)?;
        Ok(CommitEnd::Made { commit, subject: message.lines().next().unwrap_or_default().to_owned() })
    }

    /// Any other SCM that has `status` and `commit -m`.
    fn make_other_commit(&mut self, scm: &Scm) -> Result<CommitEnd> {
        let status = self.supervisor.capture(self.task_spec(scm, vec!["status".into()]), MAX_ANSWER_LEN)?;
        if succeeded(&status) && status.out.trim_ascii().is_empty() {
            return Ok(CommitEnd::Nothing);
        }
        let message = self.message()?;
        self.ledger.record(Event::CommitStarted { head: None, message: message.clone() });
        let args = vec!["commit".into(), "-m".into(), message.clone().into()];
        let captured = self.supervisor.capture(self.task_spec(scm, args), MAX_ANSWER_LEN)?;
        if succeeded(&captured) {
            return Ok(CommitEnd::Made { commit: String::new(), subject: message });
        }
        Ok(CommitEnd::Failed { output: truncate(&refusal(&captured), MAX_TOLD_CHARS) })
    }

    /// A task that is not a commit. A failure is shown; the loop goes on.
    fn run_task(&mut self, scm: &Scm, task: &str) {
        let words = shell_words::split(task).unwrap_or_else(|_| vec![task.to_owned()]);
        let mut args: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        if self.git.is_some() && args.first().is_some_and(|verb| verb == "push") {
            // What runs before a push must not be what the agent wrote.
            args.push("--no-verify".into());
        }
        let failure = match self.supervisor.capture(self.task_spec(scm, args), MAX_ANSWER_LEN) {
            Ok(captured) if succeeded(&captured) => return,
            Ok(captured) => refusal(&captured),
            Err(error) => error.to_string(),
        };
        self.ledger.warn(format!("{} {task} failed: {failure}", scm.command));
    }

    fn task_spec(&self, scm: &Scm, args: Vec<OsString>) -> Spec {
        unattended(scm.command.clone().into(), &self.setup.project, args)
    }

    /// The agent's words for what it did, or a message made from the task.
    fn message(&mut self) -> Result<String> {
        if self.setup.message == MessageFrom::Task {
            return self.message_from_task();
        }
        let turns = if self.ledger.run().memory.misused_question { 0 } else { MESSAGE_TURNS };
        for asked in 1..=turns {
            if let Some(message) = self.ask_for_message(asked) {
                return Ok(message);
            }
            if self.supervisor.stop_requested() {
                break;
            }
        }
        self.message_from_task()
    }

    fn message_from_task(&mut self) -> Result<String> {
        let (iteration, _) = self.ledger.run().state.position();
        let task = match self.ledger.run().memory.turn.as_ref().and_then(|last| last.turn.task.clone()) {
            Some(task) => task,
            None => self.base_prompt()?,
        };
        Ok(message_from_task(&self.ledger.run().plan.preset, iteration, &task))
    }

    fn ask_for_message(&mut self, asked: u32) -> Option<String> {
        let (iteration, attempt) = self.ledger.run().state.position();
        let folder = self.run.turn(iteration, attempt);
        // Inside a sandbox the record cannot be written.
        let writable = self.sandbox.as_ref().map_or(folder.as_path(), Sandbox::tmp).to_owned();
        let answer = writable.join(format!("message-{asked}.txt"));
        let call = Call {
            prompt: MESSAGE_PROMPT,
            streams_input: false,
            output: Output::Text { answer: &answer.to_string_lossy() },
            iteration,
            spool: &folder.join(FOLDER),
            stdout: copied_to(&folder.join(format!("message-{asked}.out"))),
            stderr: Sink::Null,
        };
        let spec = self.agent_spec(call);
        let spec = self.contained(spec).ok()?;
        let Self { supervisor, ledger, .. } = self;
        let notice = &mut |happening: &ProcessEvent<'_>| ledger.notice(happening);
        let Ok(captured) = supervisor.capture_and(spec, MAX_ANSWER_LEN, notice) else {
            return None;
        };
        let said = written(&writable, &answer)
            .unwrap_or_else(|| String::from_utf8_lossy(&captured.out).into_owned());
        let message = if succeeded(&captured) { commit_message(&said) } else { None };
        let ms = millis(captured.ended.took);
        self.note_contacts();
        self.ledger.record_judgements(hook_notes::take(&folder.join(FOLDER)).calls);
        self.ledger.record(Event::MessageAsked { message: message.clone(), usage: Usage::default(), ms });
        message
    }
}

/// A commit id as people write it.
fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// What the agent wrote into its answer file, if it writes one.
fn written(folder: &Path, answer: &Path) -> Option<String> {
    let text = Root::new(folder).read(answer, MAX_ANSWER_LEN as u64).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned()).filter(|text| !text.trim().is_empty())
}

//! Makes a run known to the others that work on its task.

use std::path::PathBuf;

use jiff::Timestamp;
use ralph_core::{
    prompt::message::first_line,
    setup::{Assignment, PromptSource, Setup},
};
use ralph_sys::{
    error::Result,
    files,
    process::{self, detach::own_pid, guardian::OWN_RUN_VARIABLE, is_same_process},
};

use super::{
    Task,
    record::{Paths, Record, Status},
    store,
};

/// A run that is about to begin or to go on.
pub(crate) struct Registration<'a> {
    pub(crate) assignment: &'a Assignment,
    pub(crate) run: &'a str,
    /// Ralph's own record of it.
    pub(crate) record: PathBuf,
    pub(crate) agent: &'a str,
    pub(crate) title: String,
}

impl Registration<'_> {
    /// Notes that this process runs it from here on.
    pub(crate) fn register(self) -> Result<()> {
        let Self { assignment, run, record, agent, title } = self;
        let task = Task::of(assignment);
        let pid = own_pid();
        let pid_started = process::start_time(pid).unwrap_or_default();
        if store::one(&task, run).is_some() {
            return store::update(&task, run, |record| {
                (record.pid, record.pid_started, record.status) = (pid, pid_started, Status::Running);
                (record.ended_at, record.exit_code) = (None, None);
                agent.clone_into(&mut record.agent);
            });
        }
        let folder = task.run_folder(run);
        let record = Record {
            run: run.to_owned(),
            task: task.id.clone(),
            role: assignment.role,
            parent: assignment.parent.clone(),
            previous: assignment.previous.clone(),
            agent: agent.to_owned(),
            agent_version: None,
            pid,
            pid_started,
            group: None,
            started_at: Timestamp::now(),
            ended_at: None,
            exit_code: None,
            status: Status::Running,
            turns: 0,
            title,
            paths: Paths { folder, record },
        };
        store::register(&task, &record)
    }
}

/// What a run does, in one line for lists.
pub(crate) fn title(setup: &Setup) -> String {
    let text = match &setup.prompt {
        PromptSource::Text(text) => text.clone(),
        PromptSource::File(path) | PromptSource::Template(path) => files::read_text(path).unwrap_or_default(),
    };
    short_title(&text)
}

/// The first line of a prompt, cut.
pub(crate) fn short_title(text: &str) -> String {
    let line = first_line(text);
    let short: String = line.chars().take(60).collect();
    if short.len() < line.len() { format!("{}...", short.trim_end()) } else { short }
}

/// Whether a process belongs to another run of the task that is registered and whose ralph is alive: then it is
/// that run's to look after. Also one that has said how it ended, and takes a moment to go.
pub(crate) fn is_of_another(task: &Task, pid: i32, run: &str) -> bool {
    let is_alive = |record: &Record| record.run != run && is_same_process(record.pid, record.pid_started);
    let marked = process::variable(pid, OWN_RUN_VARIABLE).filter(|own| own != run);
    let marked = marked.and_then(|own| store::one(task, &own));
    marked.as_ref().is_some_and(is_alive)
        || store::all(task).values().any(|record| record.pid == pid && is_alive(record))
}

//! What a turn is told that works on a task with others, and what it tells them.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use ralph_agents::Adapter;
use ralph_core::{
    prompt::{Surroundings, prompt_of_task},
    setup::{Assignment, Role},
};

use ralph_sys::hash;

use super::site::Site;
use crate::{
    journal::{self, Folded, run_dir::RunDir},
    tasks::{FOLDER_VARIABLE, TASK_VARIABLE, Task, reporter::TaskReporter},
};

/// What ralph writes into the folders of a task, by the beginnings of the names.
const OWN_FILES: [&str; 5] = [".", "DONE", "TASK-MESSAGE-BUS", "prompt_", "run.json"];

/// The variables that say where the task is.
pub(super) fn environment(site: &Site) -> Vec<(OsString, Option<OsString>)> {
    let Some(assignment) = &site.setup.assignment else { return Vec::new() };
    let task = Task::of(assignment);
    let path = |name: &str, path: &Path| (OsString::from(name), Some(path.as_os_str().to_owned()));
    vec![
        path(FOLDER_VARIABLE, &task.folder),
        path("RUN_FOLDER", &task.run_folder(&site.dir.id())),
        path("MESSAGE_BUS", task.bus().path()),
        (OsString::from(TASK_VARIABLE), Some(task.id.into())),
        (OsString::from("RALPH_PARENT_RUN_ID"), assignment.parent.clone().map(OsString::from)),
    ]
}

/// The prompt of a turn: where the agent is, how it talks to others, how it ends, and the task.
pub(super) fn prompt(site: &Site, assignment: &Assignment, base: &str) -> String {
    let is_continued = 0 < site.run().state.spent().turns || assignment.previous.is_some();
    prompt_of_run(&site.dir.id(), assignment, is_continued, site.adapter(), base)
}

/// The same for the run with this id.
pub(super) fn prompt_of_run(
    run: &str,
    assignment: &Assignment,
    is_continued: bool,
    adapter: &dyn Adapter,
    base: &str,
) -> String {
    let task = Task::of(assignment);
    let (run_folder, bus) = (task.run_folder(run), task.bus());
    let surroundings = Surroundings {
        task: &task.id,
        task_folder: &task.folder.to_string_lossy(),
        run_folder: &run_folder.to_string_lossy(),
        bus: &bus.path().to_string_lossy(),
        ralph: &ralph_command(),
    };
    let preamble = match assignment.role {
        Role::Root => surroundings.of_root(),
        Role::Child => surroundings.of_child(),
    };
    prompt_of_task(is_continued, &adapter.harmless(&preamble), base)
}

/// A fingerprint of what the agents of the task have left in its folder and in that of the run: where nothing is
/// committed, notes are work. What ralph writes there itself is not.
pub(super) fn notes(site: &Site) -> Option<String> {
    let task = Task::of(site.setup.assignment.as_ref()?);
    let mut found: Vec<String> = [task.folder.clone(), task.run_folder(&site.dir.id())]
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(Iterator::flatten)
        .filter_map(|entry| {
            let (name, file) = (entry.file_name().into_string().ok()?, entry.metadata().ok()?);
            let is_own = OWN_FILES.iter().any(|own| name.starts_with(own));
            let changed = file.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            (!is_own && file.is_file()).then(|| format!("{name} {} {}", file.len(), changed.as_nanos()))
        })
        .collect();
    found.sort_unstable();
    Some(format!("{:016x}", hash::fnv(found.join("\n").as_bytes())))
}

/// What is posted from here on was posted during the turn.
pub(super) struct Posts {
    /// How long the bus of the task was when the turn began.
    since: u64,
}

impl Posts {
    pub(super) fn from_now(site: &Site) -> Self {
        Self { since: site.setup.assignment.as_ref().map_or(0, |it| Task::of(it).bus().length()) }
    }

    /// What the agent said on the bus that it waits for.
    pub(super) fn asked_to_pause(&self, site: &Site) -> Option<String> {
        let kind = site.run().plan.pause_message.as_ref()?;
        let bus = Task::of(site.setup.assignment.as_ref()?).bus();
        let (messages, _) = bus.read_from(self.since).ok()?;
        let asked = messages.into_iter().rfind(|message| message.kind.eq_ignore_ascii_case(kind))?;
        Some(asked.body.trim().to_owned())
    }
}

/// Tells the others how a run of a task ended, in case it was killed before it could.
pub(super) fn tell_of_end(folded: &Folded, run: &RunDir) {
    let setup = &folded.run.started.setup;
    let Some(assignment) = &setup.assignment else { return };
    if !journal::is_running(&run.journal()) {
        TaskReporter::new(assignment, setup, &run.id()).catch_up(folded);
    }
}

/// How the agent calls this ralph.
fn ralph_command() -> String {
    let own = env::current_exe().unwrap_or_default();
    let is_own = |found: PathBuf| found.canonicalize().is_ok_and(|found| found == own);
    if which::which("ralph").is_ok_and(is_own) {
        return "ralph".to_owned();
    }
    shell_words::quote(&own.to_string_lossy()).into_owned()
}

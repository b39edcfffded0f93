//! One run that is followed.

use std::{
    io::{Seek, SeekFrom},
    path::Path,
};

use ralph_core::{
    engine::{Run, chain::ChainReader, entry::Entry, event::Event},
    plan_file,
    prompt::message::first_line,
    setup::PromptSource,
    stories,
    view::{Outside, ShownLine, ShownRun, ShownTask, Watched, of_plan, of_stories},
};
use ralph_sandbox::is_inside;
use ralph_sys::{error::Result, files, process::is_alive};

use crate::{
    journal::{self, local_time, run_dir::RunDir},
    report::summary,
};

/// The list of stories, in its folder.
const TASK_LIST: &str = "tasks.json";

/// A run, and how far its record was read.
pub(crate) struct LiveRun {
    dir: RunDir,
    watched: Watched,
    chain: ChainReader,
    position: u64,
    /// The process that works on it, or did.
    pid: Option<u32>,
    is_running: bool,
    /// Whether a conversation that is alive drives it.
    is_bound: fn(&RunDir) -> bool,
    asked: Option<String>,
    tasks: Vec<ShownTask>,
}

impl LiveRun {
    /// A run of which nothing was read yet; `is_bound` says whether a conversation drives it.
    pub(crate) fn new(dir: RunDir, is_bound: fn(&RunDir) -> bool) -> Self {
        Self {
            dir,
            watched: Watched::default(),
            chain: ChainReader::default(),
            position: 0,
            pid: None,
            is_running: false,
            is_bound,
            asked: None,
            tasks: Vec::new(),
        }
    }

    /// Its folder.
    pub(crate) fn dir(&self) -> &RunDir {
        &self.dir
    }

    /// What its journal says so far.
    pub(crate) fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Reads what was recorded since the last look; returns whether anything is different.
    pub(crate) fn poll(&mut self) -> Result<bool> {
        let path = self.dir.journal();
        // Looked at before the record: what a run wrote before it ended is then known.
        let is_locked = journal::is_running(&path);
        let length = fs_err::metadata(&path)?.len();
        if length < self.position {
            // The record was repaired.
            *self = Self::new(self.dir.clone(), self.is_bound);
        }
        let before = (self.position, self.is_running);
        if self.position < length {
            self.read(&path)?;
        }
        let is_hidden = is_inside() || self.dir.is_elsewhere();
        let is_alive = self.pid.is_some_and(|pid| is_hidden || is_alive(pid.cast_signed()));
        let in_session = self.watched.run().is_some_and(|run| run.started.setup.session.is_some());
        self.is_running = is_locked && is_alive || in_session && (self.is_bound)(&self.dir);
        Ok(before != (self.position, self.is_running))
    }

    fn read(&mut self, path: &Path) -> Result<()> {
        let Self { watched, chain, pid, .. } = self;
        let mut reader = journal::reader(path)?;
        reader.seek(SeekFrom::Start(self.position))?;
        self.position = journal::each_line(&mut reader, self.position, &mut |line| {
            chain.take(line);
            let Some(entry) = Entry::of_line(line) else { return };
            match &entry.event {
                Event::RunStarted(started) => *pid = Some(started.pid),
                Event::RunResumed { pid: next, .. } => *pid = Some(*next),
                _ => {}
            }
            watched.apply(&entry);
        })?;
        if let Some(run) = self.watched.run() {
            self.asked = asked(&self.dir, run);
            self.tasks = tasks(run);
        }
        Ok(())
    }

    /// The picture of it, with these lines of its stream; nothing before its start was read.
    pub(crate) fn shown(&self, stream: Vec<ShownLine>, doing: Option<String>) -> Option<ShownRun> {
        let run = self.watched.run()?;
        let outcome = run.state.outcome().map(|outcome| summary::outcome(outcome, &run.plan, &run.state));
        let damage = self.chain.broken.first().map(|line| journal::damaged(&self.dir.journal(), *line));
        self.watched.shown(&Outside {
            id: self.dir.id(),
            is_running: self.is_running,
            asked: self.asked.clone(),
            outcome,
            doing,
            tasks: self.tasks.clone(),
            stream,
            damage: damage.map(|it| it.to_string()),
            zone: Some(local_time::zone()),
        })
    }
}

/// The first line of what was asked. A loop with a template asks for another task in each turn.
pub(crate) fn asked(dir: &RunDir, run: &Run) -> Option<String> {
    let text = match &run.started.setup.prompt {
        PromptSource::Text(text) => text.clone(),
        // As it was then.
        PromptSource::File(_) => files::read_text(&dir.turn(1, 1).join("prompt.md")).ok()?,
        PromptSource::Template(_) => run.memory.turn.as_ref()?.turn.task.clone()?,
    };
    text.lines().any(|line| !line.trim().is_empty()).then(|| first_line(&text))
}

/// The stories or tasks that the run works on, as they are by now.
fn tasks(run: &Run) -> Vec<ShownTask> {
    let setup = &run.started.setup;
    let turn = run.memory.turn.as_ref().map(|last| &last.turn);
    if let Some(stories) = &setup.stories {
        let list = files::read_text(&setup.project.join(&stories.ralph_dir).join(TASK_LIST));
        let current = turn.and_then(|turn| turn.story.as_deref());
        return list.map_or_else(
            |_| Vec::new(),
            |text| of_stories(&stories::read(&text).list, stories.review(), current),
        );
    }
    let Some(plan) = &setup.plan_file else { return Vec::new() };
    let current = turn.and_then(|turn| turn.task.as_deref());
    files::read_text(&setup.project.join(&plan.path))
        .map_or_else(|_| Vec::new(), |text| of_plan(&plan_file::tasks(&text, &plan.specs), current))
}

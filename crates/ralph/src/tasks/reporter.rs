//! Keeps others informed of a run that works on a task: its record, and what it says on the buses.
//!
//! Invariant: a run does not depend on it. What cannot be written is complained about once.

use jiff::Timestamp;
use ralph_core::{
    engine::{Run, entry::Entry, event::Event, outcome::Outcome, plan::Plan},
    restart_messages::{self, Note, NoteSeverity},
    setup::{Assignment, Role, Setup},
};
use ralph_sys::error::Result;

use super::{
    Records, Task, Tasks,
    record::{End, Status},
    store,
};
use crate::{
    journal::Folded,
    report::{
        Reporter,
        summary::{outlived, put_aside},
    },
    tasks::bus::{Bus, Draft},
};

/// Keeps others informed of one run.
pub(crate) struct TaskReporter {
    task: Task,
    run: String,
    role: Role,
    bus: Bus,
    project_bus: Bus,
    complaint: Option<String>,
    has_complained: bool,
}

impl TaskReporter {
    pub(crate) fn new(assignment: &Assignment, setup: &Setup, run: &str) -> Self {
        let task = Task::of(assignment);
        Self {
            bus: task.bus(),
            project_bus: Tasks::of(&setup.project).bus(),
            task,
            run: run.to_owned(),
            role: assignment.role,
            complaint: None,
            has_complained: false,
        }
    }

    fn check<T>(&mut self, result: Result<T>) {
        if let Err(error) = result
            && !std::mem::replace(&mut self.has_complained, true)
        {
            self.complaint = Some(format!("cannot tell others about this run ({error}); it continues"));
        }
    }

    fn draft(&self, kind: &str, body: String) -> Draft {
        let (task, run) = (Some(self.task.id.clone()), Some(self.run.clone()));
        Draft { kind: kind.to_owned(), task, run, key: None, body }
    }

    fn say(&mut self, Note { weight, text }: Note) {
        let posted = self.bus.post(self.draft(weight.kind(), text));
        self.check(posted);
    }

    /// Says how the run ended, once for each time that it ends.
    fn say_end(&mut self, Note { weight, text }: Note, at: Timestamp) {
        let key = Some(format!("ended-{}-{}", self.run, at.as_millisecond()));
        let posted = self.bus.post(Draft { key, ..self.draft(weight.kind(), text) });
        self.check(posted);
    }

    fn inform(&mut self, text: String) {
        self.say(Note { weight: NoteSeverity::Info, text });
    }

    fn update(&mut self, change: impl FnOnce(&mut super::record::Record)) {
        let updated = store::update(&self.task, &self.run, change);
        self.check(updated);
    }

    /// The task is done: everybody is told, once.
    fn completed(&mut self) {
        let records = store::all(&self.task);
        let children = others_running(&records, &self.run);
        let children = match children.as_slice() {
            [] => "no active children".to_owned(),
            several => format!("still active: {}", several.join(", ")),
        };
        let key = Some(self.task.done_key());
        let body = format!("task completed (DONE marker present, {children})");
        let posted = self.bus.post(Draft { key: key.clone(), ..self.draft("INFO", body) });
        self.check(posted);
        let body = format!("task {} completed", self.task.id);
        let posted = self.project_bus.post(Draft { key, ..self.draft("FACT", body) });
        self.check(posted);
    }

    /// Makes up for what a run could not do because it was killed right after it noted its end.
    pub(crate) fn catch_up(&mut self, folded: &Folded) {
        let Some(Entry { at, event: Event::RunEnded { outcome, exit_code } }) = folded.entries.last() else {
            return;
        };
        // A task that is wanted again says so by taking its file away.
        if *outcome != Outcome::Done || self.role == Role::Child || self.task.done().is_file() {
            self.ended(&folded.run.plan, outcome, *exit_code, *at);
        }
    }

    fn ended(&mut self, plan: &Plan, outcome: &Outcome, exit_code: u8, at: Timestamp) {
        let status = Status::of(outcome);
        let end = End { at, status, exit_code: Some(exit_code) };
        self.update(|record| *record = record.clone().reconciled(Some(end), at));
        match (self.role, outcome) {
            (Role::Root, Outcome::Done) => self.completed(),
            (Role::Root, _) => {
                if let Some(note) = restart_messages::of_end(plan, outcome) {
                    self.say_end(note, at);
                }
            }
            (Role::Child, Outcome::Done) => {
                let text = format!("child run {} completed", self.run);
                self.say_end(Note { weight: NoteSeverity::Info, text }, at);
            }
            (Role::Child, outcome) => {
                let why = restart_messages::of_end(plan, outcome)
                    .map_or(String::new(), |note| format!(": {}", note.text));
                let text = format!("child run {} {}{why}", self.run, status.word());
                self.say_end(Note { weight: NoteSeverity::Warning, text }, at);
            }
        }
    }
}

impl Reporter for TaskReporter {
    fn event(&mut self, Run { plan, state, .. }: &Run, entry: &Entry) {
        match &entry.event {
            Event::TurnStarted(turn) => {
                self.update(|record| record.turns += 1);
                let text = match self.role {
                    Role::Root => {
                        format!("Starting agent (attempt {}/{})", turn.iteration, plan.limits.max_iterations)
                    }
                    Role::Child => format!("child run {} started", self.run),
                };
                self.inform(text);
            }
            Event::TurnEnded(turn) => {
                self.update(|record| record.group = None);
                if let Some(note) = restart_messages::of_turn(plan, state, turn) {
                    self.say(note);
                }
            }
            Event::Warned { text, .. } => {
                self.say(Note { weight: NoteSeverity::Warning, text: text.clone() });
            }
            Event::RunEnded { outcome, exit_code } => self.ended(plan, outcome, *exit_code, entry.at),
            Event::ClaimPutAside { file, to } => {
                if let Some(note) = put_aside(file, to.as_deref()) {
                    self.say(Note { weight: NoteSeverity::Warning, text: note });
                }
            }
            Event::ChildrenOutlived { children, kept } => {
                let text = outlived(children, *kept);
                self.say(Note { weight: NoteSeverity::Warning, text });
            }
            Event::RunStarted(_)
            | Event::RunResumed { .. }
            | Event::Looked(_)
            | Event::BaselineStarted { .. }
            | Event::BaselineEnded(_)
            | Event::GateStarted { .. }
            | Event::GateEnded(_)
            | Event::JudgeStarted { .. }
            | Event::JudgeReady(_)
            | Event::JudgeFailed { .. }
            | Event::JudgeGateStarted { .. }
            | Event::JudgeGateEnded(_)
            | Event::BaseTaken { .. }
            | Event::FilesLeft { .. }
            | Event::BaseMoved(_)
            | Event::ExamineStarted
            | Event::OldCheckStarted { .. }
            | Event::OldCheckEnded(_)
            | Event::BiteStarted { .. }
            | Event::BiteEnded(_)
            | Event::TimeSpent { .. }
            | Event::NoteSaid(_)
            | Event::NoteWithdrawn { .. }
            | Event::PauseRequested { .. }
            | Event::PauseStarted
            | Event::PauseEnded { .. }
            | Event::Examined(_)
            | Event::PutBack(_)
            | Event::OpinionStarted(_)
            | Event::OpinionEnded(_)
            | Event::LookForgone { .. }
            | Event::Delivered
            | Event::OutsideLooked(_)
            | Event::StoryHandedOver { .. }
            | Event::MessageAsked { .. }
            | Event::CommitStarted { .. }
            | Event::CommitEnded(_)
            | Event::WaitStarted { .. }
            | Event::WaitEnded { .. }
            | Event::StopRequested
            | Event::TasksJudged(_)
            | Event::EditsTaken(_)
            | Event::Found { .. }
            | Event::RecordRepaired { .. }
            | Event::Accepted { .. }
            | Event::Rejected { .. }
            | Event::FilesChanged { .. }
            | Event::ReviewsCounted(_)
            | Event::WorkCounted(_)
            | Event::PullRequest(_)
            | Event::Sandboxed { .. }
            | Event::Contacted { .. }
            | Event::RunsLater { .. }
            | Event::ToolCallsJudged { .. }
            | Event::Unknown => {}
        }
    }

    fn complaint(&mut self) -> Option<String> {
        self.complaint.take()
    }
}

/// Everybody but `run` who works on the task at the moment.
pub(crate) fn others_running(records: &Records, run: &str) -> Vec<String> {
    let running = records.values().filter(|record| record.status == Status::Running && record.run != run);
    running.map(|record| record.run.clone()).collect()
}

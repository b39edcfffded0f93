//! Takes in events: into the journal, into the state, onto the screen, in this order.

use std::{borrow::Cow, path::PathBuf};

use jiff::Timestamp;
use ralph_core::{
    engine::{
        Run,
        edits::EditsTaken,
        entry::Entry,
        event::{Event, RunStarted, Topic},
        judgement::Judgement,
    },
    verify::finding::Finding,
};
use ralph_sys::process::ProcessEvent;

use super::steering;
use crate::{
    hidden::variables::Values,
    journal::{self, Journal},
    receipt::Seen,
    report::Reporter,
};

/// A run, and everybody who is told of a change.
pub(super) struct Ledger {
    run: Run,
    pub(super) journal: Journal,
    pub(super) reporters: Vec<Box<dyn Reporter>>,
    /// What the receipt will say; nothing where only the record has all of it.
    seen: Option<Seen>,
    /// The journal could not be written, and that was said.
    disk_warned: bool,
    /// Where the values of variables are.
    values: Values,
}

impl Ledger {
    /// Shows a line that the agent printed on standard error to a user who wants details.
    pub(super) fn complaint(&mut self, line: &str) {
        self.reporters.detail(&format!("stderr: {line}"));
    }

    /// Shows a detail to a user who wants it.
    pub(super) fn reporters_detail(&mut self, text: &str) {
        self.reporters.detail(text);
    }

    /// Begins the record of a run.
    pub(super) fn begin(
        started: RunStarted,
        values: Values,
        journal: Journal,
        reporters: Vec<Box<dyn Reporter>>,
    ) -> Self {
        let event = Event::RunStarted(Box::new(started.clone()));
        let mut ledger = Self::resume(Run::new(started), journal, reporters).seen(Seen::default());
        ledger.values = values;
        ledger.record(event);
        ledger
    }

    /// Goes on with the record of a run.
    pub(super) fn resume(run: Run, journal: Journal, reporters: Vec<Box<dyn Reporter>>) -> Self {
        Self { run, journal, reporters, seen: None, disk_warned: false, values: Values::Recorded }
    }

    /// The same, by a process that has read the whole record.
    pub(super) fn seen(self, seen: Seen) -> Self {
        Self { seen: Some(seen), ..self }
    }

    /// Records that a person has changed what the run goes by.
    pub(super) fn take_edits(&mut self, taken: EditsTaken, values: Values) {
        self.values = values;
        self.record(Event::EditsTaken(Box::new(taken)));
    }

    /// The run and what its receipt says; nothing where only the record has all of it.
    pub(super) fn for_receipt(&self) -> Option<(&Run, Seen)> {
        self.seen.clone().map(|seen| (&self.run, seen))
    }

    /// The run so far.
    pub(super) fn run(&self) -> &Run {
        &self.run
    }

    /// Takes in one event.
    pub(super) fn record(&mut self, event: Event) {
        // Before it is on record that the agent and the checks are over: what changes later is not their doing.
        if matches!(
            event,
            Event::TurnEnded(_)
                | Event::GateEnded(_)
                | Event::JudgeGateEnded(_)
                | Event::CommitEnded(_)
                | Event::RunEnded { .. }
        ) {
            let files = steering::changed(&self.run);
            if !files.is_empty() {
                self.append(Event::FilesChanged { files });
            }
        }
        if let Event::TasksJudged(judged) = &event {
            self.capped(&judged.capped);
        }
        self.append(event);
    }

    fn append(&mut self, event: Event) {
        let is_milestone = is_acted_on(&event);
        let (entry, mut line) = Entry { at: journal::now(), event }.masked();
        if let (Values::Apart, Cow::Owned(shown)) = (self.values, entry.shown()) {
            line = shown.to_line();
        }
        let written = self.journal.append_line(&line);
        if is_milestone {
            self.journal.milestone();
        }
        self.run.apply(&entry);
        if let Some(seen) = &mut self.seen {
            seen.fold.take(&entry);
        }
        self.reporters.event(&self.run, &entry);
        if written.is_err() {
            // A receipt is about what is on record.
            self.seen = None;
        }
        if let Err(error) = written
            && !std::mem::replace(&mut self.disk_warned, true)
        {
            let text = format!("the record of the run cannot be written ({error}); the run continues");
            self.reporters.event(&self.run, &Entry { at: journal::now(), event: Event::warned(text) });
        }
        if let Some(complaint) = self.reporters.complaint() {
            self.warn(complaint);
        }
    }

    /// Records that stories were approved at the cap. Before they are: a kill in between must not lose it.
    pub(super) fn capped(&mut self, stories: &[String]) {
        let Some(cap) = self.run.started.setup.stories.as_ref().map(|stories| stories.review_cap) else {
            return;
        };
        let findings = stories.iter().map(|story| Finding::ApprovedAtCap { story: story.clone(), cap });
        self.found(findings.collect());
    }

    /// Records what was done to the judgement, each once.
    pub(super) fn found(&mut self, mut findings: Vec<Finding>) {
        findings.retain(|finding| !self.run.state.findings().contains(finding));
        if !findings.is_empty() {
            self.append(Event::Found { findings });
        }
    }

    /// Records commands for a person that processes of the run have typed: each with the file that says so.
    pub(super) fn take_tries(&mut self, tries: Vec<(String, PathBuf)>) {
        let (commands, files): (Vec<_>, Vec<_>) = tries.into_iter().unzip();
        self.found(commands.into_iter().map(|command| Finding::PersonsCommand { command }).collect());
        for file in files {
            // A file that stays is found again, and counts once.
            let _ = fs_err::remove_file(file);
        }
    }

    /// Someone asked to stop; recorded once.
    pub(super) fn stop_requested(&mut self) {
        if !self.run.state.is_stopping() {
            self.record(Event::StopRequested);
        }
    }

    /// Takes notice of what happens beside the output of a process.
    pub(super) fn notice(&mut self, happening: &ProcessEvent<'_>) {
        match happening {
            ProcessEvent::Output(..) => {}
            ProcessEvent::StopRequested => self.stop_requested(),
            ProcessEvent::Tick => self.tick(),
        }
    }

    /// A gate is about to be checked, which may take a while.
    pub(super) fn gate_started(&mut self, gate: usize) {
        self.record(Event::GateStarted { gate });
        self.reporters.flush();
    }

    /// A gate is about to be checked before the first turn.
    pub(super) fn baseline_started(&mut self, gate: usize) {
        self.record(Event::BaselineStarted { gate });
        self.reporters.flush();
    }

    /// Time has passed: the reporters that show it show it.
    pub(super) fn tick(&mut self) {
        self.reporters.moment(Timestamp::now());
        self.reporters.flush();
    }

    /// Shows a warning that is not recorded.
    pub(super) fn show_warning(&mut self, text: String) {
        self.reporters.event(&self.run, &Entry { at: journal::now(), event: Event::warned(text) });
        self.reporters.flush();
    }

    /// Writes down what the guard thought of tool calls.
    pub(super) fn record_judgements(&mut self, calls: Vec<Judgement>) {
        if !calls.is_empty() {
            self.record(Event::ToolCallsJudged { calls });
        }
    }

    /// Says something that no rule depends on.
    pub(super) fn warn(&mut self, text: String) {
        self.record(Event::warned(text));
    }

    /// Says something once in a run, however many processes that has.
    pub(super) fn warn_once(&mut self, about: Topic, text: String) {
        if !self.run.memory.told.contains(&about) {
            self.record(Event::Warned { text, about: Some(about) });
        }
    }
}

/// Whether anything acts on what was recorded: a turn is paid for, a check has decided, a commit is there, the run is
/// over. That is on the disk first. Nothing else waits for the disk.
fn is_acted_on(event: &Event) -> bool {
    matches!(
        event,
        Event::TurnEnded(_)
            | Event::TasksJudged(_)
            | Event::GateEnded(_)
            | Event::JudgeGateEnded(_)
            | Event::CommitEnded(_)
            | Event::RunEnded { .. }
    )
}

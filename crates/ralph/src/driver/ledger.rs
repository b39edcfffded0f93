//! Takes in events: into the journal, into the state, onto the screen, in this order.

use jiff::Timestamp;
use ralph_core::engine::{State, event::Event, judgement::Judgement, plan::Plan};
use ralph_sys::process::Happening;

use crate::{
    journal::{Entry, Journal},
    report::Reporter,
};

/// The rules of a run, its state, and everybody who is told of a change.
pub(super) struct Ledger {
    pub(super) plan: Plan,
    pub(super) state: State,
    pub(super) journal: Journal,
    pub(super) reporters: Vec<Box<dyn Reporter>>,
    /// The journal could not be written, and that was said.
    disk_warned: bool,
    stop_recorded: bool,
}

impl Ledger {
    pub(super) fn new(plan: Plan, state: State, journal: Journal, reporters: Vec<Box<dyn Reporter>>) -> Self {
        Self { plan, state, journal, reporters, disk_warned: false, stop_recorded: false }
    }

    /// Takes in one event.
    pub(super) fn record(&mut self, event: Event) {
        let is_milestone = matches!(
            event,
            Event::RunStarted(_)
                | Event::TurnEnded(_)
                | Event::TasksJudged(_)
                | Event::CommitEnded(_)
                | Event::RunEnded { .. }
        );
        let entry = Entry::now(event);
        let written = self.journal.append(&entry);
        if is_milestone {
            self.journal.milestone();
        }
        self.state.apply(&self.plan, &entry.event);
        self.reporters.event(&self.plan, &self.state, &entry);
        if let Err(error) = written
            && !std::mem::replace(&mut self.disk_warned, true)
        {
            let text = format!("the record of the run cannot be written ({error}); the run goes on");
            self.reporters.event(&self.plan, &self.state, &Entry::now(Event::Warned { text }));
        }
        if let Some(complaint) = self.reporters.complaint() {
            self.record(Event::Warned { text: complaint });
        }
    }

    /// Somebody asked to stop; recorded once.
    pub(super) fn stop_requested(&mut self) {
        if !std::mem::replace(&mut self.stop_recorded, true) {
            self.record(Event::StopRequested);
        }
    }

    /// Takes notice of what happens beside the output of a process.
    pub(super) fn notice(&mut self, happening: &Happening<'_>) {
        match happening {
            Happening::Output(..) => {}
            Happening::StopRequested => self.stop_requested(),
            Happening::Tick => self.tick(),
        }
    }

    /// Time has passed: whoever shows it shows it.
    pub(super) fn tick(&mut self) {
        self.reporters.moment(Timestamp::now());
        self.reporters.flush();
    }

    /// Shows something that is not recorded.
    pub(super) fn show(&mut self, entry: &Entry) {
        self.reporters.event(&self.plan, &self.state, entry);
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
        self.record(Event::Warned { text });
    }
}

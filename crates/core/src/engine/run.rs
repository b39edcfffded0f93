//! A run: what it started from, its rules, their state, and what else is remembered of it.
//!
//! Invariant: [`Run::apply`] is the only way in which it changes, and it needs nothing but the journal's lines. So
//! a process that continues a run, or shows it, knows the same, however many processes it has had.

use jiff::Timestamp;

use super::{
    Action, State,
    assign::assign,
    deadline, decide,
    entry::Entry,
    event::{Event, RunStarted},
    memory::Memory,
    plan::Plan,
};

/// A run as its events tell it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What it started from; its setup has what a person changed since.
    pub started: RunStarted,
    /// Its rules, with the limits of the last resume and what a person changed since the start.
    pub plan: Plan,
    /// What the rules remember.
    pub state: State,
    /// What else is remembered.
    pub memory: Memory,
}

impl Run {
    /// A run of which nothing is recorded yet, not even its start.
    pub fn new(started: RunStarted) -> Self {
        Self { plan: started.plan.clone(), started, state: State::default(), memory: Memory::default() }
    }

    /// Takes in what was recorded.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.event {
            Event::RunResumed { limits, .. } => self.plan.limits = *limits,
            Event::EditsTaken(taken) => {
                self.plan.clone_from(&taken.plan);
                self.started.setup.clone_from(&taken.setup);
            }
            // What a person asks for is not beyond the limit that the person set.
            Event::Rejected { .. } if self.state.is_done_with_findings() => {
                let next = self.state.spent().begun.saturating_add(1);
                let limits = &mut self.plan.limits;
                limits.max_iterations = limits.max_iterations.max(next);
            }
            _ => {}
        }
        self.state.crew.at_ms = entry.at.as_millisecond();
        self.state.apply(&self.plan, &entry.event);
        self.listen_first(entry.at.as_millisecond());
        self.memory.apply(&self.started.setup, entry);
    }

    /// What comes next at this moment.
    pub fn next(&self, now: Timestamp) -> Action {
        let (action, now) = (decide(&self.plan, &self.state), now.as_millisecond());
        let action = assign(&self.plan, &self.state, action, now);
        deadline::keep_to(&self.plan, &self.state, action, now)
    }

    /// The run of a whole record; nothing if that does not begin with its start.
    pub fn fold(entries: &[Entry]) -> Option<Self> {
        let (first, others) = entries.split_first()?;
        let mut run = Self::begin(first)?;
        for entry in others {
            run.apply(entry);
        }
        Some(run)
    }

    /// The run of which this is the first entry; nothing if that is not its start.
    pub fn begin(first: &Entry) -> Option<Self> {
        let Event::RunStarted(started) = &first.event else { return None };
        let mut run = Self::new(RunStarted::clone(started));
        run.apply(first);
        Some(run)
    }
}

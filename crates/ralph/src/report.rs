//! Shows a run while it happens. Reporters take events; nothing else prints.

pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod html;
pub(crate) mod human;
pub(crate) mod json;
pub(crate) mod judge;
pub(crate) mod listing;
mod screen;
pub(crate) mod selftest;
pub(crate) mod session_log;
pub(crate) mod streams;
pub(crate) mod style;
pub(crate) mod summary;
pub(crate) mod verify;
pub(crate) mod who;

use jiff::Timestamp;
use ralph_agents::AgentEvent;
use ralph_core::{
    engine::{Run, entry::Entry},
    key_mask::masked,
};

/// One that is told what happens. A reporter that cannot print any more (its reader has gone) goes
/// quiet: the run does not depend on it.
pub(crate) trait Reporter {
    /// Something was recorded; `run` has taken it in already. A reporter that is told of one event only knows the run
    /// as well as one that was told of all.
    fn event(&mut self, run: &Run, entry: &Entry);
    /// The agent said or did something.
    fn agent(&mut self, _event: &AgentEvent) {}
    /// What only a user who asked for details wants to know.
    fn detail(&mut self, _text: &str) {}
    /// Whether it shows details: some take work to put together.
    fn wants_details(&self) -> bool {
        false
    }
    /// It is this late: reporters have no clock of their own, so that a record is shown as it was.
    fn moment(&mut self, _at: Timestamp) {}
    /// Everything so far should be visible now.
    fn flush(&mut self) {}
    /// What it could not do, said once, for the run to record.
    fn complaint(&mut self) -> Option<String> {
        None
    }
}

/// Tells all of them.
impl Reporter for Vec<Box<dyn Reporter>> {
    fn event(&mut self, run: &Run, entry: &Entry) {
        for reporter in self.iter_mut() {
            reporter.event(run, entry);
        }
    }
    fn agent(&mut self, event: &AgentEvent) {
        for reporter in self.iter_mut() {
            reporter.agent(event);
        }
    }
    fn detail(&mut self, text: &str) {
        // Command lines and what is printed on standard error are in here.
        let text = masked(text);
        for reporter in self.iter_mut() {
            reporter.detail(&text);
        }
    }
    fn wants_details(&self) -> bool {
        self.iter().any(|reporter| reporter.wants_details())
    }
    fn moment(&mut self, at: Timestamp) {
        for reporter in self.iter_mut() {
            reporter.moment(at);
        }
    }
    fn flush(&mut self) {
        for reporter in self.iter_mut() {
            reporter.flush();
        }
    }
    fn complaint(&mut self) -> Option<String> {
        self.iter_mut().find_map(|reporter| reporter.complaint())
    }
}

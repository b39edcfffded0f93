//! What people see of what a person wants of the run on its way.

use ralph_core::engine::{
    Run,
    event::{NoteSaid, Turn},
};

use super::Human;
use crate::{
    report::summary,
    term::{Palette, fit::fit, fit::one_line, printable},
};

impl Human {
    pub(super) fn note_said(&mut self, said: &NoteSaid) {
        let Palette { accent, .. } = self.look.palette;
        let when = match (said.now, said.keep) {
            (true, _) => ", for a new turn now",
            (false, true) => ", for every turn from the next on",
            (false, false) => ", for the next turn",
        };
        let label = format!("Note {}{when}: ", said.note);
        let text = one_line(&said.text);
        let text = fit(&text, self.screen.columns().saturating_sub(label.len()).max(20));
        self.line(&format!("{accent}{label}{accent:#}{}", printable(&text)));
    }

    /// Which notes a turn is told.
    pub(super) fn told(&mut self, turn: &Turn) {
        if turn.notes.is_empty() {
            return;
        }
        let Palette { quiet, .. } = self.look.palette;
        self.line(&format!("{quiet}The agent reads {}.{quiet:#}", summary::numbered(&turn.notes)));
    }

    pub(super) fn pause_requested(&mut self, run: &Run) {
        let when = if run.state.is_in_turn() { "after this turn" } else { "before the next turn" };
        let Palette { warn, .. } = self.look.palette;
        self.alert(&format!("{warn}The run pauses {when}.{warn:#}"));
    }

    pub(super) fn pause_started(&mut self, run: &Run) {
        let Palette { warn, .. } = self.look.palette;
        let id = &run.started.run;
        self.alert(&format!(
            "{warn}Paused.{warn:#} To continue: ralph resume {id}; to end it: ralph stop {id}"
        ));
    }
}

//! The journal's events on standard output, one per line, for scripts.

use std::io::{self, Write};

use super::Reporter;
use crate::{
    engine::{State, plan::Plan},
    journal::Entry,
};

/// Prints every event as the journal has it.
pub(crate) struct Json;

impl Reporter for Json {
    fn event(&mut self, _plan: &Plan, _state: &State, entry: &Entry) {
        let mut line = entry.to_line();
        line.push(b'\n');
        let mut out = io::stdout().lock();
        // A reader that has gone does not end the run.
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}

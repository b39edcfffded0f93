//! The journal's events on standard output, one per line, for scripts.

use std::io::{self, Write};

use ralph_core::{
    engine::{Run, entry::Entry},
    key_mask::masked_bytes,
};

use super::Reporter;

/// Prints every event as the journal has it, without the values of variables.
pub(crate) struct Json {
    out: Box<dyn Write>,
    talk: Box<dyn Write>,
    /// It could not, and said so.
    failed: bool,
}

impl Json {
    /// Prints on `out`; says on `talk` that it cannot.
    pub(crate) fn new(out: Box<dyn Write>, talk: Box<dyn Write>) -> Self {
        Self { out, talk, failed: false }
    }
}

impl Reporter for Json {
    fn event(&mut self, _run: &Run, entry: &Entry) {
        // What the settings say is on record as it is.
        let mut line = masked_bytes(&entry.shown().to_line()).into_owned();
        line.push(b'\n');
        match self.out.write_all(&line).and_then(|()| self.out.flush()) {
            // A reader that has gone does not end the run.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe && !self.failed => {
                self.failed = true;
                let _ = writeln!(self.talk, "warning: events cannot be printed: {error}");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

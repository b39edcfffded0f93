//! The journal's events on standard output, one per line, for scripts.

use std::io::{self, Write};

use ralph_core::{
    engine::{Run, entry::Entry},
    key_mask::masked_bytes,
};

use super::Reporter;

/// Prints every event as the journal has it, without the values of variables.
#[derive(Default)]
pub(crate) struct Json {
    /// It could not, and said so.
    failed: bool,
}

impl Reporter for Json {
    fn event(&mut self, _run: &Run, entry: &Entry) {
        // What the settings say is on record as it is.
        let mut line = masked_bytes(&entry.shown().to_line()).into_owned();
        line.push(b'\n');
        let mut out = io::stdout().lock();
        match out.write_all(&line).and_then(|()| out.flush()) {
            // A reader that has gone does not end the run.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe && !self.failed => {
                self.failed = true;
                let _ = writeln!(io::stderr(), "warning: events cannot be printed: {error}");
            }
            Ok(()) | Err(_) => {}
        }
    }
}

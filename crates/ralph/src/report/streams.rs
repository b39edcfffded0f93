//! The streams that a run is shown on. No reader holds the run: what is not read is dropped, and the record has everything.

use std::io::{self, Write};

use ralph_core::engine::{entry::Entry, event::Event};
use ralph_sys::outlet::Outlet;

use super::summary::count;
use crate::journal;

/// Standard error and standard output of a run.
pub(crate) struct Streams {
    talk: Option<Outlet>,
    data: Option<Outlet>,
}

impl Streams {
    /// Text on both.
    pub(crate) fn of_text() -> Self {
        Self {
            talk: Outlet::new(io::stderr(), in_words).ok(),
            data: Outlet::new(io::stdout(), in_words).ok(),
        }
    }

    /// Where people are talked to.
    pub(crate) fn talk(&self) -> Box<dyn Write> {
        or(self.talk.as_ref(), io::stderr())
    }

    /// Where the end of the run goes: behind everything that was said, which may be on the same terminal.
    pub(crate) fn end(&self) -> Box<dyn Write> {
        let talk = self.talk.as_ref().and_then(|talk| talk.another().ok());
        Box::new(Behind { talk, data: or(self.data.as_ref(), io::stdout()) })
    }

    /// Where events go, one per line.
    pub(crate) fn events() -> Box<dyn Write> {
        or(Outlet::new(io::stdout(), as_event).ok().as_ref(), io::stdout())
    }
}

/// Says something on standard error to the user who reads it.
pub(crate) fn say(text: &str) {
    // No one is left to tell if this fails.
    let _ = Streams::of_text().talk().write_all(text.as_bytes());
}

/// Says something on standard output after a run has ended.
pub(crate) fn say_at_end(text: &str) {
    let _ = Streams::of_text().end().write_all(text.as_bytes());
}

/// A queue before this stream, or the stream itself where there can be none.
fn or(outlet: Option<&Outlet>, stream: impl Write + 'static) -> Box<dyn Write> {
    match outlet.and_then(|outlet| outlet.another().ok()) {
        Some(outlet) => Box::new(outlet),
        None => Box::new(stream),
    }
}

/// Writes when everything else is written.
struct Behind {
    talk: Option<Outlet>,
    data: Box<dyn Write>,
}

impl Write for Behind {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(talk) = &self.talk {
            talk.settle();
        }
        self.data.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.data.flush()
    }
}

fn in_words(lines: u64) -> Vec<u8> {
    format!("[ralph] {}\n", dropped(lines)).into_bytes()
}

fn as_event(lines: u64) -> Vec<u8> {
    let mut line = Entry { at: journal::now(), event: Event::warned(dropped(lines)) }.to_line();
    line.push(b'\n');
    line
}

fn dropped(lines: u64) -> String {
    let verb = if lines == 1 { "was" } else { "were" };
    format!(
        "{} {verb} not shown, because no one read this output; `ralph logs` has everything",
        count(lines, "line")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_reads_events_is_told_by_an_event() {
        let line = as_event(3);
        let entry = Entry::of_line(&line).expect("an event");
        let text = "3 lines were not shown, because no one read this output; `ralph logs` has everything";
        assert_eq!(entry.event, Event::warned(text.to_owned()));
        assert_eq!(line.last(), Some(&b'\n'));
        let text =
            "[ralph] 1 line was not shown, because no one read this output; `ralph logs` has everything\n";
        assert_eq!(String::from_utf8(in_words(1)).as_deref(), Ok(text));
    }
}

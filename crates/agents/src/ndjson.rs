//! Reads streams that carry one JSON event per line.
//!
//! Invariant: whatever the line is, the stream goes on; a line that cannot be read becomes
//! [`AgentEvent::Unknown`], or [`AgentEvent::Stray`] where it is text for people.

use std::borrow::Cow;

use super::lines::{Line, Lines};
use super::{AgentEvent, Parser, Usage, summary};

/// How much of a line of text is kept; a login address is shorter.
const MAX_STRAY_LEN: usize = 4096;

/// Where a reader puts the events that it finds.
pub(super) type Emit<'a> = &'a mut dyn FnMut(AgentEvent);

/// The events of one kind of agent.
pub(super) trait Reader {
    /// Reads one line. Fails before the first event that it emits, or not at all.
    fn read(&mut self, line: &str, emit: Emit<'_>) -> serde_json::Result<()>;

    /// The stream has ended.
    fn end(&mut self, _emit: Emit<'_>) {}

    /// What was used since the last result, as far as the stream says it meanwhile.
    fn running(&self) -> Usage {
        Usage::default()
    }
}

/// A parser for one event per line.
#[derive(Default)]
pub(super) struct Ndjson<R> {
    lines: Lines,
    reader: R,
}

impl<R: Reader> Parser for Ndjson<R> {
    fn push(&mut self, bytes: &[u8], emit: Emit<'_>) {
        self.lines.push(bytes, &mut |line| take(&mut self.reader, &line, emit));
    }

    fn finish(&mut self, emit: Emit<'_>) {
        self.lines.finish(&mut |line| take(&mut self.reader, &line, emit));
        self.reader.end(emit);
    }

    fn running(&self) -> Usage {
        self.reader.running()
    }
}

/// Returns the event for something that this version does not know.
pub(super) fn unknown(what: impl Into<String>) -> AgentEvent {
    AgentEvent::Unknown { what: what.into() }
}

fn take(reader: &mut impl Reader, line: &Line<'_>, emit: Emit<'_>) {
    let Line::Whole(line) = line else { return emit(unknown("line over 32 MiB")) };
    let line = trim(line);
    if line.is_empty() {
        return;
    }
    // Checking first is far cheaper on valid text than going straight for the lossy reading.
    let line = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    match reader.read(&line, emit) {
        Ok(()) => {}
        Err(error) if error.is_data() => emit(unknown("JSON of an unknown shape")),
        // What begins like an event is one that was torn.
        Err(_) if line.starts_with(['{', '[']) => {
            emit(unknown(format!("not JSON: {}", summary::short(&line))));
        }
        Err(_) => {
            emit(AgentEvent::Stray { text: line[..line.floor_char_boundary(MAX_STRAY_LEN)].to_owned() });
        }
    }
}

/// Takes away white space and the NULs that a torn write leaves.
fn trim(line: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let start = line.iter().position(is_text).unwrap_or(line.len());
    let end = line.iter().rposition(is_text).map_or(start, |last| last + 1);
    &line[start..end]
}

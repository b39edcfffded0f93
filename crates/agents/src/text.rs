//! Any other command: everything it prints is its answer.

use super::lines::{Line, Lines};
use super::ndjson::{Emit, unknown};
use super::{Adapter, AgentEvent, Metering, Parser, Request};

/// An agent that ralph knows nothing about.
pub(super) struct Text;

impl Adapter for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    /// Nothing is inferred: the user's flags, and the prompt where it goes as an argument.
    fn arguments(&self, request: &Request<'_>) -> Vec<String> {
        request.flags.iter().map(String::as_str).chain(request.prompt).map(str::to_owned).collect()
    }

    fn metering(&self) -> Metering {
        Metering::Nothing
    }

    fn parser(&self) -> Box<dyn Parser> {
        Box::<TextParser>::default()
    }

    fn is_structured(&self) -> bool {
        false
    }
}

/// Tells each line as it is complete; all of them are one text.
#[derive(Default)]
struct TextParser {
    lines: Lines,
    began: bool,
}

impl TextParser {
    fn take(began: &mut bool, line: &Line<'_>, emit: Emit<'_>) {
        let Line::Whole(line) = line else { return emit(unknown("line over 32 MiB")) };
        let text = format!("{}\n", String::from_utf8_lossy(line));
        emit(AgentEvent::Text { text, joins: std::mem::replace(began, true) });
    }
}

impl Parser for TextParser {
    fn push(&mut self, bytes: &[u8], emit: Emit<'_>) {
        self.lines.push(bytes, &mut |line| Self::take(&mut self.began, &line, emit));
    }

    fn finish(&mut self, emit: Emit<'_>) {
        self.lines.finish(&mut |line| Self::take(&mut self.began, &line, emit));
    }
}

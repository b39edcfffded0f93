//! What all agents have in common: their recorded streams, chunks, junk and the way they are called.

mod arguments;
mod claims;
mod failures;
mod recorded;

use super::{AgentEvent, Parser, adapter};

/// Returns the events of a stream that arrives in these chunks.
fn events<'a>(agent: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<AgentEvent> {
    let mut parser: Box<dyn Parser> = adapter(agent).parser();
    let mut events = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut |event| events.push(event));
    }
    parser.finish(&mut |event| events.push(event));
    events
}

/// Returns the agent's own words, as a claim is searched in them: texts that do not join stand apart.
fn own_words(events: &[AgentEvent]) -> String {
    let mut words = String::new();
    for event in events {
        if let AgentEvent::Text { text, joins } = event {
            if !joins && !words.is_empty() {
                words.push('|');
            }
            words.push_str(text);
        }
    }
    words
}

//! One line of the journal: an event and its moment, as bytes and back.

use jiff::Timestamp;
use memchr::{memchr, memmem};
use serde::Deserialize;

use super::event::Event;

/// An event with the moment it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it was recorded.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
}

impl Entry {
    /// The line of the journal, without its end.
    pub fn to_line(&self) -> Vec<u8> {
        let event = serde_json::to_vec(&self.event).expect("events have only string keys and plain values");
        // Spliced in rather than flattened: a flattened enum goes through an intermediate tree.
        let mut line = format!("{{\"at\":\"{:.3}\",", self.at).into_bytes();
        line.extend_from_slice(&event[1..]);
        line
    }

    /// Reads a line of a journal, if it is one.
    pub fn of_line(line: &[u8]) -> Option<Self> {
        Self::of_usual_line(line).or_else(|| Self::of_any_line(line))
    }

    /// What most lines of a long run are, as ralph writes them. Serde reads an event of any kind by way of a tree,
    /// which takes several times longer.
    fn of_usual_line(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"{\"at\":\"")?;
        let (at, rest) = rest.split_at(memchr(b'"', rest)?);
        let rest = rest.strip_prefix(b"\",\"event\":\"")?;
        // Two lines that damage made into one say both twice.
        let is_doubled = |key: &[u8]| memmem::find(rest, key).is_some();
        if is_doubled(b"\"at\"") || is_doubled(b"\"event\"") {
            return None;
        }
        let event = match &rest[..memchr(b'"', rest)?] {
            b"turn_started" => Event::TurnStarted(serde_json::from_slice(line).ok()?),
            b"turn_ended" => Event::TurnEnded(serde_json::from_slice(line).ok()?),
            b"gate_ended" => Event::GateEnded(serde_json::from_slice(line).ok()?),
            _ => return None,
        };
        Some(Self { at: std::str::from_utf8(at).ok()?.parse().ok()?, event })
    }

    /// Any line that is an event.
    pub fn of_any_line(line: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct At {
            at: Timestamp,
        }
        let At { at } = serde_json::from_slice(line).ok()?;
        Some(Self { at, event: serde_json::from_slice(line).ok()? })
    }
}

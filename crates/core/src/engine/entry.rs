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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::engine::event::{GateEnded, Turn};

    fn entry(event: Event) -> Entry {
        Entry { at: "2025-11-15T12:00:00.123Z".parse().expect("a time"), event }
    }

    fn gate_ended() -> Event {
        Event::GateEnded(GateEnded {
            gate: 1,
            failure: None,
            ms: 7,
            log: "a.log".to_owned(),
            signature: None,
        })
    }

    #[test]
    fn a_line_says_when_and_what_and_can_be_read_again() {
        let turn = Event::TurnStarted(Turn { iteration: 3, attempt: 2, ..Turn::default() });
        for event in [turn, gate_ended(), Event::StopRequested, Event::WaitEnded { ms: 5 }] {
            let entry = entry(event);
            let line = entry.to_line();
            let read: Value = serde_json::from_slice(&line).expect("JSON");
            assert_eq!(read["at"], "2025-11-15T12:00:00.123Z");
            assert_eq!(read["event"], serde_json::to_value(&entry.event).expect("JSON")["event"]);
            assert_eq!(Entry::of_line(&line), Some(entry.clone()));
            assert_eq!(Entry::of_any_line(&line), Some(entry));
        }
    }

    #[test]
    fn frequent_lines_have_a_shorter_way() {
        let usual = entry(gate_ended()).to_line();
        assert!(Entry::of_usual_line(&usual).is_some());
        let started = Event::TurnStarted(Turn::default());
        assert!(Entry::of_usual_line(&entry(started).to_line()).is_some());
        let rare = entry(Event::StopRequested).to_line();
        assert_eq!(Entry::of_usual_line(&rare), None);
        assert!(Entry::of_line(&rare).is_some());
    }

    #[test]
    fn what_is_no_line_is_no_event() {
        for line in
            ["", "{}", "[]", "nonsense", r#"{"at":"2025-11-15T12:00:00Z"}"#, r#"{"event":"stop_requested"}"#]
        {
            assert_eq!(Entry::of_line(line.as_bytes()), None, "{line}");
        }
        let line = String::from_utf8(entry(gate_ended()).to_line()).expect("text");
        assert_eq!(Entry::of_line(&line.as_bytes()[..line.len() - 1]), None, "torn");
        // Two lines that damage made into one: each key twice, whichever of them it is.
        for doubled in [r#""at":"2025-11-15T12:00:00Z","#, r#""event":"gate_ended","#] {
            let line = line.replace(r#""gate":1"#, &format!(r#"{doubled}"gate":1"#));
            assert_eq!(Entry::of_usual_line(line.as_bytes()), None, "{line}");
        }
    }
}

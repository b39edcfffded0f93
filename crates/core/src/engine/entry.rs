//! One line of the journal: an event and its moment, as bytes and back.

mod moment;
mod plain;
mod shown;

use std::sync::LazyLock;

use jiff::Timestamp;
use memchr::{memchr, memmem::Finder};
use serde::{Deserialize, de::DeserializeOwned};

use moment::MOMENT_LEN;
pub use shown::VALUE;

use super::{chain::is_end, event::Event};

/// Few lines are longer.
const USUAL_LEN: usize = 256;

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
        // Spliced in rather than flattened: a flattened enum goes through an intermediate tree.
        let mut line = Vec::with_capacity(USUAL_LEN);
        line.extend_from_slice(b"{\"at\":\"");
        moment::write(self.at, &mut line);
        line.push(b'"');
        let opening = line.len();
        serde_json::to_writer(&mut line, &self.event).expect("events have only string keys and plain values");
        line[opening] = b',';
        line
    }

    /// Reads a line of a journal, if it is one.
    pub fn of_line(line: &[u8]) -> Option<Self> {
        // Made where it is to be, and not moved there.
        let usual = Self::of_usual_line(line);
        if usual.is_some() { usual } else { Self::of_any_line(line) }
    }

    /// What most lines of a long run are, as ralph writes them. Serde reads an event of any kind by way of a tree,
    /// which takes several times longer.
    fn of_usual_line(line: &[u8]) -> Option<Self> {
        // Once for the whole line, and not for every key and value in it.
        let line = str::from_utf8(line).ok()?;
        let (at, rest) = line.strip_prefix("{\"at\":\"")?.split_at_checked(MOMENT_LEN)?;
        let rest = rest.strip_prefix("\",\"event\":\"")?;
        let (name, rest) = rest.split_at(memchr(b'"', rest.as_bytes())?);
        let at = moment::read(at)?;
        let event = match name {
            "gate_started" => Event::GateStarted { gate: only_gate(rest)? },
            "turn_started" => Event::TurnStarted(plain::turn(rest).or_else(|| members(line, rest))?),
            "turn_ended" => Event::TurnEnded(match plain::turn_end(rest) {
                Some(ended) => ended,
                None => members(line, rest)?,
            }),
            "gate_ended" => Event::GateEnded(plain::passed_gate(rest).or_else(|| members(line, rest))?),
            _ => return None,
        };
        Some(Self { at, event })
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

/// The members of an event on this line, of which `rest` comes after its name.
fn members<T: DeserializeOwned>(line: &str, rest: &str) -> Option<T> {
    static AT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"at\""));
    static EVENT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"event\""));
    // Two lines that damage made into one say both twice.
    let is_doubled = [&AT, &EVENT].into_iter().any(|key| key.find(rest.as_bytes()).is_some());
    if is_doubled { None } else { serde_json::from_str(line).ok() }
}

/// The number of a gate, where nothing else follows the name of the event.
fn only_gate(rest: &str) -> Option<usize> {
    let number = rest.strip_prefix("\",\"gate\":")?;
    let number = number.strip_suffix('\n').unwrap_or(number);
    let (number, end) = number.split_at(number.find([',', '}'])?);
    if !is_end(end.as_bytes()) {
        return None;
    }
    let is_plain =
        number.bytes().all(|byte| byte.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
    if is_plain { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::engine::{
        chain::Chain,
        event::{GateEnded, Turn, TurnEnd, TurnEnded},
    };

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
            tests: None,
            output_sha256: None,
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
        for event in [
            Event::TurnStarted(Turn::default()),
            Event::TurnEnded(Box::new(TurnEnded::new(TurnEnd::Finished))),
            Event::GateStarted { gate: 1 },
            gate_ended(),
        ] {
            let usual = entry(event);
            assert_eq!(Entry::of_usual_line(&usual.to_line()), Some(usual));
        }
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

    /// The quick way must say what the other says.
    #[track_caller]
    fn check(line: &str, gate: Option<usize>) {
        let gate = gate.map(|gate| Event::GateStarted { gate });
        assert_eq!(Entry::of_any_line(line.as_bytes()).map(|it| it.event), gate, "{line}");
        assert_eq!(Entry::of_line(line.as_bytes()).map(|it| it.event), gate, "{line}");
    }

    #[test]
    fn the_start_of_a_gate_is_read_without_a_tree() {
        let begin = "{\"at\":\"2026-11-16T00:03:35.123Z\",\"event\":\"gate_started\"";
        let usual = format!("{begin},\"gate\":12}}");
        assert!(Entry::of_usual_line(usual.as_bytes()).is_some(), "this takes the long way");
        check(&usual, Some(12));
        check(&format!("{usual}\n"), Some(12));
        check(&format!("{begin},\"gate\":0}}"), Some(0));
        check(&format!("{begin},\"gate\":0 }} \n"), Some(0));
        check(&format!("{begin},\"gate\":3,\"new\":1}}"), Some(3));
        let mut chained = usual.clone().into_bytes();
        Chain::default().close(&mut chained);
        assert!(Entry::of_usual_line(&chained).is_some(), "this takes the long way");
        check(&format!("{}\n", String::from_utf8(chained).expect("text")), Some(12));
        for odd in ["01", "-1", "", "1e3", "99999999999999999999999", "1,\"gate\":2", "\"1\"", "+1"] {
            check(&format!("{begin},\"gate\":{odd}}}"), None);
        }
        check(&format!("{begin}}}"), None);
        check(&format!("{begin},\"gate\":1"), None);
    }

    #[test]
    fn a_line_is_written_as_it_was_before_it_was_quick() {
        let entry = Entry {
            at: "2026-11-16T00:03:35.123Z".parse().expect("a moment"),
            event: Event::GateStarted { gate: 1 },
        };
        let line = String::from_utf8(entry.to_line()).expect("text");
        assert_eq!(line, r#"{"at":"2026-11-16T00:03:35.123Z","event":"gate_started","gate":1}"#);
    }
}

//! The plainest lines of a journal, read letter by letter: an ordinary turn that begins or ends, a gate that passed. A long run
//! has tens of thousands of them.
//!
//! Invariant: what is read here, serde reads alike; what is spelled in another way is left to it.

use memchr::memchr;
use ralph_agents::Usage;

use crate::{
    engine::{
        chain::is_end,
        event::{GateEnded, Turn, TurnEnd, TurnEnded},
    },
    stories::Mode,
};

/// A turn that is ordinary work, by what follows the name of the event.
pub(super) fn turn(rest: &str) -> Option<Turn> {
    let (iteration, rest) = number(rest.strip_prefix("\",\"iteration\":")?)?;
    let (attempt, rest) = number(rest.strip_prefix(",\"attempt\":")?)?;
    let rest = rest.strip_prefix(",\"mode\":\"work\"")?;
    let (agent, rest) = optional(rest, ",\"agent\":\"")?;
    let (iteration, attempt) = (iteration.try_into().ok()?, attempt.try_into().ok()?);
    is_end(rest.as_bytes()).then(|| Turn { iteration, attempt, mode: Mode::Work, agent, ..Turn::default() })
}

/// The end of such a turn that did not fail and cost no one knows what, by what follows the name of the event. A cost is left
/// to serde, which rounds in its own way.
pub(super) fn turn_end(rest: &str) -> Option<Box<TurnEnded>> {
    let rest = rest.strip_prefix("\",\"end\":{\"how\":\"finished\"},\"claimed\":")?;
    let (claimed, rest) = match rest.strip_prefix("false") {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix("true")?),
    };
    let (code, rest) = number(rest.strip_prefix(",\"code\":")?)?;
    let (ms, rest) = number(rest.strip_prefix(",\"ms\":")?)?;
    let (input, rest) = number(rest.strip_prefix(",\"usage\":{\"input\":")?)?;
    let (cached, rest) = number(rest.strip_prefix(",\"cached\":")?)?;
    let (output, rest) = number(rest.strip_prefix(",\"output\":")?)?;
    let (tools, rest) = number(rest.strip_prefix("},\"tools\":")?)?;
    let (tool_errors, rest) = number(rest.strip_prefix(",\"tool_errors\":")?)?;
    let (session, rest) = optional(rest, ",\"session\":\"")?;
    let (model, rest) = optional(rest, ",\"model\":\"")?;
    let (code, usage) = (Some(code.try_into().ok()?), Usage { input, cached, output, ..Usage::default() });
    if !is_end(rest.as_bytes()) {
        return None;
    }
    // Filled in where it stays: it is large.
    let mut ended = Box::new(TurnEnded::new(TurnEnd::Finished));
    (ended.claimed, ended.code, ended.ms, ended.usage) = (claimed, code, ms, usage);
    (ended.tools, ended.tool_errors, ended.session, ended.model) = (tools, tool_errors, session, model);
    Some(ended)
}

/// A gate that passed, by what follows the name of the event.
pub(super) fn passed_gate(rest: &str) -> Option<GateEnded> {
    let (gate, rest) = number(rest.strip_prefix("\",\"gate\":")?)?;
    let (ms, rest) = number(rest.strip_prefix(",\"ms\":")?)?;
    let (log, rest) = text(rest.strip_prefix(",\"log\":\"")?)?;
    let (output_sha256, rest) = optional(rest, ",\"output_sha256\":\"")?;
    let gate = gate.try_into().ok()?;
    is_end(rest.as_bytes()).then(|| GateEnded { ms, output_sha256, ..GateEnded::own(gate, None, log) })
}

/// A text that may be there.
fn optional<'a>(rest: &'a str, key: &str) -> Option<(Option<String>, &'a str)> {
    match rest.strip_prefix(key) {
        Some(rest) => text(rest).map(|(text, rest)| (Some(text), rest)),
        None => Some((None, rest)),
    }
}

/// A text up to its closing quote, if nothing in it is written as something else.
fn text(rest: &str) -> Option<(String, &str)> {
    let (text, after) = rest.split_at(memchr(b'"', rest.as_bytes())?);
    // To the end of it, many at a time.
    let odd = text.bytes().fold(0, |odd, byte| odd | u8::from(byte == b'\\') | u8::from(byte < b' '));
    (odd == 0).then(|| (text.to_owned(), &after[1..]))
}

/// A whole number as JSON has it.
fn number(rest: &str) -> Option<(u64, &str)> {
    let (mut number, mut length) = (0_u64, 0);
    for byte in rest.bytes() {
        let digit = byte.wrapping_sub(b'0');
        if 9 < digit {
            break;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
        length += 1;
    }
    let is_plain = length == 1 || (1 < length && !rest.starts_with('0'));
    is_plain.then(|| (number, &rest[length..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::engine::{chain::Chain, entry::Entry};

    const BEGIN: &str = "{\"at\":\"2026-11-16T00:03:35.123Z\",\"event\":\"";
    const LINES: [&str; 8] = [
        "turn_started\",\"iteration\":12,\"attempt\":1,\"mode\":\"work\",\"agent\":\"main\"}",
        "turn_started\",\"iteration\":1,\"attempt\":2,\"mode\":\"work\"}",
        "gate_ended\",\"gate\":0,\"ms\":10,\"log\":\".ralph/a.log\",\"output_sha256\":\"e3b0\"}",
        "gate_ended\",\"gate\":1,\"ms\":0,\"log\":\"\u{e4}.log\"}",
        "turn_ended\",\"end\":{\"how\":\"finished\"},\"claimed\":false,\"code\":0,\"ms\":4,\"usage\":{\"input\":1,\"cached\":0,\"output\":20},\"tools\":3,\"tool_errors\":0}",
        "turn_ended\",\"end\":{\"how\":\"finished\"},\"claimed\":true,\"code\":2,\"ms\":4,\"usage\":{\"input\":1,\"cached\":0,\"output\":20},\"tools\":3,\"tool_errors\":0,\"session\":\"s-1\",\"model\":\"m\"}",
        "turn_ended\",\"end\":{\"how\":\"finished\"},\"claimed\":false,\"code\":0,\"ms\":4,\"usage\":{\"cost_usd\":0.1,\"input\":1,\"cached\":0,\"output\":20},\"tools\":3,\"tool_errors\":0}",
        "gate_ended\",\"gate\":1,\"failure\":{\"exit\":{\"code\":1},\"output\":\"x\"},\"ms\":0,\"log\":\"\"}",
    ];

    fn rest(line: &str) -> &str {
        line.split_once('"').map_or("", |(name, _)| &line[name.len()..])
    }

    #[test]
    fn plain_lines_are_read_here() {
        for line in &LINES[..2] {
            assert!(super::turn(rest(line)).is_some(), "{line}");
        }
        for line in &LINES[2..4] {
            assert!(super::passed_gate(rest(line)).is_some(), "{line}");
        }
        for line in &LINES[4..6] {
            assert!(super::turn_end(rest(line)).is_some(), "{line}");
        }
        let mut chained = LINES[2].as_bytes().to_vec();
        Chain::default().close(&mut chained);
        assert!(super::passed_gate(rest(str::from_utf8(&chained).expect("text"))).is_some());
        assert!(super::turn_end(rest(LINES[6])).is_none() && super::passed_gate(rest(LINES[7])).is_none());
    }

    proptest! {
        /// Lines with something replaced, doubled or left out are read as the long way reads them.
        #[test]
        fn serde_agrees(line in prop::sample::select(&LINES[..]), at in 0..240_usize, cut in 0..4_usize, odd in "[0-9\"\\\\,:{}a-z \u{1}]{0,3}") {
            let line = format!("{BEGIN}{line}");
            let place = (BEGIN.len() + at).min(line.len());
            let until = (place + cut).min(line.len());
            if line.is_char_boundary(place) && line.is_char_boundary(until) {
                let spoiled = format!("{}{odd}{}", &line[..place], &line[until..]);
                prop_assert_eq!(
                    Entry::of_line(spoiled.as_bytes()),
                    Entry::of_any_line(spoiled.as_bytes()),
                    "{}", spoiled
                );
            }
        }
    }

    #[test]
    fn every_number_is_taken_from_its_place() {
        let line = "turn_ended\",\"end\":{\"how\":\"finished\"},\"claimed\":true,\"code\":1,\"ms\":2,\"usage\":{\"input\":3,\"cached\":4,\"output\":5},\"tools\":6,\"tool_errors\":7}";
        let plain = super::turn_end(rest(line)).expect("a plain line");
        assert_eq!((plain.usage.cached, plain.tools, plain.tool_errors), (4, 6, 7));
        let line = format!("{BEGIN}{line}");
        assert_eq!(Entry::of_line(line.as_bytes()), Entry::of_any_line(line.as_bytes()));
    }

    #[test]
    fn a_text_with_escapes_or_control_characters_is_left_to_serde() {
        for odd in ["\\", "\u{1f}", "\\\u{1f}", "\\\\", "\u{1}\u{1}", "a\\b\u{1f}"] {
            let rest = format!("{odd}\"}}");
            assert_eq!(super::text(&rest), None, "{rest:?}");
        }
        assert_eq!(super::text("a b\"}"), Some(("a b".to_owned(), "}")));
    }
}

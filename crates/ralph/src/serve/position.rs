//! How far a page has seen a run: lines of its journal, turns, and bytes of the stream of the last of them.

use std::{fmt, str::FromStr};

/// What a page has seen: written `12` before the first turn, then `12.3.3400`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// Lines of the journal: the sequence of the model.
    pub(super) line: u64,
    /// Turns that have begun.
    pub(super) turn: usize,
    /// Bytes of the stream of the last turn.
    pub(super) stream: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.turn {
            0 => write!(formatter, "{}", self.line),
            turn => write!(formatter, "{}.{turn}.{}", self.line, self.stream),
        }
    }
}

impl FromStr for Position {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (line, rest) = text.split_once('.').unwrap_or((text, "0.0"));
        let (turn, stream) = rest.split_once('.').unwrap_or((rest, ""));
        Ok(Self { line: line.parse()?, turn: turn.parse()?, stream: stream.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        for (position, text) in [
            (Position { line: 0, turn: 0, stream: 0 }, "0"),
            (Position { line: 12, turn: 3, stream: 3400 }, "12.3.3400"),
            (Position { line: 12, turn: 1, stream: 0 }, "12.1.0"),
        ] {
            assert_eq!(position.to_string(), text);
            assert_eq!(text.parse(), Ok(position));
        }
        for junk in ["", ".", "1.", "1.2", "-1", "1.2.3.4", "x", "99999999999999999999999", "1.-1.0"] {
            assert!(junk.parse::<Position>().is_err(), "{junk}");
        }
    }
}

//! The chain that the lines of a journal are: each carries a number made from itself and from the line before it.
//!
//! The numbers find damage: a flipped bit, a line that is lost, lines in another order. They are quick, and anyone can
//! make them anew; what finds a forged journal is its SHA-256 in a signed receipt.
//!
//! Invariant: every line moves the chain on, also those of version 0.1, which carry no number. So what was recorded
//! before the chain began is under its first number.

/// What the first line follows.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;
/// An odd number, so that no step loses a bit.
const FACTOR: u64 = 0xff51_afd7_ed55_8ccd;
/// What stands between a line's own members and its number.
const KEY: &[u8] = b",\"chain\":\"";
/// Hexadecimal digits of a number.
const DIGITS: usize = 16;
/// The key, the number, and the end of the line.
const SUFFIX_LEN: usize = KEY.len() + DIGITS + 2;

/// Stands for what is no digit; more than any digit.
const NO_DIGIT: u8 = 0x10;
/// What each byte is as a digit.
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < NO_DIGIT {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        value += 1;
    }
    values
};

/// The place in a chain: what the next line follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain(u64);

impl Default for Chain {
    fn default() -> Self {
        Self(SEED)
    }
}

/// What a line says about its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It follows the line before it, and is as it was written.
    Whole,
    /// It carries no number.
    Absent,
    /// Its number is another: the line is damaged, or the one before it is not the one that it was written after.
    Broken,
}

impl Chain {
    /// The number as lines carry it.
    pub fn digits(self) -> String {
        format!("{:016x}", self.0)
    }

    /// Adds the number to a line that ends with its brace, and moves on.
    pub fn close(&mut self, line: &mut Vec<u8>) {
        let brace = line.pop();
        debug_assert_eq!(brace, Some(b'}'), "a line of a journal is an object");
        self.0 = step(self.0, line);
        line.extend_from_slice(KEY);
        let digits = |byte: u8| [byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]);
        line.extend(self.0.to_be_bytes().into_iter().flat_map(digits));
        line.extend_from_slice(b"\"}");
    }

    /// Takes in a line without its end, and says whether it is whole. After a broken one the chain goes on from what the
    /// line says, so that the next is judged by itself.
    pub fn take(&mut self, line: &[u8]) -> Link {
        let Some((body, said)) = split(line) else {
            self.0 = step(self.0, line);
            return Link::Absent;
        };
        let computed = step(self.0, body);
        self.0 = said;
        if computed == said { Link::Whole } else { Link::Broken }
    }

    /// The place after this line, if the line says it.
    pub fn after(line: &[u8]) -> Option<Self> {
        split(line).map(|(_, said)| Self(said))
    }
}

/// A line without the number that it carries.
pub fn unchained(line: &[u8]) -> Vec<u8> {
    split(line).map_or_else(|| line.to_vec(), |(body, _)| [body, b"}"].concat())
}

/// What follows the members of an event on a line: its number and its end, or its end alone.
pub(super) fn is_end(rest: &[u8]) -> bool {
    rest == b"}" || (rest.len() == SUFFIX_LEN && split(rest).is_some())
}

/// A line's own members, and the number that it carries.
fn split(line: &[u8]) -> Option<(&[u8], u64)> {
    let (body, suffix) = line.split_at(line.len().checked_sub(SUFFIX_LEN)?);
    let digits = suffix.strip_prefix(KEY)?.strip_suffix(b"\"}")?;
    let (mut number, mut odd) = (0_u64, 0);
    // Without a branch for each: no one can guess which of them are letters.
    for digit in digits {
        let value = VALUES[usize::from(*digit)];
        odd |= value;
        number = number << 4 | u64::from(value);
    }
    (odd < NO_DIGIT).then_some((body, number))
}

/// One step: eight bytes at a time. Each is a bijection of what came before, so no single change is lost.
fn step(before: u64, bytes: &[u8]) -> u64 {
    let mut state = before ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        state = mixed(state ^ u64::from_le_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mixed(mixed(state ^ u64::from_le_bytes(last)))
}

fn mixed(state: u64) -> u64 {
    let state = state.wrapping_mul(FACTOR);
    state ^ (state >> 32)
}

/// A journal as far as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainReader {
    chain: Chain,
    /// Lines that were read.
    pub lines: u64,
    /// Those before the first number: of version 0.1.
    pub unchained: u64,
    /// Those that are not as they were written, by number from 1.
    pub broken: Vec<u64>,
}

impl ChainReader {
    /// Takes in a line without its end. Returns whether it can be believed.
    pub fn take(&mut self, line: &[u8]) -> bool {
        self.lines += 1;
        let is_believed = match self.chain.take(line) {
            Link::Whole => true,
            Link::Absent if self.unchained + 1 == self.lines => {
                self.unchained += 1;
                true
            }
            Link::Absent | Link::Broken => false,
        };
        if !is_believed {
            self.broken.push(self.lines);
        }
        is_believed
    }

    /// The place after what was read.
    pub fn chain(&self) -> Chain {
        self.chain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn journal(lines: &[&str]) -> Vec<Vec<u8>> {
        let mut chain = Chain::default();
        let closed = lines.iter().map(|line| {
            let mut line = line.as_bytes().to_vec();
            chain.close(&mut line);
            line
        });
        closed.collect()
    }

    fn broken(lines: &[Vec<u8>]) -> Vec<u64> {
        let mut reader = ChainReader::default();
        for line in lines {
            reader.take(line);
        }
        reader.broken
    }

    const LINES: [&str; 4] =
        [r#"{"event":"run_started","n":1}"#, r#"{"a":22}"#, r#"{"event":"turn_ended"}"#, r#"{"z":"}"}"#];

    #[test]
    fn a_journal_as_it_was_written_is_whole() {
        let lines = journal(&LINES);
        assert_eq!(broken(&lines), [0; 0]);
        assert!(lines.iter().all(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok()));
        let last = lines.last().expect("lines");
        let mut reader = ChainReader::default();
        for line in &lines {
            reader.take(line);
        }
        assert_eq!(Chain::after(last), Some(reader.chain()));
    }

    #[test]
    fn lines_that_are_lost_doubled_or_moved_are_found() {
        let lines = journal(&LINES);
        let with = |order: &[usize]| broken(&order.iter().map(|&at| lines[at].clone()).collect::<Vec<_>>());
        assert_eq!(with(&[0, 2, 3]), [2]);
        assert_eq!(with(&[1, 2, 3]), [1]);
        assert_eq!(with(&[0, 2, 1, 3]), [2, 3, 4]);
        assert_eq!(with(&[0, 0, 1]), [2]);
    }

    #[test]
    fn lines_of_the_first_version_are_under_the_first_number() {
        let mut old: Vec<Vec<u8>> = LINES[..2].iter().map(|line| line.as_bytes().to_vec()).collect();
        let mut reader = ChainReader::default();
        for line in &old {
            reader.take(line);
        }
        assert_eq!((reader.unchained, reader.broken.len()), (2, 0));
        let mut chain = reader.chain();
        let mut line = LINES[2].as_bytes().to_vec();
        chain.close(&mut line);
        old.push(line);
        assert_eq!(broken(&old), [0; 0]);
        let mut changed = old.clone();
        changed[0][3] ^= 1;
        assert_eq!(broken(&changed), [3]);
        // A number, once there is one, stays.
        old.push(LINES[3].as_bytes().to_vec());
        assert_eq!(broken(&old), [4]);
    }

    proptest! {
        #[test]
        fn every_flipped_bit_is_found(at in 0..4usize, byte in 0..1000usize, bit in 0..8u8) {
            let mut lines = journal(&LINES);
            let byte = byte % lines[at].len();
            lines[at][byte] ^= 1 << bit;
            prop_assert!(!broken(&lines).is_empty(), "line {at}, byte {byte}, bit {bit}");
            if at == 0 && byte < LINES[0].len() - 1 {
                prop_assert_eq!(broken(&lines)[0], 1);
            }
        }
    }
}

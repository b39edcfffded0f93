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
/// What stands after it.
const END: &[u8] = b"\"}";
/// The key, the number, and the end of the line.
const SUFFIX_LEN: usize = KEY.len() + DIGITS + END.len();

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

/// Each byte as two digits.
const PAIRS: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [digits[byte >> 4], digits[byte & 0xf]];
        byte += 1;
    }
    pairs
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
        line.extend_from_slice(&written(self.0));
        line.extend_from_slice(END);
    }

    /// Takes in a line without its end, and says whether it is whole. After a broken one the chain goes on from what the
    /// line says, so that the next is judged by itself.
    pub fn take(&mut self, line: &[u8]) -> Link {
        // To write the number is quicker than to read the one that is there.
        if let Some((body, digits)) = parts(line) {
            let computed = step(self.0, body);
            if *digits == written(computed) {
                self.0 = computed;
                return Link::Whole;
            }
            if let Some(said) = read(digits) {
                self.0 = said;
                return Link::Broken;
            }
        }
        self.0 = step(self.0, line);
        Link::Absent
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
    let is_number = |digits: &[u8; DIGITS]| {
        // All of them at once.
        digits
            .iter()
            .fold(true, |all, digit| all & ((digit.wrapping_sub(b'0') < 10) | (digit.wrapping_sub(b'a') < 6)))
    };
    rest == b"}" || (rest.len() == SUFFIX_LEN && parts(rest).is_some_and(|(_, digits)| is_number(digits)))
}

/// A line's own members, and the number that it carries.
fn split(line: &[u8]) -> Option<(&[u8], u64)> {
    let (body, digits) = parts(line)?;
    Some((body, read(digits)?))
}

/// A line's own members, and what stands where its number does.
fn parts(line: &[u8]) -> Option<(&[u8], &[u8; DIGITS])> {
    let (body, suffix) = line.split_at(line.len().checked_sub(SUFFIX_LEN)?);
    Some((body, suffix.strip_prefix(KEY)?.strip_suffix(END)?.try_into().ok()?))
}

/// The number that these digits are.
fn read(digits: &[u8; DIGITS]) -> Option<u64> {
    let (mut number, mut odd) = (0_u64, 0);
    // Without a branch for each: no one can guess which of them are letters.
    for digit in digits {
        let value = VALUES[usize::from(*digit)];
        odd |= value;
        number = number << 4 | u64::from(value);
    }
    (odd < NO_DIGIT).then_some(number)
}

/// The digits of a number.
fn written(number: u64) -> [u8; DIGITS] {
    let mut digits = [0; DIGITS];
    for (pair, byte) in digits.as_chunks_mut::<2>().0.iter_mut().zip(number.to_be_bytes()) {
        *pair = PAIRS[usize::from(byte)];
    }
    digits
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
    fn what_is_no_number_is_none() {
        for (digits, is_number) in [
            ("0123456789abcdef", true),
            ("0123456789abcdeF", false),
            ("0123456789abcde/", false),
            ("0123456789abcde:", false),
            ("`123456789abcdef", false),
            ("g123456789abcdef", false),
        ] {
            let line = format!("{{\"a\":1,\"chain\":\"{digits}\"}}");
            let (mut one, expected) = (Chain::default(), if is_number { Link::Broken } else { Link::Absent });
            assert_eq!(one.take(line.as_bytes()), expected, "{digits}");
            assert_eq!(Chain::after(line.as_bytes()).is_some(), is_number, "{digits}");
            assert_eq!(is_end(&line.as_bytes()[6..]), is_number, "{digits}");
        }
        assert!(is_end(b"}") && !is_end(b"") && !is_end(b"}}"));
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

    #[test]
    fn lines_are_closed_in_the_same_way_for_ever() {
        // A journal that is read by another version has these numbers.
        let lines = journal(&LINES);
        let digits: Vec<String> =
            lines.iter().map(|line| Chain::after(line).expect("a number").digits()).collect();
        assert_eq!(digits, ["161087d9b971cb76", "b46a33be52b1e8d9", "b6b502da5740fd03", "39275e27fbc52b62"]);
        for (line, digits) in lines.iter().zip(&digits) {
            assert!(line.ends_with(format!("\"chain\":\"{digits}\"}}").as_bytes()));
        }
    }

    #[test]
    fn a_line_is_read_without_its_number() {
        for (closed, line) in journal(&LINES).iter().zip(LINES) {
            assert_eq!(unchained(closed), line.as_bytes());
            assert_eq!(unchained(line.as_bytes()), line.as_bytes());
        }
    }

    #[test]
    fn what_is_no_digit_makes_no_number() {
        for digits in ["g000000000000000", "000000000000000A", "0000 00000000000"] {
            let line = format!("{{\"a\":1,\"chain\":\"{digits}\"}}");
            assert_eq!(Chain::default().take(line.as_bytes()), Link::Absent, "{digits}");
        }
    }
}

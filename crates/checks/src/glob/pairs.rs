//! Which neighbouring bytes a path has: most patterns ask for some that it has not, and need no closer look.
//!
//! Invariant: what is there is never missed. Two pairs may share a bit, so a pattern that passes here is still compared.

/// Sets of 256 bits.
const WORDS: usize = 4;

/// The pairs of neighbouring bytes of some names, of which each begins and ends with a slash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs([u64; WORDS]);

impl Pairs {
    /// Those of whole names.
    pub(super) fn of_names(names: &[&str]) -> Self {
        let mut pairs = Self::default();
        for name in names {
            pairs.add_name(name.as_bytes());
        }
        pairs
    }

    /// Those that every path has which these parts of a pattern mean.
    pub(super) fn wanted_by(parts: &[String]) -> Self {
        let mut pairs = Self::default();
        for part in parts.iter().filter(|part| *part != "**") {
            pairs.add_name(part.as_bytes());
        }
        pairs
    }

    /// Whether all of these are among them.
    pub(super) fn has(&self, wanted: &Self) -> bool {
        self.0.iter().zip(&wanted.0).all(|(has, wanted)| wanted & !has == 0)
    }

    /// What a star or a question mark stands for is not known, in a pattern; in a path it is a letter like any other.
    fn add_name(&mut self, name: &[u8]) {
        let mut before = b'/';
        for byte in name.iter().chain(b"/") {
            let is_open = |byte: u8| matches!(byte, b'*' | b'?');
            if !is_open(before) && !is_open(*byte) {
                let place = (usize::from(before).wrapping_mul(37) ^ usize::from(*byte)) % (64 * WORDS);
                self.0[place / 64] |= 1 << (place % 64);
            }
            before = *byte;
        }
    }
}

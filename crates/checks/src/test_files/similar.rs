//! How alike two tests are, whatever they are called.

use std::hash::Hasher;

/// The words of a test, without its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Body {
    /// Of all tokens in order.
    hash: u64,
    /// One number for each token, sorted.
    tokens: Vec<u32>,
}

/// So many tokens of a test are compared.
const MAX_TOKENS: usize = 1_000;

impl Body {
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut whole = Fnv::default();
        let mut tokens = Vec::new();
        for word in words {
            let mut token = Fnv::default();
            token.write(word.as_bytes());
            let hash = token.finish();
            whole.write(&hash.to_le_bytes());
            if tokens.len() < MAX_TOKENS {
                #[expect(clippy::cast_possible_truncation, reason = "a part of a hash is a hash")]
                tokens.push(hash as u32);
            }
        }
        tokens.sort_unstable();
        Self { hash: whole.finish(), tokens }
    }

    /// Whether both say exactly the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.hash == other.hash && self.tokens.len() == other.tokens.len() && !self.tokens.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// How much of both is in both, in percent.
    pub(super) fn likeness(&self, other: &Self) -> usize {
        let both = self.len() + other.len();
        (200 * self.common(other)).checked_div(both).unwrap_or_default()
    }

    /// How much of this is in the other, in percent.
    pub(super) fn contained_in(&self, other: &Self) -> usize {
        (100 * self.common(other)).checked_div(self.len()).unwrap_or_default()
    }

    fn common(&self, other: &Self) -> usize {
        let (mut left, mut right, mut common) = (0, 0, 0);
        while left < self.tokens.len() && right < other.tokens.len() {
            match self.tokens[left].cmp(&other.tokens[right]) {
                std::cmp::Ordering::Less => left += 1,
                std::cmp::Ordering::Greater => right += 1,
                std::cmp::Ordering::Equal => {
                    common += 1;
                    left += 1;
                    right += 1;
                }
            }
        }
        common
    }
}

/// The same number for the same text on every machine.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

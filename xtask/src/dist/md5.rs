//! The digest that Debian lists the files of a package by. Nothing is trusted because of it.

use super::hex;

/// How far each step turns, by round.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The digest in letters (RFC 1321).
pub(super) fn md5(bytes: &[u8]) -> String {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend_from_slice(&(8 * bytes.len() as u64).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        let words: Vec<u32> = block.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let mixed = round(state, &words);
        for (sum, part) in state.iter_mut().zip(mixed) {
            *sum = sum.wrapping_add(part);
        }
    }
    hex(&state.map(u32::to_le_bytes).concat())
}

fn round(state: [u32; 4], words: &[u32]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = state;
    for step in 0..64_usize {
        let (mix, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), (7 * step) % 16),
        };
        let sum = a.wrapping_add(mix).wrapping_add(constant(step)).wrapping_add(words[word]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4])));
    }
    [a, b, c, d]
}

/// The part behind the point of a sine.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "RFC 1321 takes the whole part of a number below 2^32"
)]
fn constant(step: usize) -> u32 {
    (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_everybody() {
        assert_eq!(md5(b""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(md5(b"abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(md5(&[b'x'; 1000]), "398533d48111e9f664b1f64cb10c4b63");
    }
}

//! Base64 as envelopes and signatures have it: the usual alphabet, padded.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let index = (all >> (18 - 6 * at)) as usize & 0x3f;
            text.push(if at <= chunk.len() { ALPHABET[index] as char } else { '=' });
        }
    }
    text
}

/// Text as bytes; nothing if it is not what [`encode`] writes. White space is passed over.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let characters: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let mut bytes = Vec::with_capacity(characters.len() / 4 * 3);
    for chunk in characters.chunks(4) {
        let padding = chunk.iter().rev().take_while(|byte| **byte == b'=').count();
        if chunk.len() != 4 || 2 < padding {
            return None;
        }
        let mut all = 0_u32;
        for byte in &chunk[..4 - padding] {
            all = all << 6 | u32::try_from(ALPHABET.iter().position(|known| known == byte)?).ok()?;
        }
        all <<= 6 * padding;
        bytes.extend_from_slice(&all.to_be_bytes()[1..4 - padding]);
    }
    // One text for one list of bytes: nothing can hide in bits that no one reads.
    let is_canonical = encode(&bytes).as_bytes() == characters;
    is_canonical.then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_as_everyone_writes_it() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("\u{3ff}", "z78="),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text), Some(bytes.as_bytes().to_vec()));
        }
        assert_eq!(decode("Zm\n9v"), Some(b"foo".to_vec()));
        for odd in ["Z", "Zg=", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm-v", "Zm9v="] {
            assert_eq!(decode(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn all_bytes_come_back(bytes: Vec<u8>) {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}

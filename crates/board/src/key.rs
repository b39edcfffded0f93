//! Keys: who a machine is on the board, and what the lander signs postings with.

use std::{fmt::Write, path::Path};

use nkeys::KeyPair;
use ralph_sys::error::{Context, Error, Result};

use crate::secret;

/// A key pair of a lander or a worker.
pub struct Key(KeyPair);

/// The half of a key that everybody may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(String);

impl Key {
    /// A new one.
    pub fn generate() -> Self {
        Self(KeyPair::new_user())
    }

    /// Reads the seed from a file that no one else can read.
    pub fn read(path: &Path) -> Result<Self> {
        let seed = secret::read(path)?;
        // What is wrong with it is not repeated: it may be most of a seed.
        let pair = KeyPair::from_seed(&seed)
            .map_err(|_| Error::new(format_args!("{} has no key in it", path.display())))?;
        Ok(Self(pair))
    }

    /// What is kept in a file of mode 600.
    pub fn seed(&self) -> Result<String> {
        self.0.seed().context("a key without a seed")
    }

    /// The half that everybody may know.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.public_key())
    }

    pub(crate) fn sign(&self, text: &[u8]) -> Result<String> {
        Ok(hex(&self.0.sign(text).context("cannot sign")?))
    }
}

impl PublicKey {
    /// Reads `U…`.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if !text.starts_with('U') || KeyPair::from_public_key(text).is_err() {
            return Err(Error::new(format_args!("`{text}` is not a public key"))
                .hint("it begins with U; `ralph fleet board` writes it to `lander.pub`"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The key in letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn has_signed(&self, text: &[u8], signature: &str) -> bool {
        let pair = KeyPair::from_public_key(&self.0).ok();
        let signature = unhex(signature);
        pair.zip(signature).is_some_and(|(pair, signature)| pair.verify(text, &signature).is_ok())
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_that_signed_has_signed() {
        let (key, other) = (Key::generate(), Key::generate());
        let signature = key.sign(b"text").expect("a signature");
        assert!(key.public().has_signed(b"text", &signature));
        assert!(!key.public().has_signed(b"texts", &signature));
        assert!(!other.public().has_signed(b"text", &signature));
        for strange in ["", "0", "zz", &signature[2..]] {
            assert!(!key.public().has_signed(b"text", strange), "{strange}");
        }
    }

    #[test]
    fn a_public_key_is_read_and_nothing_else() {
        let key = Key::generate();
        assert_eq!(PublicKey::parse(&format!("{}\n", key.public().as_str())).expect("a key"), key.public());
        let seed = key.seed().expect("a seed");
        for strange in ["", "U", "UAAAA", &seed] {
            assert!(PublicKey::parse(strange).is_err(), "{strange}");
        }
    }
}

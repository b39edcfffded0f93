//! Names in subjects: one token each, so nothing in them can widen a permission.

use std::{
    fmt::{self, Write},
    str::FromStr,
};

use ralph_sys::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The longest name.
const MAX_NAME: usize = 64;

/// The name of a worker, the lander or a watcher: letters, digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.is_empty() || MAX_NAME < text.len() || !text.bytes().all(is_plain) {
            return Err(Error::new(format_args!("`{text}` is not a name"))
                .hint(format!("up to {MAX_NAME} letters, digits, `_` and `-`")));
        }
        Ok(Self(text.to_owned()))
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse().map_err(|error: Error| error.to_string())
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The token that stands for any text: what is not a letter, digit, `_` or `-` becomes `=` and two hexadecimal digits.
pub(crate) fn token(text: &str) -> String {
    if text.is_empty() {
        return "=".to_owned();
    }
    text.bytes().fold(String::new(), |mut token, byte| {
        if is_plain(byte) {
            token.push(char::from(byte));
        } else {
            let _ = write!(token, "={byte:02x}");
        }
        token
    })
}

/// The text that a token stands for.
pub(crate) fn text(token: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = token.bytes();
    if token == "=" {
        return Some(String::new());
    }
    while let Some(byte) = rest.next() {
        match byte {
            b'=' => {
                let digits = [rest.next()?, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
            byte if is_plain(byte) => bytes.push(byte),
            _ => return None,
        }
    }
    String::from_utf8(bytes).ok().filter(|text| self::token(text) == token)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_token() {
        for good in ["w1", "build-box_2", &"x".repeat(MAX_NAME)] {
            assert_eq!(good.parse::<Name>().expect("a name").as_str(), good);
        }
        for bad in ["", "a.b", "*", ">", "a b", "ä", &"x".repeat(MAX_NAME + 1)] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }

    #[test]
    fn any_text_is_a_token_and_back() {
        for (text, token) in
            [("US-001", "US-001"), ("1.2", "1=2e2"), ("a b=>*", "a=20b=3d=3e=2a"), ("ä", "=c3=a4"), ("", "=")]
        {
            assert_eq!(super::token(text), token);
            assert_eq!(super::text(token).as_deref(), Some(text));
        }
        for bad in ["a.b", "*", "=2", "=zz", "=61", "=ff"] {
            assert_eq!(super::text(bad), None, "{bad}");
        }
    }
}

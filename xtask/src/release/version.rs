//! Versions: three numbers.

use std::{fmt, str::FromStr};

use anyhow::{Context, Error, Result};

/// Three numbers, of which the first counts most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version([u32; 3]);

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let numbers: Option<Vec<u32>> = text.split('.').map(|number| number.parse().ok()).collect();
        let numbers = numbers.and_then(|numbers| <[u32; 3]>::try_from(numbers).ok());
        numbers.map(Self).with_context(|| format!("`{text}` is no version like 0.2.0"))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let parse = |text: &str| text.parse::<Version>();
        assert!(parse("0.9.1").expect("a version") < parse("0.10.0").expect("a version"));
        assert_eq!(parse("1.2.3").expect("a version").to_string(), "1.2.3");
        for damaged in ["", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x"] {
            assert!(parse(damaged).is_err(), "{damaged}");
        }
    }
}

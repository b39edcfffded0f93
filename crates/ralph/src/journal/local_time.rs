//! The time zone of the user.

use std::{env, io};

use jiff::{Timestamp, Zoned, tz::TimeZone};

/// Where Linux keeps the rules of its time zone.
const LOCAL: &str = "/etc/localtime";

/// The time zone of the user. Jiff looks through all zones of the world before it answers, to find the name of this
/// one; that takes as long as everything else that a short command does.
pub(crate) fn zone() -> TimeZone {
    if env::var_os("TZ").is_some() || !cfg!(target_os = "linux") {
        return TimeZone::system();
    }
    match fs_err::read(LOCAL) {
        Ok(rules) => TimeZone::tzif("local", &rules).unwrap_or_else(|_| TimeZone::system()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => TimeZone::UTC,
        Err(_) => TimeZone::system(),
    }
}

/// A moment in milliseconds since 1970, as clocks there show it.
pub(crate) fn shown(ms: i64) -> String {
    let moment = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
    moment.to_zoned(zone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// This moment there.
pub(crate) fn now() -> Zoned {
    Timestamp::now().to_zoned(zone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_shows_what_jiff_says() {
        let at: Timestamp = "2026-07-16T12:03:35Z".parse().expect("a moment");
        let shown = |zone: TimeZone| at.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string();
        assert_eq!(shown(zone()), shown(TimeZone::system()));
    }
}

//! A moment at which a run ends: a time of day, or a day with a time.

use std::fmt;

use jiff::{
    Timestamp,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};

use crate::duration::parse_duration;

/// What is accepted, in words.
const EXPECTED: &str = "expected a time such as 07:00 or 2026-11-18T07:00";

/// A moment at which a run ends, as a person wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The next time that clocks show this.
    Daily(Time),
    /// When clocks show this.
    Local(DateTime),
    /// This moment, wherever the clocks are.
    Exactly(Timestamp),
}

impl Until {
    /// Reads `07:00`, `2026-11-18T07:00` or `2026-11-18T07:00+01:00`; nothing for `0`, which is no limit.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let text = text.trim();
        if text == "0" {
            return Ok(None);
        }
        let daily = || time(text).map(Self::Daily);
        let local = || {
            let (date, clock) = text.split_once(['T', 't', ' '])?;
            Some(Self::Local(date.parse::<Date>().ok()?.to_datetime(time(clock.trim_start())?)))
        };
        let exactly = || text.parse().ok().map(Self::Exactly);
        daily().or_else(local).or_else(exactly).map(Some).ok_or_else(|| advice(text))
    }

    /// When that is for a person who says it now, with clocks in this zone.
    ///
    /// A time that clocks show twice, because they are set back, is the next of the two; one that they leave out is as
    /// long after midnight as on other days.
    pub fn moment(self, now: Timestamp, zone: &TimeZone) -> Timestamp {
        let at = |moment: DateTime| {
            let moment = zone.to_ambiguous_timestamp(moment);
            [moment.compatible(), moment.later()].map(|it| it.unwrap_or(Timestamp::MAX))
        };
        match self {
            Self::Exactly(moment) => moment,
            Self::Local(moment) => at(moment)[0],
            Self::Daily(time) => {
                let today = now.to_zoned(zone.clone()).date();
                let tomorrow = today.tomorrow().unwrap_or(today);
                let next = [today, tomorrow].into_iter().flat_map(|day| at(day.to_datetime(time)));
                next.filter(|moment| now < *moment).min().unwrap_or(Timestamp::MAX)
            }
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written = |time: Time| time.strftime(if time.second() == 0 { "%H:%M" } else { "%H:%M:%S" });
        match self {
            Self::Daily(time) => write!(f, "{}", written(*time)),
            Self::Local(moment) => write!(f, "{}T{}", moment.date(), written(moment.time())),
            Self::Exactly(moment) => write!(f, "{moment}"),
        }
    }
}

/// Reads `7:00`, `07:00` or `07:00:30`.
fn time(text: &str) -> Option<Time> {
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<i8>().ok())?;
    let parts: Vec<&str> = text.split(':').collect();
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (hour, minute, "00"),
        [hour, minute, second] => (hour, minute, *second),
        _ => return None,
    };
    if !(1..=2).contains(&hour.len()) || minute.len() != 2 || second.len() != 2 {
        return None;
    }
    Time::new(number(hour)?, number(minute)?, number(second)?, 0).ok()
}

/// What to write instead of what is no moment.
fn advice(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    if let Some(hour) = lower.strip_suffix("am").and_then(|hour| twelve_hours(hour, 0)) {
        return format!("did you mean {hour}?");
    }
    if let Some(hour) = lower.strip_suffix("pm").and_then(|hour| twelve_hours(hour, 12)) {
        return format!("did you mean {hour}?");
    }
    if let Some((hours, minutes)) = text.split_at_checked(2).filter(|_| text.len() == 4)
        && let Some(clock) = time(&format!("{hours}:{minutes}"))
    {
        return format!("did you mean {}?", Until::Daily(clock));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        return match time(&format!("{text}:00")) {
            Some(clock) => format!(
                "{text} what? {} is a time of day; for so many hours of work say --max-time {text}h",
                Until::Daily(clock)
            ),
            None => EXPECTED.to_owned(),
        };
    }
    if parse_duration(text).is_ok() {
        return format!("a run that ends after {text} is --max-time {text}; {EXPECTED}");
    }
    if text.parse::<Date>().is_ok() && text.len() == "2026-11-18".len() {
        return format!("at which time? {text}T07:00");
    }
    EXPECTED.to_owned()
}

/// `7` and `7:30` on a clock with twelve hours, as one with 24 shows it.
fn twelve_hours(text: &str, half: i8) -> Option<Until> {
    let text = text.trim_end();
    let clock = time(text).or_else(|| time(&format!("{text}:00")))?;
    let hour = if clock.hour() == 12 { 0 } else { clock.hour() };
    (1..=12).contains(&clock.hour()).then_some(())?;
    Some(Until::Daily(Time::new(hour + half, clock.minute(), clock.second(), 0).ok()?))
}

#[cfg(test)]
mod tests {
    use jiff::tz::{TimeZone, offset};

    use super::*;

    /// Clocks are set forward at 02:00 on 2026-03-29 and back at 03:00 on 2026-10-25.
    fn berlin() -> TimeZone {
        TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone")
    }

    #[track_caller]
    fn check(until: &str, zone: &TimeZone, now: &str, expected: &str) {
        let until = Until::parse(until).expect("a moment").expect("a limit");
        assert_eq!(Until::parse(&until.to_string()), Ok(Some(until)));
        let (now, expected): (Timestamp, Timestamp) =
            (now.parse().expect("now"), expected.parse().expect("then"));
        assert_eq!(until.moment(now, zone), expected, "{until}");
    }

    #[test]
    fn a_time_of_day_is_the_next_one() {
        let check = |until, now, expected| check(until, &TimeZone::fixed(offset(2)), now, expected);
        check("07:00", "2026-11-17T22:00:00Z", "2026-11-18T05:00:00Z");
        check("7:00", "2026-11-17T04:59:59Z", "2026-11-17T05:00:00Z");
        // Now is not the next time.
        check("07:00", "2026-11-17T05:00:00Z", "2026-11-18T05:00:00Z");
        check("00:00", "2026-11-17T21:59:59Z", "2026-11-17T22:00:00Z");
        check("00:00", "2026-11-17T22:00:00Z", "2026-11-18T22:00:00Z");
        check("23:59:59", "2026-12-31T22:00:00Z", "2027-01-01T21:59:59Z");
    }

    #[test]
    fn a_day_with_a_time_is_that_day() {
        let check = |until, expected| {
            check(until, &TimeZone::fixed(offset(2)), "2026-11-17T22:00:00Z", expected);
        };
        check("2026-11-20T07:00:30", "2026-11-20T05:00:30Z");
        check("2026-11-20 7:00", "2026-11-20T05:00:00Z");
        check("2026-11-20T07:00Z", "2026-11-20T07:00:00Z");
        check("2026-11-20T07:00+01:00", "2026-11-20T06:00:00Z");
        // It may have passed; the code that begins a run says so.
        check("2026-11-16T07:00", "2026-11-16T05:00:00Z");
    }

    #[test]
    fn clocks_that_are_set_make_no_run_longer_than_a_day() {
        // 02:30 comes twice: the first, and from then on the second.
        check("02:30", &berlin(), "2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z");
        check("02:30", &berlin(), "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z");
        check("02:30", &berlin(), "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z");
        // 02:30 is left out: the clock shows 03:30.
        check("02:30", &berlin(), "2026-03-28T22:00:00Z", "2026-03-29T01:30:00Z");
        check("07:00", &berlin(), "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z");
        check("07:00", &berlin(), "2026-10-24T22:00:00Z", "2026-10-25T06:00:00Z");
    }

    #[test]
    fn no_limit_is_a_zero() {
        assert_eq!((Until::parse("0"), Until::parse(" 0 ")), (Ok(None), Ok(None)));
    }

    #[test]
    fn anything_else_says_what_to_write() {
        for (text, advice) in [
            ("7", "7 what? 07:00 is a time of day; for so many hours of work say --max-time 7h"),
            ("0700", "did you mean 07:00?"),
            ("7am", "did you mean 07:00?"),
            ("7:30 PM", "did you mean 19:30?"),
            ("12am", "did you mean 00:00?"),
            ("12 pm", "did you mean 12:00?"),
            (
                "8h",
                "a run that ends after 8h is --max-time 8h; expected a time such as 07:00 or 2026-11-18T07:00",
            ),
            ("2026-11-20", "at which time? 2026-11-20T07:00"),
        ] {
            assert_eq!(Until::parse(text), Err(advice.to_owned()), "{text}");
        }
        for text in [
            "",
            "soon",
            "25:00",
            "24:00",
            "07:0",
            "07:60",
            "007:00",
            "+7:00",
            "-1",
            "99",
            "12345",
            "0am",
            "13pm",
            "7:é",
            "in an hour",
            "-002026-11-18",
        ] {
            assert_eq!(Until::parse(text), Err(EXPECTED.to_owned()), "{text}");
        }
    }
}

//! How people write durations, in settings and in flags, and how ralph shows them.

use std::time::Duration;

/// The longest duration that is accepted, so that adding one to a clock cannot overflow.
const MAX_DURATION: Duration = Duration::from_hours(100 * 365 * 24);

/// The units with their seconds. `ms` stands before `m`, because the first match counts.
const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0)];

const EXPECTED: &str = "expected a duration such as 30m, 1h30m, 90s or a number of seconds";

const TYPED: &str = "expected a duration such as 30m, 1h30m or 90s";

/// Reads `30m`, `1h30m`, `1.5h`, `500ms` or a bare number of seconds; larger units stand first.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if let Some((seconds, "")) = leading_number(text) {
        return from_seconds(seconds);
    }
    let mut rest = text;
    let mut total = 0.0;
    let mut last_unit = f64::INFINITY;
    while !rest.is_empty() {
        let (count, after) = leading_number(rest).ok_or(EXPECTED)?;
        let after = after.trim_start();
        let (name, unit) = UNITS.into_iter().find(|(name, _)| after.starts_with(name)).ok_or(EXPECTED)?;
        if unit >= last_unit {
            return Err(EXPECTED.to_owned());
        }
        total += count * unit;
        last_unit = unit;
        rest = after[name.len()..].trim_start();
    }
    if last_unit.is_infinite() { Err(EXPECTED.to_owned()) } else { from_seconds(total) }
}

/// Reads the same as a person types it: with a unit, because `--max-time 8` may mean hours. Zero needs none.
pub fn parse_typed_duration(text: &str) -> Result<Duration, String> {
    let duration =
        parse_duration(text).map_err(|why| if why == EXPECTED { TYPED.to_owned() } else { why })?;
    let is_bare = matches!(leading_number(text.trim()), Some((_, "")));
    if is_bare && !duration.is_zero() {
        let number = text.trim();
        return Err(format!("{number} of what? add a unit: {number}s, {number}m or {number}h"));
    }
    Ok(duration)
}

/// Makes a duration of a number of seconds that came from a person.
pub fn from_seconds(seconds: f64) -> Result<Duration, String> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(EXPECTED.to_owned());
    }
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if duration <= MAX_DURATION => Ok(duration),
        Ok(_) | Err(_) => Err("expected a duration of at most 100 years".to_owned()),
    }
}

/// Shows the two largest units that matter: `340ms`, `1.2s`, `6m7s`, `2h5m`, `3d4h`. Never rounds up.
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 if duration.is_zero() => "0s".to_owned(),
        0 => format!("{}ms", duration.as_millis()),
        1..60 if duration.subsec_millis() < 100 => format!("{seconds}s"),
        1..60 => format!("{seconds}.{}s", duration.subsec_millis() / 100),
        60..3_600 => pair((seconds / 60, "m"), (seconds % 60, "s")),
        3_600..86_400 => pair((seconds / 3_600, "h"), (seconds % 3_600 / 60, "m")),
        86_400.. => pair((seconds / 86_400, "d"), (seconds % 86_400 / 3_600, "h")),
    }
}

fn pair(large: (u64, &str), small: (u64, &str)) -> String {
    match small.0 {
        0 => format!("{}{}", large.0, large.1),
        count => format!("{}{}{count}{}", large.0, large.1, small.1),
    }
}

/// Splits off digits with at most one point among or after them. Signs and exponents are no part of it.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

/// A duration as the journal has it.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, milliseconds: u64) {
        assert_eq!(parse_duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
    }

    #[test]
    fn durations_are_read() {
        check("30m", 1_800_000);
        check("1h30m", 5_400_000);
        check("1h 30 m", 5_400_000);
        check("90s", 90_000);
        check("500ms", 500);
        check("1s500ms", 1_500);
        check("2d", 172_800_000);
        check("1.5h", 5_400_000);
        check("0.25s", 250);
        check("90", 90_000);
        check("1.5", 1_500);
        check(" 7 ", 7_000);
        check("0", 0);
        check("0s", 0);
        check("36500d", 3_153_600_000_000);
        assert!(parse_duration("36501d").is_err_and(|why| why.contains("100 years")));
    }

    #[test]
    fn nonsense_is_refused() {
        let bad =
            ["", " ", "ten", "-1", "+1", "1e3", "1x", "m", "30m1h", "5m5m", "1.2.3s", ".5s", "1h30", "inf"];
        for text in bad {
            assert_eq!(parse_duration(text), Err(EXPECTED.to_owned()), "{text}");
        }
        for text in ["40000d".to_owned(), "9".repeat(400)] {
            let message = parse_duration(&text).expect_err("too long");
            assert!(message.contains("100 years"), "{text}: {message}");
        }
        assert!(from_seconds(f64::NAN).is_err());
        assert!(from_seconds(-1.0).is_err());
    }

    #[test]
    fn what_is_typed_has_a_unit() {
        for (text, seconds) in
            [("30m", 1800), ("1h30m", 5400), (" 90s ", 90), ("0", 0), ("0.0", 0), ("0s", 0)]
        {
            assert_eq!(parse_typed_duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["8", " 90 ", "1.5", "0.1"] {
            let message = parse_typed_duration(text).expect_err(text);
            let text = text.trim();
            assert_eq!(message, format!("{text} of what? add a unit: {text}s, {text}m or {text}h"));
        }
        assert_eq!(parse_typed_duration("soon"), Err(TYPED.to_owned()));
        assert!(parse_typed_duration("40000d").is_err_and(|why| why.contains("100 years")));
    }

    #[test]
    fn durations_are_shown() {
        let cases = [
            (0, "0s"),
            (1, "1ms"),
            (340, "340ms"),
            (999, "999ms"),
            (1_000, "1s"),
            (1_050, "1s"),
            (1_099, "1s"),
            (1_100, "1.1s"),
            (1_250, "1.2s"),
            (59_999, "59.9s"),
            (60_000, "1m"),
            (367_900, "6m7s"),
            (3_600_000, "1h"),
            (7_500_000, "2h5m"),
            (273_600_000, "3d4h"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(format_duration(Duration::from_millis(milliseconds)), expected);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back_as_nearly_the_same(milliseconds in 1_u64..10_000_000_000) {
            let shown = format_duration(Duration::from_millis(milliseconds));
            let back = parse_duration(&shown).expect("what ralph shows, it reads");
            let back = u64::try_from(back.as_millis()).expect("small");
            prop_assert!(back <= milliseconds && milliseconds - back <= milliseconds / 10);
        }

        #[test]
        fn any_text_is_survived(text in any::<String>()) {
            let _ = parse_duration(&text);
        }
    }

    #[test]
    fn numbers_that_are_no_durations_are_told_so() {
        for seconds in [f64::NAN, -1.0, f64::NEG_INFINITY] {
            assert_eq!(from_seconds(seconds), Err(EXPECTED.to_owned()), "{seconds}");
        }
        assert!(from_seconds(f64::INFINITY).is_err_and(|why| why.contains("100 years")));
    }

    #[test]
    fn a_journal_has_milliseconds() {
        assert_eq!(millis(Duration::from_millis(1_500)), 1_500);
        assert_eq!(millis(Duration::from_micros(1_999)), 1);
        assert_eq!(millis(Duration::MAX), u64::MAX);
    }
}

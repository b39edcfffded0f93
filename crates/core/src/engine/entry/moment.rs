//! Moments as ralph writes them into a journal: `2026-11-16T00:03:35.123Z`.
//!
//! Invariant: what is read here, jiff reads alike, and what is written here, jiff would write. It knows a hundred other
//! spellings and takes several times longer, and every line of a long run has a moment.

use jiff::Timestamp;

/// How long it is.
pub(super) const MOMENT_LEN: usize = 24;
/// The least and the most that can stand in each place.
const MIN_MOMENT: &[u8; MOMENT_LEN] = b"0000-00-00T00:00:00.000Z";
const MAX_MOMENT: &[u8; MOMENT_LEN] = b"9999-99-99T99:99:99.999Z";

const DAY_MS: i64 = 86_400_000;
/// From here on a year has five digits.
const YEAR_10_000_MS: i64 = 253_402_300_800_000;

/// Reads a moment; nothing where it is spelled in another way.
pub(super) fn read(text: &str) -> Option<Timestamp> {
    let bytes: &[u8; MOMENT_LEN] = text.as_bytes().try_into().ok()?;
    // All letters at once, without a branch for each.
    let (mut digits, mut is_odd) = ([0; MOMENT_LEN], false);
    for at in 0..MOMENT_LEN {
        digits[at] = bytes[at].wrapping_sub(MIN_MOMENT[at]);
        is_odd |= MAX_MOMENT[at] - MIN_MOMENT[at] < digits[at];
    }
    let pair = |at: usize| i64::from(digits[at]) * 10 + i64::from(digits[at + 1]);
    let (year, month, day) = (pair(0) * 100 + pair(2), pair(5), pair(8));
    let (hour, minute, second) = (pair(11), pair(14), pair(17));
    let is_time = hour < 24 && minute < 60 && second < 60;
    if is_odd || !is_time || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let seconds = (hour * 60 + minute) * 60 + second;
    let thousandths = pair(20) * 10 + i64::from(digits[22]);
    let ms = days_until(year, month, day) * DAY_MS + seconds * 1000 + thousandths;
    Timestamp::from_millisecond(ms).ok()
}

/// Writes a moment.
pub(super) fn write(at: Timestamp, line: &mut Vec<u8>) {
    let ms = at.as_millisecond();
    if !(0..YEAR_10_000_MS).contains(&ms) {
        line.extend_from_slice(format!("{at:.3}").as_bytes());
        return;
    }
    let (year, month, day) = date_after(ms / DAY_MS);
    let seconds = ms % DAY_MS / 1000;
    let (minutes, second) = (seconds / 60, seconds % 60);
    for (value, digits, end) in [
        (year, 4, b'-'),
        (month, 2, b'-'),
        (day, 2, b'T'),
        (minutes / 60, 2, b':'),
        (minutes % 60, 2, b':'),
        (second, 2, b'.'),
        (ms, 3, b'Z'),
    ] {
        push(value, digits, line);
        line.push(end);
    }
}

/// The last digits of a number.
fn push(value: i64, digits: u32, line: &mut Vec<u8>) {
    for place in (0..digits).rev() {
        let digit = value / 10_i64.pow(place) % 10;
        line.push(b'0' + u8::try_from(digit).unwrap_or_default());
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The days from 1970 to a date. Years begin with March here, so that the day that some of them have more is the last.
fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days after the first of 1970: the other way round.
fn date_after(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year + era * 400, month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(at: Timestamp) -> String {
        let mut line = Vec::new();
        write(at, &mut line);
        String::from_utf8(line).expect("text")
    }

    #[track_caller]
    fn check(text: &str) {
        let at: Timestamp = text.parse().expect("a moment");
        assert_eq!(read(text), Some(at), "{text}");
        assert_eq!(written(at), text);
    }

    #[test]
    fn moments_are_read_and_written() {
        check("1970-01-01T00:00:00.000Z");
        check("2026-11-16T00:03:35.123Z");
        check("2000-02-29T23:59:59.999Z");
        check("2024-02-29T12:00:00.000Z");
        check("2100-03-01T00:00:00.001Z");
        check("9999-12-30T21:00:00.000Z");
    }

    #[test]
    fn what_is_spelled_otherwise_is_left_to_others() {
        for text in [
            "2026-11-16T00:03:35Z",
            "2026-11-16T00:03:35.1234Z",
            "2026-11-16t00:03:35.123Z",
            "2026-11-16T00:03:35.123+",
            "2026-02-29T00:03:35.123Z",
            "2100-02-29T00:03:35.123Z",
            "2026-13-01T00:03:35.123Z",
            "2026-00-01T00:03:35.123Z",
            "2026-04-31T00:03:35.123Z",
            "2026-11-16T24:03:35.123Z",
            "2026-11-16T23:60:35.123Z",
            "2026-12-31T23:59:60.123Z",
            "2026-11-16T23:-1:35.123Z",
            "2026-11-16T23:0::35.123Z",
            "2026-11-16T23:0/:35.123Z",
            "2026-11-16T23.00:35.123Z",
            "/026-11-16T23:00:35.123Z",
            "",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn jiff_agrees(ms in -62_135_596_800_000_i64..253_402_207_200_000) {
            let at = Timestamp::from_millisecond(ms).expect("in range");
            let text = format!("{at:.3}");
            prop_assert_eq!(written(at), text.clone());
            prop_assert_eq!(read(&text), Some(at));
        }

        #[test]
        fn jiff_agrees_on_odd_digits(text in "[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9]\\.[0-9]{3}Z") {
            if let Some(at) = read(&text) {
                prop_assert_eq!(text.parse::<Timestamp>().ok(), Some(at));
            }
        }
    }
}

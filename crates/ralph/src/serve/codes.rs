//! Codes that only the terminal shows: without one no work is accepted, no matter who has the page.
//!
//! Invariant: a code is for one run, works once, and is void after a few wrong tries or a few minutes. A new one can be had
//! only every few seconds, so guessing takes longer than anyone overlooks the lines in the terminal.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// How often a wrong code may be typed.
const MAX_TRIES: u32 = 3;
/// How long a code works.
const CODE_TIMEOUT: Duration = Duration::from_mins(10);
/// Between two new codes.
const CODE_INTERVAL: Duration = Duration::from_secs(5);

/// The codes that were shown and not used.
#[derive(Default)]
pub(super) struct Codes {
    shown: BTreeMap<String, Code>,
    last: Option<Instant>,
}

struct Code {
    digits: String,
    since: Instant,
    tries: u32,
}

/// What is made of a code that was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Right,
    Wrong,
    /// There is no code for this run any more.
    Void,
}

impl Codes {
    /// A new code for a run, for the terminal; nothing so soon after the last one.
    pub(super) fn show(&mut self, run: &str, chance: u64, now: Instant) -> Option<String> {
        if self.last.is_some_and(|last| now.duration_since(last) < CODE_INTERVAL) {
            return None;
        }
        self.last = Some(now);
        self.shown.retain(|_, code| now.duration_since(code.since) < CODE_TIMEOUT);
        let digits = format!("{:08}", chance % 100_000_000);
        let shown = format!("{} {}", &digits[..4], &digits[4..]);
        self.shown.insert(run.to_owned(), Code { digits, since: now, tries: 0 });
        Some(shown)
    }

    /// A code was typed for a run.
    pub(super) fn type_in(&mut self, run: &str, typed: &str, now: Instant) -> Typed {
        let Some(code) = self.shown.get_mut(run) else { return Typed::Void };
        if CODE_TIMEOUT <= now.duration_since(code.since) {
            self.shown.remove(run);
            return Typed::Void;
        }
        let digits: String = typed.chars().filter(char::is_ascii_digit).collect();
        if digits == code.digits {
            self.shown.remove(run);
            return Typed::Right;
        }
        code.tries += 1;
        if code.tries < MAX_TRIES {
            return Typed::Wrong;
        }
        self.shown.remove(run);
        Typed::Void
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_for_its_run() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        assert_eq!(codes.show("a", 1_234_567_890, now).as_deref(), Some("3456 7890"));
        assert_eq!(codes.type_in("b", "34567890", now), Typed::Void);
        assert_eq!(codes.type_in("a", "3456-7891", now), Typed::Wrong);
        assert_eq!(codes.type_in("a", " 3456 7890 ", now), Typed::Right);
        assert_eq!(codes.type_in("a", "34567890", now), Typed::Void);
    }

    #[test]
    fn guessing_and_waiting_make_a_code_void() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        codes.show("a", 7, now).expect("a code");
        let tries = [1, 2, 3].map(|wrong| codes.type_in("a", &format!("{wrong}"), now));
        assert_eq!(tries, [Typed::Wrong, Typed::Wrong, Typed::Void]);
        assert_eq!(codes.type_in("a", "00000007", now), Typed::Void);
        assert_eq!(codes.show("a", 7, now), None, "too soon");
        let later = now + CODE_INTERVAL;
        codes.show("a", 7, later).expect("a code");
        assert_eq!(codes.type_in("a", "00000007", later + CODE_TIMEOUT), Typed::Void);
        codes.show("a", 8, later + CODE_TIMEOUT).expect("a code");
        assert_eq!(codes.type_in("a", "", later + CODE_TIMEOUT), Typed::Wrong);
    }
}

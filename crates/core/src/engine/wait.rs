//! How long ralph waits, and until when.

use super::event::Why;

/// No wait for a quota is made longer than this by chance.
const MAX_JITTER_MS: u64 = 30_000;

/// How long to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// This many milliseconds.
    For(u64, Why),
    /// Until the quota comes back, in seconds since 1970.
    ForQuota {
        /// When it comes back.
        resets_at: i64,
        /// No shorter than this many milliseconds, for a service that names a moment and refuses after it.
        at_least_ms: u64,
        /// What is left of the longest wait.
        at_most_ms: u64,
    },
}

impl Wait {
    /// When the wait that begins at `now` ends, both in milliseconds since 1970, and what it is for.
    ///
    /// `chance` is any number that other loops on the same quota do not share: they must not all come back in the
    /// same second. It adds at most a tenth of the wait.
    pub fn until(self, now: i64, chance: u64) -> (i64, Why) {
        match self {
            Self::For(ms, why) => (now.saturating_add_unsigned(ms), why),
            Self::ForQuota { resets_at, at_least_ms, at_most_ms } => {
                let reset = resets_at.saturating_mul(1000).max(now.saturating_add_unsigned(at_least_ms));
                let wait = u64::try_from(reset.saturating_sub(now)).unwrap_or(0);
                let wait = wait.saturating_add(chance % (wait / 10).clamp(1, MAX_JITTER_MS));
                (now.saturating_add_unsigned(wait.min(at_most_ms)), Why::UsageLimit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(resets_at: i64, at_least_ms: u64, at_most_ms: u64, chance: u64, expected: i64) {
        let wait = Wait::ForQuota { resets_at, at_least_ms, at_most_ms };
        assert_eq!(wait.until(100_000, chance), (expected, Why::UsageLimit));
    }

    #[test]
    fn quotas_are_waited_for_and_a_little_longer() {
        check(200, 0, u64::MAX, 0, 200_000);
        check(200, 0, u64::MAX, 9_999, 209_999);
        check(200, 0, u64::MAX, 10_000, 200_000);
        // Five hours are not made half an hour longer.
        check(18_100, 0, u64::MAX, 29_999, 18_129_999);
        check(18_100, 0, u64::MAX, 30_000, 18_100_000);
        // The longest wait is the longest wait.
        check(200, 0, 50_000, 9_999, 150_000);
        // The service's clock is behind ours, or it refuses again.
        check(1, 0, u64::MAX, 7, 100_000);
        check(1, 20_000, u64::MAX, 0, 120_000);
        check(i64::MAX, 0, 10, 3, 100_010);
        check(i64::MIN, 0, 10, 3, 100_000);
    }

    proptest! {
        #[test]
        fn no_wait_ends_before_it_begins_or_too_late(
            resets_at: i64, at_least_ms: u64, at_most_ms: u64, chance: u64, now in 0..i64::MAX / 4,
        ) {
            let (until, _) = Wait::ForQuota { resets_at, at_least_ms, at_most_ms }.until(now, chance);
            prop_assert!(now <= until && until <= now.saturating_add_unsigned(at_most_ms));
        }
    }
}

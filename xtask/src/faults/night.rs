//! Chance that can be repeated: the moments of a night come from one number.

use std::time::{Duration, SystemTime};

/// Moments and choices, the same for the same seed.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number below this.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        // SplitMix64: every seed gives a full period.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    /// A moment from now.
    pub(super) fn moment(&mut self, within: Duration) -> Duration {
        Duration::from_micros(self.below(u64::try_from(within.as_micros()).unwrap_or(u64::MAX)))
    }
}

/// A seed for a call that names none.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_a_night() {
        let night = |seed| {
            let mut chance = Chance::new(seed);
            [(); 5].map(|()| chance.below(1000))
        };
        assert_eq!(night(1), night(1));
        assert_ne!(night(1), night(2));
        assert!(night(3).iter().all(|number| *number < 1000));
        assert!(Chance::new(9).moment(Duration::from_secs(1)) < Duration::from_secs(1));
    }
}

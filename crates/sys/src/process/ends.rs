//! The end of a run, which ends whatever it waits for.

use std::time::{Instant, SystemTime};

use crate::watch::Limits;

/// When processes have to end, whatever their own limits are.
#[derive(Clone, Copy, Default)]
pub(super) struct Ends {
    pub(super) at: Option<Instant>,
    pub(super) until: Option<SystemTime>,
}

impl Ends {
    /// The limits of a process that starts now.
    pub(super) fn within(self, limits: Limits, now: Instant) -> Limits {
        let left = self.at.map(|at| at.saturating_duration_since(now));
        Limits {
            total: limits.total.into_iter().chain(left).min(),
            until: limits.until.into_iter().chain(self.until).min(),
            ..limits
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_nearest_end_counts() {
        let now = Instant::now();
        let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
        let soon = SystemTime::UNIX_EPOCH + second;
        let ends = Ends { at: Some(now + second), until: Some(soon) };
        for (own, expected) in [(None, second), (Some(minute), second), (Some(second / 2), second / 2)] {
            let limits = ends.within(Limits { total: own, idle: Some(minute), ..Limits::default() }, now);
            assert_eq!((limits.total, limits.idle, limits.until), (Some(expected), Some(minute), Some(soon)));
        }
        assert_eq!(ends.within(Limits::default(), now + minute).total, Some(Duration::ZERO));
        let none = Ends::default().within(Limits::default(), now);
        assert_eq!((none.total, none.until), (None, None));
    }
}

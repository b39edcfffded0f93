//! The end of a run, which ends whatever it waits for.

use std::time::{Duration, Instant, SystemTime};

use super::Spec;
use crate::watch::Limits;

/// What a run knows depends on calls that wait for no one, so these may still be made at its end. One that takes longer than
/// this after it waits for someone all the same: a filter of the repository, a network disk.
const LOOK_TIMEOUT: Duration = Duration::from_mins(1);

/// The same for a person who wants the run to end now.
const HURRIED_LOOK_TIMEOUT: Duration = Duration::from_secs(5);

/// When processes have to end, whatever their own limits are.
#[derive(Clone, Copy, Default)]
pub(super) struct Ends {
    pub(super) at: Option<Instant>,
    pub(super) until: Option<SystemTime>,
}

impl Ends {
    /// What a process has to keep to that starts now.
    pub(super) fn limits(self, spec: &Spec, is_ending: bool, now: Instant) -> Limits {
        match (spec.is_free, is_ending) {
            (false, _) => self.within(spec.limits, now),
            (true, false) => self.looking(spec.limits, now),
            (true, true) => Self::hurried(spec.limits, now),
        }
    }

    /// The limits of a process that starts now.
    fn within(self, limits: Limits, now: Instant) -> Limits {
        let left = self.at.map(|at| at.saturating_duration_since(now));
        Limits {
            total: limits.total.into_iter().chain(left).min(),
            until: limits.until.into_iter().chain(self.until).min(),
            ..limits
        }
    }

    /// The limits of a process that waits for no one and starts now.
    fn looking(self, limits: Limits, now: Instant) -> Limits {
        let late = Self { at: self.at.map(|at| at.max(now) + LOOK_TIMEOUT), until: None };
        late.within(limits, now)
    }

    /// The same after a person said that the run is to end now.
    fn hurried(limits: Limits, now: Instant) -> Limits {
        Self { at: Some(now + HURRIED_LOOK_TIMEOUT), until: None }.within(limits, now)
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn what_waits_for_no_one_has_a_minute_more() {
        let now = Instant::now();
        let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
        let ends = Ends { at: Some(now + second), until: Some(SystemTime::UNIX_EPOCH) };
        let looking = |own, now| ends.looking(Limits { total: own, ..Limits::default() }, now);
        assert_eq!(looking(None, now).total, Some(second + minute));
        assert_eq!(looking(Some(second), now).total, Some(second));
        assert_eq!(looking(Some(30 * minute), now + 5 * minute).total, Some(minute));
        assert_eq!(looking(None, now).until, None);
        assert_eq!(Ends::default().looking(Limits::default(), now).total, None);
        assert_eq!(Ends::hurried(Limits::default(), now).total, Some(5 * second));
    }
}

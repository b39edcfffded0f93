//! Waits: for a rest, before a retry, until a quota is back.

mod wall_clock;

use std::time::{Duration, Instant};

use ralph_core::{
    duration::millis,
    engine::{
        Wait,
        event::{Event, Why},
        memory::left_at,
    },
};
use ralph_sys::{hash::fnv, process::Waited};

use super::{
    notify::{NotifyReason, notify},
    requests,
    site::Site,
};

/// How long a wait goes on without looking at the clock on the wall.
const MAX_SLEEP: Duration = Duration::from_secs(5);

/// Begins to wait.
pub(super) fn start(site: &mut Site, wait: Wait) {
    let chance = fnv(site.dir.id().as_bytes());
    let (until_ms, why) = wait.until(wall_clock::now().as_millisecond(), chance);
    site.ledger.record(Event::WaitStarted { until_ms, why });
    if why == Why::UsageLimit {
        notify(site, NotifyReason::Waiting, "the usage limit is reached", None);
    }
}

/// Waits until then, or until someone asks to stop.
pub(super) fn go_on(site: &mut Site, until_ms: i64) {
    let Site { supervisor, ledger, dir, .. } = site;
    let by_the_wall = || left_at(until_ms, wall_clock::now());
    let memory = &ledger.run().memory;
    // By the record, not by the clock now: the machine may have slept between the two.
    let planned = memory.waiting.as_ref().map(|waiting| waiting.planned(memory.began));
    let (started, longest) = (Instant::now(), planned.unwrap_or_else(by_the_wall));
    loop {
        let left = left(by_the_wall(), started.elapsed(), longest);
        if left.is_zero() {
            let waited = started.elapsed().max(longest.saturating_sub(by_the_wall()));
            return ledger.record(Event::WaitEnded { ms: millis(waited) });
        }
        // In pieces, because the clock that waits are measured by stands still while a laptop sleeps.
        let piece = left.min(MAX_SLEEP);
        if supervisor.wait(Instant::now() + piece, &mut || ledger.tick()) == Waited::StopRequested {
            return ledger.stop_requested();
        }
        ledger.tick();
        requests::take(ledger, dir);
    }
}

/// What is left of a wait. A clock on the wall that is put back must not make it longer than it was going to be.
fn left(by_the_wall: Duration, waited: Duration, longest: Duration) -> Duration {
    by_the_wall.min(longest.saturating_sub(waited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_outlasts_neither_clock() {
        let seconds = Duration::from_secs;
        // Both clocks agree.
        assert_eq!(left(seconds(7), seconds(3), seconds(10)), seconds(7));
        // The one on the wall was put back by an hour.
        assert_eq!(left(seconds(3607), seconds(3), seconds(10)), seconds(7));
        assert_eq!(left(seconds(3600), seconds(10), seconds(10)), seconds(0));
        // The machine slept, and the other one stood still.
        assert_eq!(left(seconds(0), seconds(3), seconds(10)), seconds(0));
    }
}

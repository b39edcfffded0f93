//! The journal of the fleet on its way to watchers. Where the server does not take it, as one with an older configuration
//! does not, it is offered less and less often: each time takes as long as a server may take to answer.

use std::time::{Duration, Instant};

use ralph_board::Feed;
use ralph_sys::error::Result;

use super::desk::is_due;

const SHIP_INTERVAL: Duration = Duration::from_millis(300);
/// How soon it is offered again when that did not work the first time, and at last.
const MIN_AGAIN_INTERVAL: Duration = Duration::from_secs(5);
const MAX_AGAIN_INTERVAL: Duration = Duration::from_mins(5);

/// Ships the journal of a fleet.
pub(super) struct Shipping {
    log: Feed,
    failures: u32,
    has_shipped: bool,
    shipped: Option<Instant>,
}

impl Shipping {
    pub(super) fn of(log: Feed) -> Self {
        Self { log, failures: 0, has_shipped: false, shipped: None }
    }

    /// Whether the server took some of it.
    pub(super) fn has_shipped(&self) -> bool {
        self.has_shipped
    }

    /// Ships what it grew by, if it is time. Returns why it does not work, once.
    pub(super) fn ship(&mut self) -> Option<String> {
        if !is_due(&mut self.shipped, interval(self.failures)) {
            return None;
        }
        let error = self.ship_now().err().filter(|_| self.failures == 1);
        // What the server may take to answer is not time in which it was left alone.
        self.shipped = Some(Instant::now());
        error.map(|error| error.to_string())
    }

    /// The same at once.
    pub(super) fn ship_now(&mut self) -> Result<()> {
        let shipped = self.log.ship();
        self.has_shipped |= shipped.is_ok();
        self.failures = if shipped.is_ok() { 0 } else { self.failures.saturating_add(1) };
        shipped.map(drop)
    }
}

/// How long to wait after so many failures in a row.
fn interval(failures: u32) -> Duration {
    match failures.checked_sub(1) {
        None => SHIP_INTERVAL,
        Some(again) => MIN_AGAIN_INTERVAL.saturating_mul(2_u32.saturating_pow(again)).min(MAX_AGAIN_INTERVAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_take_it_is_asked_less_and_less_often() {
        let seconds = [1, 2, 3, 4, 7, 8, u32::MAX].map(|failures| interval(failures).as_secs());
        assert_eq!(seconds, [5, 10, 20, 40, 300, 300, 300]);
        assert_eq!(interval(0), SHIP_INTERVAL);
    }
}

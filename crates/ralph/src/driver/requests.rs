//! Takes in what a person asks of the run on its way, and waits while the person wants it to pause.

use std::time::{Duration, Instant};

use ralph_core::engine::event::Event;
use ralph_sys::process::Waited;

use super::{ledger::Ledger, site::Site};
use crate::journal::{
    requests::{self, PersonRequest},
    run_dir::RunDir,
};

/// Between two looks at the requests while the run is paused.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Whether the running turn has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// It may go on.
    GoOn,
    /// A person wants to be heard first.
    HearNow,
}

/// Records what was asked for since the last look.
pub(super) fn take(ledger: &mut Ledger, dir: &RunDir) -> Wish {
    let mut wish = Wish::GoOn;
    for (request, asked) in requests::after(dir, ledger.run().state.requests_taken()) {
        let state = &ledger.run().state;
        if matches!(asked, PersonRequest::Say { now: true, .. }) && state.is_in_turn() {
            wish = Wish::HearNow;
        }
        if let Some(event) = requests::event(state, request, asked) {
            ledger.record(event);
        }
    }
    wish
}

/// Waits a moment while the run is paused.
pub(super) fn hold(site: &mut Site) {
    if !site.run().state.is_held() {
        site.ledger.record(Event::PauseStarted);
    }
    let Site { supervisor, ledger, .. } = site;
    if supervisor.wait(Instant::now() + POLL_INTERVAL, &mut || ledger.tick()) == Waited::StopRequested {
        ledger.stop_requested();
    }
}

//! The clock on the wall, which goes on while a machine sleeps. The other one stands still then.

use jiff::Timestamp;

/// What it shows.
#[cfg(not(debug_assertions))]
pub(super) fn now() -> Timestamp {
    Timestamp::now()
}

/// What it shows. A test may have the machine sleep: only in builds with debug assertions.
#[cfg(debug_assertions)]
pub(super) fn now() -> Timestamp {
    Timestamp::now() + slept()
}

/// Names a file with the seconds that this machine has slept since the test began.
#[cfg(debug_assertions)]
const VARIABLE: &str = "RALPH_TEST_SLEPT";

#[cfg(debug_assertions)]
fn slept() -> jiff::SignedDuration {
    let path = std::env::var_os(VARIABLE);
    let text = path.and_then(|path| ralph_sys::files::read_text(std::path::Path::new(&path)).ok());
    let seconds = text.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    jiff::SignedDuration::from_secs(seconds)
}

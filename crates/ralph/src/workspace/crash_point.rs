//! Lets the tests kill ralph in the middle of a change to a workspace. In debug builds only.

/// Kills ralph here, if a test asked for it: `RALPH_TEST_CRASH=workspace:NAME`.
#[cfg(debug_assertions)]
pub(super) fn crash_point(name: &str) {
    let asked = std::env::var("RALPH_TEST_CRASH");
    if asked.is_ok_and(|asked| asked.strip_prefix("workspace:") == Some(name)) {
        ralph_sys::process::die();
    }
}

/// Nothing, in the program that people use.
#[cfg(not(debug_assertions))]
pub(super) fn crash_point(_: &str) {}

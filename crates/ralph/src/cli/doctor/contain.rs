//! Tries what this machine has to keep an agent contained.

use ralph_core::{
    containment::{level::Level, wanted::Wanted},
    doctor::Containment,
};
use ralph_sandbox::self_test;
use ralph_sys::process::Supervisor;

/// Tries every kind of sandbox.
pub(super) fn examine(supervisor: &mut Supervisor, wanted: &Wanted) -> Vec<Containment> {
    let kinds = Level::ALL.into_iter().filter(|level| *level != Level::Seatbelt || cfg!(target_os = "macos"));
    kinds
        .map(|level| Containment {
            name: level.name(),
            obstacle: self_test::obstacle(supervisor, level, wanted),
        })
        .collect()
}

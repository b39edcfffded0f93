//! Kills ralph at an exact place of its journal, so that a test can do so at every place there is.
//!
//! Only in builds with debug assertions: the program that is shipped has no such switch. A kill from outside
//! would hit a place by chance, and never the same one twice.

use std::{
    fs::File,
    io::Write,
    path::{Path, PathBuf},
};

use ralph_sys::process;

/// `N`: killed when the nth event has been written; `N:torn`: in the middle of writing it; `N:held`: it stands still then,
/// for a test that kills everything. `N FILE`: by the first process alone that comes to it, which makes the file.
const VARIABLE: &str = "RALPH_TEST_KILL_AT";

/// Where this process will die, if anywhere.
pub(crate) struct CrashPoint {
    /// The number of the event, from 1, and what happens there.
    planned: Option<(usize, Place)>,
    /// The process that makes this file dies.
    once: Option<PathBuf>,
    events: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Torn,
    After,
    Held,
}

impl CrashPoint {
    /// As the environment plans it.
    pub(crate) fn planned() -> Self {
        Self::planned_for(VARIABLE)
    }

    /// As a variable of the environment plans it.
    pub(crate) fn planned_for(variable: &str) -> Self {
        let value = std::env::var(variable).unwrap_or_default();
        let (place, once) = match value.split_once(' ') {
            Some((place, file)) => (place, Some(PathBuf::from(file))),
            None => (value.as_str(), None),
        };
        let (number, place) = match place.split_once(':') {
            Some((number, "torn")) => (number, Place::Torn),
            Some((number, "held")) => (number, Place::Held),
            Some(_) | None => (place, Place::After),
        };
        Self { planned: number.parse().ok().map(|number| (number, place)), once, events: 0 }
    }

    /// An event is about to be written.
    pub(crate) fn before_writing(&mut self, file: &mut File, line: &[u8]) {
        self.events += 1;
        if self.is_due(Place::Torn) {
            let _ = file.write(&line[..line.len() / 2]);
            process::die();
        }
    }

    /// It has been written.
    pub(crate) fn after_writing(&self) {
        if self.is_due(Place::After) {
            process::die();
        }
        if self.is_due(Place::Held) {
            process::stand_still();
        }
    }

    /// A step that is in no journal has been done.
    pub(crate) fn after_step(&mut self) {
        self.events += 1;
        self.after_writing();
    }

    fn is_due(&self, place: Place) -> bool {
        let is_first = |file: &Path| File::create_new(file).is_ok();
        self.planned == Some((self.events, place)) && self.once.as_deref().is_none_or(is_first)
    }
}

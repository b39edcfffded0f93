//! Kills ralph at an exact place of its journal, so that a test can do so at every place there is.
//!
//! Only in builds with debug assertions: the program that is shipped has no such switch. A kill from outside
//! would hit a place by chance, and never the same one twice.

use std::{fs::File, io::Write};

use ralph_sys::process;

/// `N`: killed when the nth event has been written; `N:torn`: in the middle of writing it.
const VARIABLE: &str = "RALPH_TEST_KILL_AT";

/// Where this process will die, if anywhere.
pub(crate) struct CrashPoint {
    /// The number of the event, from 1, and whether half of it is written.
    planned: Option<(usize, Place)>,
    events: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Torn,
    After,
}

impl CrashPoint {
    /// As the environment plans it.
    pub(crate) fn planned() -> Self {
        Self::planned_for(VARIABLE)
    }

    /// As a variable of the environment plans it.
    pub(crate) fn planned_for(variable: &str) -> Self {
        let planned = std::env::var(variable).ok().and_then(|value| match value.strip_suffix(":torn") {
            Some(number) => Some((number.parse().ok()?, Place::Torn)),
            None => Some((value.parse().ok()?, Place::After)),
        });
        Self { planned, events: 0 }
    }

    /// An event is about to be written.
    pub(crate) fn before_writing(&mut self, file: &mut File, line: &[u8]) {
        self.events += 1;
        if self.planned == Some((self.events, Place::Torn)) {
            let _ = file.write(&line[..line.len() / 2]);
            process::die();
        }
    }

    /// It has been written.
    pub(crate) fn after_writing(&self) {
        if self.planned == Some((self.events, Place::After)) {
            process::die();
        }
    }
}

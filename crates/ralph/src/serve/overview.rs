//! The list of runs and fleets, looked at once for all pages that show it.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    journal::run_dir::RunDir,
    live::{self, ScanScope, Scanner},
};

/// As many runs are listed: those that need a person, those at work, the newest.
const MAX_RUNS: usize = 60;
/// How often the records are looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// What is listed, kept between two looks.
pub(super) struct RunList(Mutex<Known>);

struct Known {
    scanner: Scanner,
    text: Arc<str>,
    looked: Option<Instant>,
}

impl RunList {
    /// Nothing was looked at yet; `is_bound` says whether a conversation drives a run.
    pub(super) fn new(is_bound: fn(&RunDir) -> bool) -> Self {
        let scanner = Scanner::new(ScanScope::All, is_bound);
        Self(Mutex::new(Known { scanner, text: Arc::from(""), looked: None }))
    }

    /// The list as JSON; the same value while nothing changes.
    pub(super) fn text(&self) -> Arc<str> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.looked.is_none_or(|looked| LOOK_INTERVAL <= looked.elapsed()) {
            known.look();
        }
        Arc::clone(&known.text)
    }
}

impl Known {
    fn look(&mut self) {
        // Records that cannot be read now are read the next time.
        let live::Overview { mut runs, fleets } = self.scanner.look().unwrap_or_default();
        runs.truncate(MAX_RUNS);
        // A list has no room for more.
        for run in &mut runs {
            run.turns.clear();
            run.tasks.clear();
            run.findings.clear();
            run.notes.clear();
            run.warnings.clear();
            run.refusals.clear();
            run.commands.clear();
        }
        let text = json!({"runs": runs, "fleets": fleets}).to_string();
        if *self.text != *text {
            self.text = text.into();
        }
        self.looked = Some(Instant::now());
    }
}

//! A word to a run on another machine: it goes over the board, and the record of the run says when it was heard.

use std::{
    thread,
    time::{Duration, Instant},
};

use ralph_sys::error::{Error, Result};

use super::folded;
use crate::{
    cli::print_lines,
    fleet::{FarRun, FleetDir, Word, far},
    journal::{self, run_dir::RunDir},
};

/// How long it may take until the record says that it was heard: the worker looks once in a second, and so does the run.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(8);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// An item that a worker is at.
pub(super) struct FarItem {
    pub(super) fleet: FleetDir,
    pub(super) item: String,
    /// Only this worker is meant, should another have taken the item over.
    pub(super) worker: Option<String>,
    /// The record of its run, as far as it is here.
    pub(super) run: Option<RunDir>,
}

/// Says it, and waits a little for the answer.
pub(super) fn say(to: &FarItem, word: &Word) -> Result<()> {
    if let Some(run) = &to.run {
        refuse_over(to, run)?;
    }
    let known = |run: &RunDir| folded(run).map(|it| it.state.person_notes().to_vec()).unwrap_or_default();
    let before = to.run.as_ref().map_or(0, |run| known(run).len());
    let worker = far::say(&to.fleet, (&to.item, to.worker.as_deref()), word)?;
    let when = match (word.keep, word.now) {
        (true, _) => "every turn from the next on reads it",
        (_, true) => "the running turn ends, and the next one reads it",
        _ => "the next turn reads it",
    };
    let end = Instant::now() + answer_timeout();
    while let Some(run) = to.run.as_ref().filter(|_| Instant::now() < end) {
        if let Some(note) = known(run).iter().skip(before).find(|note| note.text == word.text) {
            let (note, run) = (note.number, run.id());
            return print_lines(&format!("note {note} for run {run} on {worker}: {when}\n"));
        }
        thread::sleep(POLL_INTERVAL);
    }
    let item = &to.item;
    print_lines(&format!("the note for {item} is on the board; {worker} passes it on: {when}\n"))
}

/// Refuses a word to a run that has no turn any more: the item may have another run by now.
fn refuse_over(to: &FarItem, run: &RunDir) -> Result<()> {
    let it = FarRun::of(run);
    let newest = to.fleet.far_runs().into_iter().rfind(|known| FarRun::of(known) == it);
    if journal::end(&run.journal()).is_none() && newest.is_none_or(|newest| newest.id() == run.id()) {
        return Ok(());
    }
    let item = &to.item;
    Err(Error::new(format!("run {} is over; no turn of it will read this", run.id()))
        .hint(format!("`ralph fleet status` shows which worker is at {item} now: ralph say WORKER \"...\"")))
}

/// A test has as much time as its machine takes.
fn answer_timeout() -> Duration {
    let text = std::env::var("RALPH_TEST_ANSWER_MS").ok().filter(|_| cfg!(debug_assertions));
    text.and_then(|text| text.parse().ok()).map_or(ANSWER_TIMEOUT, Duration::from_millis)
}

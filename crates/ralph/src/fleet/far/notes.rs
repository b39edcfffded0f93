//! What a person said to a run of this worker: taken from the log of its item, and left for the run as `ralph say` does.
//!
//! A word is for the item: another worker that takes over gets it too, until the item is posted again. It is left once for
//! each run, or twice if the worker is killed between leaving it and remembering that.

use std::{
    ffi::OsStr,
    time::{Duration, Instant},
};

use ralph_core::fleet::ItemStep;
use ralph_sys::{
    error::Result,
    files::{self, Readers, Root},
};

use super::keeper::Hold;
use crate::{
    journal::{
        requests::{self, PersonRequest},
        run_dir::RunDir,
    },
    report,
};

/// How often the log is looked at.
const LISTEN_INTERVAL: Duration = Duration::from_secs(1);
/// How far a run has heard, in its folder.
const HEARD: &str = "heard";

/// What is taken to a run.
pub(super) struct FarNotes {
    /// The number of the posting: what was said before is over.
    posted: u64,
    listened: Instant,
    /// What kept the last look from its end.
    trouble: Option<String>,
}

impl FarNotes {
    pub(super) fn since(posted: u64) -> Self {
        Self { posted, listened: Instant::now(), trouble: None }
    }

    /// Takes to a run what was said since the last look. What does not work is said once, and tried again.
    pub(super) fn pass_on(&mut self, hold: &Hold, who: &str, run: &RunDir) {
        if self.listened.elapsed() < LISTEN_INTERVAL {
            return;
        }
        self.listened = Instant::now();
        let trouble = self.look(hold, who, run).err().map(|error| error.to_string());
        if let Some(error) = trouble.as_ref().filter(|_| self.trouble != trouble) {
            report::fleet::line(who, &format!("cannot pass on notes for {}: {error}", hold.item));
        }
        self.trouble = trouble;
    }

    fn look(&self, hold: &Hold, who: &str, run: &RunDir) -> Result<()> {
        let heard = files::read_text(&run.path().join(HEARD)).ok().and_then(|text| text.trim().parse().ok());
        let heard = heard.unwrap_or(0).max(self.posted);
        for (number, said) in hold.ledger.said(&hold.item, heard)? {
            match said {
                Some(ItemStep::Said { text, keep, now }) => {
                    requests::leave(run, &PersonRequest::Say { text, keep, now })?;
                    report::fleet::line(who, &format!("passes a note on to the run of {}", hold.item));
                }
                _ => report::fleet::line(
                    who,
                    &format!(
                        "does not pass on a note for {}: the lander that this worker trusts has not signed it",
                        hold.item
                    ),
                ),
            }
            Root::new(run.path()).replace(
                OsStr::new(HEARD),
                number.to_string().as_bytes(),
                Readers::Owner,
            )?;
        }
        Ok(())
    }
}

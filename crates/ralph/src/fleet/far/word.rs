//! What a person says to a run on another machine: an entry in the log of its item, signed as postings are.

use ralph_core::fleet::{ItemStep, LANDER, Stored};
use ralph_sys::error::{Error, Result};

use super::logs_of;
use crate::fleet::{FileLedger, FleetDir, Word};

/// How often others may write to the log meanwhile.
const MAX_TRIES: usize = 8;

/// Says it to the worker of an item, if it is the one that is meant; returns the worker.
pub(crate) fn say(dir: &FleetDir, (item, worker): (&str, Option<&str>), word: &Word) -> Result<String> {
    let logs = logs_of(&FileLedger::look(dir)?)?;
    let step = ItemStep::Said { text: word.text.clone(), keep: word.keep, now: word.now };
    for _ in 0..MAX_TRIES {
        let known = logs.item(item)?;
        let Some(held) = known.held() else {
            return Err(Error::new(format!("no worker is at {item}"))
                .hint("`ralph fleet status` shows who works on what"));
        };
        let now = &held.worker;
        if let Some(worker) = worker.filter(|worker| *worker != now) {
            return Err(Error::new(format!("{item} is no longer with {worker}: {now} works on it"))
                .hint(format!("say it to that worker: ralph say {now} \"...\"")));
        }
        if let Stored::At(_) = logs.append_with(item, LANDER, &step, None, known.last)? {
            return Ok(held.worker.clone());
        }
    }
    Err(Error::new(format!("others write to the log of {item} all the time; try again")))
}

//! The records of runs on other machines, as far as they arrived: kept like those of this machine, so that whoever looks at
//! runs here sees them too.

use std::{collections::BTreeMap, fs::File, io::Write, path::PathBuf};

use ralph_board::Piece;
use ralph_core::{
    engine::{entry::Entry, event::Event},
    fleet::FleetState,
};
use ralph_sys::{error::Result, file_lock, paths::state_dir};
use serde_json::Value;

use crate::{
    fleet::{
        crew::Watched,
        dir::{FAR, ref_name},
    },
    journal::run_dir::{JOURNAL, RunDir, record, record_into},
    receipt::RECEIPT,
};

/// The folder of what a worker of a fleet recorded, in the state folder.
pub(in crate::fleet) fn folder(fleet: &str, worker: &str) -> Result<PathBuf> {
    Ok(state_dir()?.join(format!("{FAR}{fleet}-{}", ref_name(worker))))
}

/// Keeps what a run elsewhere says of itself, where the run is not recorded on this machine anyway.
pub(super) fn keep_receipt(fleet: &str, worker: &str, run: &str, receipt: &Value) -> Result<()> {
    let path = folder(fleet, worker)?.join("runs").join(run);
    let is_own = RunDir::all()?.into_iter().any(|known| known.id() == run && known.path() != path);
    if is_plain(run) && !is_own {
        record(&path.join(RECEIPT), receipt.to_string().as_bytes())?;
    }
    Ok(())
}

/// Whether it can be the name of a folder.
fn is_plain(run: &str) -> bool {
    !run.is_empty() && run.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The journals that are being received.
#[derive(Default)]
pub(super) struct Mirror {
    journals: BTreeMap<(String, u64, String), Journal>,
}

struct Journal {
    /// Nothing where the run is recorded on this machine anyway. Its lock says that the run is alive.
    file: Option<File>,
    watched: Option<Watched>,
}

impl Mirror {
    /// Takes a piece in. What a worker sends is its own word, and nothing more.
    pub(super) fn take(&mut self, fleet: &str, piece: &Piece) -> Result<()> {
        let key = (piece.item.clone(), piece.lease, piece.worker.clone());
        if piece.offset == 0 {
            self.journals.remove(&key);
            let journal = match run_id(&piece.bytes) {
                Some(run) => begin(fleet, &piece.worker, &run)?,
                None => Journal { file: None, watched: None },
            };
            self.journals.insert(key.clone(), journal);
        }
        if let Some(file) = self.journals.get_mut(&key).and_then(|journal| journal.file.as_mut()) {
            file.write_all(&piece.bytes)?;
        }
        Ok(())
    }

    /// What every run has cost, as far as that arrived.
    pub(super) fn spent(&mut self) -> Vec<(String, f64)> {
        let watched = self.journals.values_mut().filter_map(|journal| journal.watched.as_mut());
        watched.filter_map(|watched| watched.read().spent).collect()
    }

    /// Lets go of what no one works on any more.
    pub(super) fn release(&mut self, state: &FleetState) {
        for ((item, lease, _), journal) in &mut self.journals {
            let is_over = state.item(item).held().is_none_or(|held| held.sequence != *lease);
            if let Some(file) = journal.file.as_ref().filter(|_| is_over) {
                let _ = file.unlock();
            }
        }
    }
}

/// The id of the run whose journal begins so.
fn run_id(bytes: &[u8]) -> Option<String> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let Event::RunStarted(started) = Entry::of_line(line)?.event else { return None };
    Some(started.run.clone()).filter(|run| is_plain(run))
}

fn begin(fleet: &str, worker: &str, run: &str) -> Result<Journal> {
    let path = folder(fleet, worker)?.join("runs").join(run);
    let own = RunDir::all()?.into_iter().find(|known| known.id() == run && known.path() != path);
    if let Some(own) = own {
        return Ok(Journal { file: None, watched: Some(Watched::new(own)) });
    }
    fs_err::create_dir_all(&path)?;
    let file = record_into(&path.join(JOURNAL))?;
    // Somebody who looks at this moment may hold it; it is only a sign.
    let _ = file_lock::take_within(&file, std::time::Duration::ZERO);
    Ok(Journal { file: Some(file), watched: Some(Watched::new(RunDir::at(path))) })
}

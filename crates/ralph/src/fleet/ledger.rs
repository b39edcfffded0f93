//! The journal of a fleet in a file: the log of every item, and what else happened.
//!
//! One writer, which holds the lock; one `write` for each entry. A torn last line is cut off by the next writer.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use ralph_core::fleet::{FleetEntry, FleetEvent, FleetState, ItemEntry, ItemStep, Ledger, Stored};
use ralph_sys::{
    error::{Context, Error, Result},
    file_lock,
};

use super::dir::FleetDir;
use crate::journal;
#[cfg(debug_assertions)]
use crate::journal::crash_point::CrashPoint;

/// The guardian of a fleet that was killed holds the lock until everything is gone.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(40);

/// The journal, and what it says.
pub(crate) struct FileLedger {
    file: File,
    entries: Vec<FleetEntry>,
    state: FleetState,
    #[cfg(debug_assertions)]
    death: CrashPoint,
}

impl FileLedger {
    /// Opens a journal for writing.
    pub(crate) fn open(dir: &FleetDir) -> Result<Self> {
        let path = dir.journal();
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .context(format!("cannot open {}", path.display()))?;
        match file_lock::take_within(&file, Duration::ZERO) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let alive = Self::read_all(&path).is_ok_and(|(state, _)| {
                    state.pid != std::process::id() && ralph_sys::process::is_alive(state.pid.cast_signed())
                });
                if alive {
                    return Err(Error::new("this fleet is still running")
                        .hint("`ralph fleet status` shows it, `ralph fleet stop` ends it"));
                }
                file_lock::take_within(&file, RELEASE_TIMEOUT)
                    .context("processes of this fleet are still being ended")?;
            }
            taken => taken.context(format!("cannot lock {}", path.display()))?,
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64)?;
        let entries = parse(&bytes[..whole]);
        let state = FleetState::fold(&entries);
        Ok(Self {
            file,
            entries,
            state,
            #[cfg(debug_assertions)]
            death: CrashPoint::planned_for("RALPH_TEST_KILL_FLEET_AT"),
        })
    }

    /// What a journal says, for a person who only looks.
    pub(crate) fn look(dir: &FleetDir) -> Result<FleetState> {
        Ok(Self::read_all(&dir.journal())?.0)
    }

    /// The entries of a journal after the first `known`, for a person who only looks.
    pub(crate) fn entries_after(dir: &FleetDir, known: usize) -> Result<Vec<FleetEntry>> {
        Ok(Self::read_all(&dir.journal())?.1.into_iter().skip(known).collect())
    }

    fn read_all(path: &Path) -> Result<(FleetState, Vec<FleetEntry>)> {
        let bytes = fs_err::read(path)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let entries = parse(&bytes[..whole]);
        Ok((FleetState::fold(&entries), entries))
    }

    /// Another handle on the lock, for the guardian.
    pub(crate) fn lock(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub(crate) fn state(&self) -> &FleetState {
        &self.state
    }

    /// The last entry.
    pub(super) fn last(&self) -> Option<&FleetEntry> {
        self.entries.last()
    }

    /// Appends what happened; returns the entry.
    pub(crate) fn record(&mut self, event: FleetEvent) -> io::Result<&FleetEntry> {
        let n = self.state.last + 1;
        let entry = FleetEntry { n, at: journal::now(), event };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        #[cfg(debug_assertions)]
        self.death.before_writing(&mut self.file, &line);
        self.file.write_all(&line)?;
        #[cfg(debug_assertions)]
        self.death.after_writing();
        self.state.apply(&entry);
        let at = self.entries.len();
        self.entries.push(entry);
        Ok(&self.entries[at])
    }
}

impl Ledger for FileLedger {
    type Error = io::Error;

    fn read(&self, item: &str) -> io::Result<Vec<ItemEntry>> {
        let of_item = |entry: &FleetEntry| match &entry.event {
            FleetEvent::Item { item: id, who, board, step } if id == item => {
                let sequence = board.unwrap_or(entry.n);
                Some(ItemEntry { sequence, who: who.clone(), step: step.clone() })
            }
            _ => None,
        };
        Ok(self.entries.iter().filter_map(of_item).collect())
    }

    fn append(&mut self, item: &str, who: &str, step: ItemStep, after: u64) -> io::Result<Stored> {
        if self.state.item(item).last != after {
            return Ok(Stored::Overtaken);
        }
        let (item, who) = (item.to_owned(), who.to_owned());
        Ok(Stored::At(self.record(FleetEvent::Item { item, who, board: None, step })?.n))
    }
}

fn parse(bytes: &[u8]) -> Vec<FleetEntry> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

//! The records of runs on other machines, as far as they arrived: kept like those of this machine, so that a person who
//! looks at runs here sees them too.
//!
//! What a worker sends is its own word, and may be anything. It has a bounded number of files open here and a bounded part of
//! the disk, and what is wrong with one journal ends no other.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ralph_board::Piece;
use ralph_core::{
    engine::{entry::Entry, event::Event},
    fleet::{FleetPlan, FleetState, Item},
};
use ralph_sys::{
    error::{Error, Result},
    file_lock,
    paths::state_dir,
};
use serde_json::Value;

use crate::{
    fleet::{
        FarRun,
        crew::Watched,
        dir::{FAR, ref_name},
    },
    journal::run_dir::{RunDir, record, record_into},
    receipt::RECEIPT,
    report,
};

/// Longer than any id that ralph makes, and no trouble for a file system.
const MAX_RUN_ID_LEN: usize = 64;
/// The journals of one worker that are open at once: more than it has lanes.
const MAX_OPEN_JOURNALS: usize = 64;
/// The journals of one worker that are known at once: more claims than a worker makes in one fleet.
const MAX_JOURNALS: usize = 1000;
/// A long run has a tenth of it.
const MAX_JOURNAL_LEN: u64 = 256 * 1024 * 1024;
/// What one worker may take of the disk for one fleet.
const MAX_WORKER_LEN: u64 = 4 * 1024 * 1024 * 1024;
/// How long a run is taken for alive whose claim is not known. The claim is late where the lander is away.
const UNCLAIMED_TIMEOUT: Duration = Duration::from_mins(1);
/// Others hold a journal for the moment in which they look at whether its run is alive.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// Keeps what a run elsewhere says of itself, where the run is not recorded on this machine anyway.
pub(super) fn keep_receipt(fleet: &str, worker: &str, run: &str, receipt: &Value) -> Result<()> {
    let path = folder(&state_dir()?, fleet, worker).join("runs").join(run);
    if is_plain(run) && own(run, &path)?.is_none() {
        record(&path.join(RECEIPT), receipt.to_string().as_bytes())?;
    }
    Ok(())
}

/// The folder of what a worker of a fleet recorded, in the state folder.
fn folder(state: &Path, fleet: &str, worker: &str) -> PathBuf {
    state.join(format!("{FAR}{fleet}-{}", ref_name(worker)))
}

/// The record of the run that this machine has anyway, because it works there.
fn own(run: &str, copy: &Path) -> Result<Option<RunDir>> {
    Ok(RunDir::all()?.into_iter().find(|known| known.id() == run && known.path() != copy))
}

/// Whether it can be the name of a folder.
fn is_plain(run: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !run.is_empty() && run.len() <= MAX_RUN_ID_LEN && run.chars().all(is_plain)
}

/// The item, the lease and the worker of a journal.
type Key = (String, u64, String);

/// The journals that are being received.
pub(super) struct Mirror {
    /// The state folder.
    place: PathBuf,
    fleet: String,
    items: BTreeSet<String>,
    journals: BTreeMap<Key, Journal>,
    /// The workers that have too many, of whom that was said.
    full: BTreeSet<String>,
    /// The most that a journal, and all journals of a worker, may have.
    most: (u64, u64),
}

enum Journal {
    /// The run is recorded on this machine anyway.
    Own(Watched),
    Copied(Copied),
    /// Not followed any more. It was said why.
    Dropped {
        length: u64,
    },
}

struct Copied {
    run: RunDir,
    /// Its lock says that the run is alive.
    file: Option<File>,
    length: u64,
    written: Instant,
    watched: Watched,
}

impl Mirror {
    /// Of a fleet that works on this.
    pub(super) fn new(fleet: &str, plan: &FleetPlan) -> Result<Self> {
        Ok(Self {
            place: state_dir()?,
            fleet: fleet.to_owned(),
            items: plan.items.iter().map(|item| item.id.clone()).collect(),
            journals: BTreeMap::new(),
            full: BTreeSet::new(),
            most: (MAX_JOURNAL_LEN, MAX_WORKER_LEN),
        })
    }

    /// Takes a piece in. A journal that cannot be kept is followed no longer.
    pub(super) fn take(&mut self, piece: &Piece) {
        if piece.is_of_fleet() || !self.items.contains(&piece.item) {
            return;
        }
        let key = (piece.item.clone(), piece.lease, piece.worker.clone());
        let is_known = self.journals.contains_key(&key);
        let is_followed = is_known || piece.offset == 0 && self.has_room_for(&piece.worker);
        if is_followed && let Err(error) = self.keep(&key, piece) {
            let (item, _, worker) = &key;
            say(&format!("does not follow the run of {worker} for {item} any longer: {error}"));
            let length = self.journals.get(&key).map_or(0, Journal::length);
            self.journals.insert(key, Journal::Dropped { length });
        }
    }

    fn has_room_for(&mut self, worker: &str) -> bool {
        let has_room = self.journals.keys().filter(|key| key.2 == worker).count() < MAX_JOURNALS;
        if !has_room && self.full.insert(worker.to_owned()) {
            say(&format!("follows no more runs of {worker}: it has had {MAX_JOURNALS}"));
        }
        has_room
    }

    fn keep(&mut self, key: &Key, piece: &Piece) -> Result<()> {
        if piece.offset == 0 {
            self.begin(key, &piece.bytes)?;
        }
        let of_worker = self.journals.iter().filter(|(known, _)| known.2 == key.2);
        let of_worker: u64 = of_worker.map(|(_, journal)| journal.length()).sum();
        let Some(Journal::Copied(copied)) = self.journals.get_mut(key) else { return Ok(()) };
        let (length, (of_one, of_all)) = (piece.bytes.len() as u64, self.most);
        if of_one < copied.length + length || of_all < of_worker + length {
            return Err(Error::new("its record is too long"));
        }
        copied.write(&piece.bytes)?;
        self.close_oldest(&key.2);
        Ok(())
    }

    /// Begins with a journal, or again with it.
    fn begin(&mut self, key: &Key, bytes: &[u8]) -> Result<()> {
        let (item, _, worker) = key;
        let run = run_id(bytes).ok_or_else(|| Error::new("its record does not begin as one"))?;
        let path = folder(&self.place, &self.fleet, worker).join("runs").join(&run);
        match self.journals.get(key) {
            Some(Journal::Dropped { .. }) => return Ok(()),
            // As many folders as leases, and no more.
            Some(Journal::Copied(known)) if known.run.path() != path => {
                return Err(Error::new("its record begins again as that of another run"));
            }
            Some(Journal::Own(_) | Journal::Copied(_)) | None => {}
        }
        // Under an earlier lease too: who continues a run sends all of it again.
        let is_its =
            |journal: &Journal| matches!(journal, Journal::Copied(known) if known.run.path() == path);
        self.journals.retain(|_, journal| !is_its(journal));
        if let Some(own) = own(&run, &path)? {
            self.journals.insert(key.clone(), Journal::Own(Watched::new(own)));
            return Ok(());
        }
        fs_err::create_dir_all(&path)?;
        let run = RunDir::at(path);
        let far = FarRun { fleet: self.fleet.clone(), item: item.clone(), worker: worker.clone() };
        far.write(&run)?;
        record_into(&run.journal())?;
        let watched = Watched::new(run.clone());
        let copied = Copied { run, file: None, length: 0, written: Instant::now(), watched };
        self.journals.insert(key.clone(), Journal::Copied(copied));
        Ok(())
    }

    fn close_oldest(&mut self, worker: &str) {
        let of_worker = self.journals.iter_mut().filter(|(key, _)| key.2 == worker);
        let mut open: Vec<&mut Copied> = of_worker
            .filter_map(|(_, journal)| match journal {
                Journal::Copied(copied) => Some(copied),
                Journal::Own(_) | Journal::Dropped { .. } => None,
            })
            .filter(|copied| copied.file.is_some())
            .collect();
        if MAX_OPEN_JOURNALS < open.len()
            && let Some(oldest) = open.iter_mut().min_by_key(|copied| copied.written)
        {
            oldest.file = None;
        }
    }

    /// What every run has cost, as far as that arrived.
    pub(super) fn spent(&mut self) -> Vec<(String, f64)> {
        let watched = self.journals.values_mut().filter_map(|journal| match journal {
            Journal::Own(watched) => Some(watched),
            Journal::Copied(copied) => Some(&mut copied.watched),
            Journal::Dropped { .. } => None,
        });
        watched.filter_map(|watched| watched.read().spent).collect()
    }

    /// Closes what no one works on any more.
    pub(super) fn release(&mut self, state: &FleetState) {
        for ((item, lease, worker), journal) in &mut self.journals {
            if let Journal::Copied(copied) = journal
                && is_over(state.items.get(item), (*lease, worker), copied.written.elapsed())
            {
                copied.file = None;
            }
        }
    }
}

impl Journal {
    /// How much of the disk it takes here.
    fn length(&self) -> u64 {
        match self {
            Self::Own(_) => 0,
            Self::Copied(copied) => copied.length,
            Self::Dropped { length } => *length,
        }
    }
}

impl Copied {
    /// Adds to it. It may have been closed because it seemed to be over.
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.file.is_none() {
            let file = File::options().append(true).open(self.run.journal())?;
            // It is only a sign.
            let _ = file_lock::take_within(&file, LOCK_TIMEOUT);
            self.file = Some(file);
        }
        if let Some(file) = &mut self.file {
            file.write_all(bytes)?;
        }
        self.length += bytes.len() as u64;
        self.written = Instant::now();
        Ok(())
    }
}

/// Whether no one works under a lease any more, as far as it is known here; its journal has been silent for so long.
fn is_over(item: Option<&Item>, (lease, worker): (u64, &str), silence: Duration) -> bool {
    match item {
        Some(item) if lease <= item.last => {
            item.held().is_none_or(|held| held.sequence != lease || held.worker != worker)
        }
        // The record of a run can arrive before the claim that it works under.
        Some(_) | None => UNCLAIMED_TIMEOUT < silence,
    }
}

/// The id of the run whose journal begins so.
fn run_id(bytes: &[u8]) -> Option<String> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let Event::RunStarted(started) = Entry::of_line(line)?.event else { return None };
    Some(started.run.clone()).filter(|run| is_plain(run))
}

fn say(text: &str) {
    report::fleet::line("board", text);
}

#[cfg(test)]
mod tests;

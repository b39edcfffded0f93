//! A damaged journal: what of it can be believed, and a journal made of that.
//!
//! Invariant: the damaged one is kept beside it, and nothing is changed where the run could not continue afterwards.

use std::{
    io::{BufReader, Write},
    path::{Path, PathBuf},
};

use ralph_core::engine::{
    Run,
    chain::{self, Chain, ChainReader},
    entry::Entry,
    event::Event,
};
use ralph_sys::error::{Error, Result};

use super::{Journal, each_line, now, run_dir::RunDir};

/// As often one journal can be repaired.
const MAX_REPAIRS: u32 = 1000;

/// What was found in a journal.
pub(crate) struct Damage {
    /// How many lines it has.
    pub(crate) lines: u64,
    /// How many of them version 0.1 wrote: they carry no number, so nothing is known about them.
    pub(crate) unchained: u64,
    /// Those that cannot be believed, each with what was recorded before it.
    pub(crate) lost: Vec<LostLine>,
    /// The run that the others tell of; nothing if its start is not among them.
    pub(crate) run: Option<Run>,
    /// The lines that can be believed, without their numbers.
    saved: Vec<Vec<u8>>,
}

/// A line that cannot be believed.
pub(crate) struct LostLine {
    /// From 1.
    pub(crate) number: u64,
    /// What was recorded before it.
    pub(crate) after: Option<Entry>,
}

/// Looks at a journal.
pub(crate) fn look(path: &Path) -> Result<Damage> {
    let (mut reader, mut saved, mut entries) = (ChainReader::default(), Vec::new(), Vec::<Entry>::new());
    let mut lost = Vec::new();
    each_line(&mut BufReader::new(fs_err::File::open(path)?), 0, &mut |line| {
        if reader.take(line) {
            entries.extend(Entry::of_line(line));
            saved.push(chain::unchained(line));
        } else {
            lost.push(LostLine { number: reader.lines, after: entries.last().cloned() });
        }
    })?;
    let is_start_lost = lost.first().is_some_and(|line| line.number == 1);
    let run = Run::fold(&entries).filter(|_| !is_start_lost);
    Ok(Damage { lines: reader.lines, unchained: reader.unchained, lost, run, saved })
}

/// Makes a journal of what can be believed. Returns where the damaged one is kept.
pub(crate) fn repair(run: &RunDir, damage: &Damage) -> Result<PathBuf> {
    let path = run.journal();
    // Held until the new one is in its place: no process writes meanwhile.
    let journal = Journal::open(&path)?;
    let is_free = |name: &PathBuf| !name.exists();
    let mut names = (1..=MAX_REPAIRS).map(|nth| run.path().join(format!("journal.damaged-{nth}.jsonl")));
    let kept = names.find(is_free).ok_or_else(|| Error::new("there are too many damaged journals"))?;
    fs_err::copy(&path, &kept)?;
    let lost = damage.lost.iter().map(|line| line.number).collect();
    let event = Event::RecordRepaired { lost, lines: damage.lines };
    let mut chain = Chain::default();
    let mut file = tempfile::NamedTempFile::new_in(run.path())?;
    for mut line in damage.saved.iter().cloned().chain([Entry { at: now(), event }.to_line()]) {
        chain.close(&mut line);
        line.push(b'\n');
        file.write_all(&line)?;
    }
    file.as_file().sync_data()?;
    file.persist(&path).map_err(|error| error.error)?;
    journal.unlock();
    Ok(kept)
}

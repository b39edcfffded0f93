//! The append-only record of a run: one JSON object per line.
//!
//! Invariant: one writer, one `write` per event, so a killed ralph loses nothing that happened. What others act on is on the
//! disk before they can, so that a power cut does not lose it either. A torn last line (power loss, full disk) is passed
//! over by readers and cut off by the next writer.
//! Each line carries the number of the chain ([`ralph_core::engine::chain`]); who acts on a journal reads it by [`fold`], which
//! refuses a damaged one.

mod brief;
#[cfg(debug_assertions)]
pub(crate) mod crash_point;
pub(crate) mod hook_notes;
pub(crate) mod kept_stream;
pub(crate) mod local_time;
pub(crate) mod repair;
pub(crate) mod requests;
pub(crate) mod run_dir;
pub(crate) mod tries;

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use jiff::Timestamp;
use memchr::{memchr, memmem::Finder};
use ralph_core::engine::{
    Run,
    chain::{Chain, ChainReader, Link},
    entry::Entry,
    event::{Event, RunStarted},
    outcome::Outcome,
};
use ralph_sandbox::is_inside;
use ralph_sys::{
    error::{Context, Error, Result},
    file_lock,
    process::is_alive,
};

use brief::Brief;
use run_dir::RunDir;

/// The writing end.
pub(crate) struct Journal {
    file: File,
    /// What the next line follows.
    chain: Chain,
    /// What could not be written yet.
    unsaved: Vec<u8>,
    #[cfg(debug_assertions)]
    death: crash_point::CrashPoint,
}

/// As much of a journal as is read at once.
const BUFFER_LEN: usize = 256 * 1024;

/// A guardian that goes gives up its locks one after the other.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(1);

impl Journal {
    /// Opens a journal for writing, and takes the lock that says that its run is alive.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .mode(0o600)
            .open(path)
            .context(format!("cannot open {}", path.display()))?;
        match file_lock::take_within(&file, RELEASE_TIMEOUT) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Error::new("this run is still running")
                    .hint("`ralph status` shows it, `ralph stop` ends it"));
            }
            Err(error) => return Err(error).context(format!("cannot lock {}", path.display())),
        }
        let whole = end_of_last_line(&mut file)?;
        file.set_len(whole)?;
        let chain = chain_at(&mut file, whole)?;
        Ok(Self {
            file,
            chain,
            unsaved: Vec::new(),
            #[cfg(debug_assertions)]
            death: crash_point::CrashPoint::planned(),
        })
    }

    /// Another handle on the lock, for the guardian.
    pub(crate) fn lock(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Gives the lock up, also for those who share it: the run is over.
    pub(crate) fn unlock(&self) {
        // What cannot be unlocked is unlocked when the last process that shares it ends.
        let _ = self.file.unlock();
    }

    /// Appends an event.
    pub(crate) fn append(&mut self, entry: &Entry) -> io::Result<()> {
        self.append_line(&entry.to_line())
    }

    /// Appends the line of an event. What a full disk refuses is kept and written with the next one.
    pub(crate) fn append_line(&mut self, line: &[u8]) -> io::Result<()> {
        let mut line = line.to_vec();
        self.chain.close(&mut line);
        self.unsaved.extend_from_slice(&line);
        self.unsaved.push(b'\n');
        #[cfg(debug_assertions)]
        self.death.before_writing(&mut self.file, &self.unsaved);
        while !self.unsaved.is_empty() {
            match self.file.write(&self.unsaved) {
                Ok(written) => drop(self.unsaved.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        #[cfg(debug_assertions)]
        self.death.after_writing();
        Ok(())
    }

    /// Waits until the disk has what was written so far: others are about to act on it, and the power may go.
    pub(crate) fn milestone(&self) {
        // A disk that cannot keep it has been reported by the write.
        let _ = self.file.sync_data();
    }
}

/// Where the last whole line ends.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    let end = file.seek(SeekFrom::End(0))?;
    end_of_line_before(file, end)
}

/// Where the last line ends that ends before this place.
fn end_of_line_before(file: &mut File, mut end: u64) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    while 0 < end {
        let start = end.saturating_sub(STEP);
        file.seek(SeekFrom::Start(start))?;
        let mut block = vec![0; usize::try_from(end - start).unwrap_or(0)];
        io::Read::read_exact(file, &mut block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// What a line follows that is appended where the last whole line ends.
fn chain_at(file: &mut File, whole: u64) -> io::Result<Chain> {
    let Some(before) = whole.checked_sub(1) else { return Ok(Chain::default()) };
    let start = end_of_line_before(file, before)?;
    let mut last = vec![0; usize::try_from(before - start).unwrap_or(0)];
    file.seek(SeekFrom::Start(start))?;
    io::Read::read_exact(file, &mut last)?;
    if let Some(chain) = Chain::after(&last) {
        return Ok(chain);
    }
    // Version 0.1 wrote no numbers: what it recorded is under the first one.
    file.seek(SeekFrom::Start(0))?;
    let mut reader = ChainReader::default();
    each_line(&mut BufReader::new(file), 0, &mut |line| _ = reader.take(line))?;
    Ok(reader.chain())
}

/// This moment, as exactly as a journal keeps it: what a run remembers is then what its record says.
pub(crate) fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
}

/// Whether the run of a journal is alive: its writer holds the lock.
pub(crate) fn is_running(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// The process of a run, if it is running. A locked journal alone does not say so: the guardian of a ralph
/// that was killed holds the lock until it has cleaned up.
pub(crate) fn process(run: &RunDir) -> Option<u32> {
    let journal = run.journal();
    if !is_running(&journal) {
        return None;
    }
    let mut process = None;
    // Both lines that say it have this key; the others, tens of thousands in a long run, need not be understood.
    let key = Finder::new("\"pid\":");
    let read = each_line(&mut reader(&journal).ok()?, 0, &mut |line| match key
        .find(line)
        .and_then(|_| Entry::of_line(line))
        .map(|entry| entry.event)
    {
        Some(Event::RunStarted(started)) => process = Some(started.pid),
        Some(Event::RunResumed { pid, .. }) => process = Some(pid),
        _ => {}
    });
    // From inside a sandbox no process outside is to be seen.
    // Nor those of another machine.
    let is_hidden = is_inside() || run.is_elsewhere();
    process.filter(|pid| read.is_ok() && (is_hidden || is_alive(pid.cast_signed())))
}

/// Reads a journal from a position on; returns where the last whole line ended.
pub(crate) fn read_from(path: &Path, position: u64, each: &mut dyn FnMut(Entry)) -> Result<u64> {
    let mut reader = reader(path)?;
    reader.seek(SeekFrom::Start(position))?;
    Ok(read_lines(&mut reader, position, each)?)
}

/// Reads the lines of a journal that begin at a position; returns where the last whole line ended.
pub(crate) fn read_lines(
    reader: &mut dyn BufRead,
    position: u64,
    each: &mut dyn FnMut(Entry),
) -> io::Result<u64> {
    // A line that is damaged in the middle (a disk that was full, then not) hides no other.
    each_line(reader, position, &mut |line| {
        if let Some(entry) = Entry::of_line(line) {
            each(entry);
        }
    })
}

/// Reads the whole lines that begin at a position, each without its end; returns where the last one ended.
pub(crate) fn each_line(
    reader: &mut dyn BufRead,
    mut position: u64,
    each: &mut dyn FnMut(&[u8]),
) -> io::Result<u64> {
    // The beginning of a line whose end is not in the buffer.
    let mut begun = Vec::new();
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(position);
        }
        let (mut rest, length) = (buffer, buffer.len());
        while let Some(end) = memchr(b'\n', rest) {
            if begun.is_empty() {
                each(&rest[..end]);
            } else {
                begun.extend_from_slice(&rest[..end]);
                each(&begun);
                position += (begun.len() - end) as u64;
                begun.clear();
            }
            position += end as u64 + 1;
            rest = &rest[end + 1..];
        }
        begun.extend_from_slice(rest);
        reader.consume(length);
    }
}

/// A journal to be read from its beginning: long ones have megabytes.
pub(crate) fn reader(path: &Path) -> Result<BufReader<fs_err::File>> {
    Ok(BufReader::with_capacity(BUFFER_LEN, fs_err::File::open(path)?))
}

/// The first event of a journal, without reading the rest. Nothing if it is damaged.
pub(crate) fn started(path: &Path) -> Option<Box<RunStarted>> {
    let mut line = Vec::new();
    BufReader::new(File::open(path).ok()?).read_until(b'\n', &mut line).ok()?;
    let line = line.strip_suffix(b"\n")?;
    match Entry::of_line(line).filter(|_| Chain::default().take(line) != Link::Broken)?.event {
        Event::RunStarted(started) => Some(started),
        _ => None,
    }
}

/// How a run ended, if the last event says so: when, how, and what ralph exited with.
pub(crate) fn end(path: &Path) -> Option<(Timestamp, Outcome, u8)> {
    let mut file = File::open(path).ok()?;
    let mut whole = end_of_last_line(&mut file).ok()?;
    loop {
        let before = end_of_line_before(&mut file, whole.checked_sub(1)?).ok()?;
        let mut line = vec![0; usize::try_from(whole - before).ok()?];
        file.seek(SeekFrom::Start(before)).ok()?;
        io::Read::read_exact(&mut file, &mut line).ok()?;
        match Entry::of_line(&line)? {
            Entry { at, event: Event::RunEnded { outcome, exit_code } } => {
                return Some((at, outcome, exit_code));
            }
            // A person has looked since, or proposed it.
            Entry { event: Event::Accepted { .. } | Event::PullRequest(_), .. } => whole = before,
            _ => return None,
        }
    }
}

/// A run as its journal tells it.
pub(crate) struct Folded {
    pub(crate) run: Run,
    pub(crate) entries: Vec<Entry>,
    /// How many lines carry no number: those of version 0.1.
    pub(crate) unchained: u64,
}

/// Reads a whole journal and folds it. One that is damaged is refused: half of a rule can be another rule.
pub(crate) fn fold(path: &Path) -> Result<Folded> {
    let mut entries = Vec::new();
    let (run, reader) = fold_each(path, &mut |_| {}, &mut |entry| entries.push(entry))?;
    Ok(Folded { run, entries, unchained: reader.unchained })
}

/// The same, of which no more is kept than says how the run stands; each entry is shown to a caller that wants more.
pub(crate) fn fold_brief(path: &Path, watch: &mut dyn FnMut(&Entry)) -> Result<Folded> {
    fold_brief_lines(path, &mut |_| {}, watch).map(|(folded, _)| folded)
}

/// The same for who wants the lines, too; with what the chain is like.
pub(crate) fn fold_brief_lines(
    path: &Path,
    line: &mut dyn FnMut(&[u8]),
    watch: &mut dyn FnMut(&Entry),
) -> Result<(Folded, ChainReader)> {
    let mut brief = Brief::default();
    let (run, reader) = fold_each(path, line, &mut |entry| {
        watch(&entry);
        brief.push(entry);
    })?;
    let folded = Folded { run, entries: brief.entries(), unchained: reader.unchained };
    Ok((folded, reader))
}

/// Reads a whole journal, hands on each line without its end and each entry, and says what the chain is like. Nothing that
/// was handed on is believed where this fails.
pub(crate) fn fold_each(
    path: &Path,
    line: &mut dyn FnMut(&[u8]),
    each: &mut dyn FnMut(Entry),
) -> Result<(Run, ChainReader)> {
    let mut chain = ChainReader::default();
    let mut run: Option<Option<Run>> = None;
    let end = each_line(&mut reader(path)?, 0, &mut |bytes| {
        chain.take(bytes);
        line(bytes);
        let Some(entry) = Entry::of_line(bytes) else { return };
        match &mut run {
            None => run = Some(Run::begin(&entry)),
            Some(Some(run)) => run.apply(&entry),
            Some(None) => {}
        }
        each(entry);
    })?;
    if let Some(first) = chain.broken.first() {
        return Err(damaged(path, *first));
    }
    if end == 0 {
        return Err(Error::new(
            "nothing of the run is recorded: it ended before it began, or the disk was full",
        )
        .hint("start it again"));
    }
    let run = run.flatten().ok_or_else(|| no_beginning(&path.display().to_string()))?;
    Ok((run, chain))
}

/// What is the matter with a journal that is damaged.
pub(crate) fn damage(path: &Path) -> Result<Option<Error>> {
    let mut chain = ChainReader::default();
    each_line(&mut reader(path)?, 0, &mut |line| _ = chain.take(line))?;
    Ok(chain.broken.first().map(|line| damaged(path, *line)))
}

/// What is said about a journal of which this line is not as it was written.
pub(crate) fn damaged(path: &Path, line: u64) -> Error {
    let run = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    Error::new(format!(
        "the record of the run is damaged: line {line} of {} is not as ralph wrote it",
        path.display()
    ))
    .hint(format!("see what can be saved: ralph doctor --repair {run}"))
}

/// Folds what was read from the journal of this name.
pub(crate) fn fold_entries(name: &str, entries: Vec<Entry>) -> Result<Folded> {
    let run = Run::fold(&entries).ok_or_else(|| no_beginning(name))?;
    Ok(Folded { run, entries, unchained: 0 })
}

fn no_beginning(name: &str) -> Error {
    Error::new(format!("{name} does not begin with the start of a run"))
}

#[cfg(test)]
mod tests;

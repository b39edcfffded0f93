//! A stream that never makes its writer wait: a pager that shows the first page, a terminal after Ctrl-S, a connection that
//! was lost.
//!
//! Theory of operation: what is written waits in a queue, and a thread takes it to the stream, where it may wait for as long
//! as the reader likes. A queue that is full loses its oldest pieces, and the reader is told how many lines that were.
//! Regular files and devices that are no terminals have no reader who sleeps: they are written at once.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::fs::{FileType, fstat};

/// As much waits for a reader. A night of an agent's words is less.
const MAX_QUEUED_LEN: usize = 8 * 1024 * 1024;
/// At the end so long is waited for a reader.
pub const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// What the reader is told about lines that it was not shown; text for a stream of text.
pub type Notice = fn(lines: u64) -> Vec<u8>;

/// A stream that never makes its writer wait, except at the end, and then only for [`FLUSH_TIMEOUT`].
pub struct Outlet(Way);

enum Way {
    Direct(File),
    Queued(Arc<Shared>),
}

impl Outlet {
    /// Writes to this stream, by a handle of its own.
    pub fn new(stream: impl AsFd, notice: Notice) -> io::Result<Self> {
        let file = File::from(stream.as_fd().try_clone_to_owned()?);
        if !has_reader(&file) {
            return Ok(Self(Way::Direct(file)));
        }
        Self::queued(file, notice, MAX_QUEUED_LEN)
    }

    fn queued(stream: impl Write + Send + 'static, notice: Notice, max_len: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), max_len });
        let theirs = Arc::clone(&shared);
        thread::Builder::new().name("outlet".to_owned()).spawn(move || theirs.pass_on(stream, notice))?;
        Ok(Self(Way::Queued(shared)))
    }

    /// Another way into the same queue.
    pub fn another(&self) -> io::Result<Self> {
        Ok(Self(match &self.0 {
            Way::Direct(file) => Way::Direct(file.try_clone()?),
            Way::Queued(shared) => Way::Queued(Arc::clone(shared)),
        }))
    }

    /// Waits until everything is written, but not for long.
    pub fn settle(&self) {
        if let Way::Queued(shared) = &self.0 {
            shared.settle(FLUSH_TIMEOUT);
        }
    }
}

impl Write for Outlet {
    /// Each piece is shown whole or not at all.
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Way::Direct(file) => file.write(piece),
            Way::Queued(shared) => shared.queue(piece),
        }
    }

    /// Does not wait: [`Outlet::settle`] does.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.settle();
    }
}

/// Whether a process reads what is written here, and may sleep.
fn has_reader(file: &File) -> bool {
    let kind = fstat(file).map(|it| FileType::from_raw_mode(it.st_mode));
    file.is_terminal() || matches!(kind, Ok(FileType::Fifo | FileType::Socket))
}

/// What the writer and the thread share.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    max_len: usize,
}

#[derive(Default)]
struct State {
    pieces: VecDeque<Vec<u8>>,
    /// The length of all pieces.
    queued: usize,
    /// Lines that were lost since the reader was told so.
    lost: u64,
    /// The thread has a piece in its hands.
    is_writing: bool,
    /// No one can be told anything any more, for this reason.
    failed: Option<io::ErrorKind>,
    /// Once it has been waited for in vain, it is not waited for again.
    has_given_up: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self, piece: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        if let Some(kind) = state.failed {
            return Err(kind.into());
        }
        state.queued += piece.len();
        state.pieces.push_back(piece.to_vec());
        // The newest stay: how a run ended matters most.
        while self.max_len < state.queued && 1 < state.pieces.len() {
            if let Some(oldest) = state.pieces.pop_front() {
                state.queued -= oldest.len();
                state.lost += lines(&oldest);
            }
        }
        drop(state);
        self.changed.notify_all();
        Ok(piece.len())
    }

    fn settle(&self, timeout: Duration) {
        let until = Instant::now() + timeout;
        let mut state = self.state();
        while state.failed.is_none()
            && !state.has_given_up
            && (state.is_writing || !state.pieces.is_empty() || 0 < state.lost)
        {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.has_given_up = true;
                return;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes pieces to the stream until that fails; a program that ends does not wait for it.
    fn pass_on(&self, mut stream: impl Write, notice: Notice) {
        let mut ends_line = true;
        loop {
            let piece = self.next(notice, ends_line);
            ends_line = piece.last().is_none_or(|byte| *byte == b'\n');
            let written = stream.write_all(&piece).and_then(|()| stream.flush());
            let mut state = self.state();
            state.is_writing = false;
            if let Err(error) = written {
                state.failed = Some(error.kind());
                state.pieces = VecDeque::new();
            }
            let is_over = state.failed.is_some();
            drop(state);
            self.changed.notify_all();
            if is_over {
                return;
            }
        }
    }

    /// Waits for the next piece; what was lost before it is named first.
    fn next(&self, notice: Notice, ends_line: bool) -> Vec<u8> {
        let mut state = self.state();
        loop {
            if 0 < state.lost {
                state.is_writing = true;
                let lost = std::mem::take(&mut state.lost);
                let gap: &[u8] = if ends_line { b"" } else { b"\n" };
                return [gap, &notice(lost)].concat();
            }
            if let Some(piece) = state.pieces.pop_front() {
                state.queued -= piece.len();
                (state.is_writing, state.has_given_up) = (true, false);
                return piece;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn lines(piece: &[u8]) -> u64 {
    (piece.split(|byte| *byte == b'\n').count() - 1).max(1) as u64
}

#[cfg(test)]
mod tests;

//! Processes on any Unix: sessions, a mark in the environment, and a table that is looked at while a process runs.
//!
//! What a process leaves behind has another parent afterwards. So a thread notes who descends from it while it runs;
//! a process that was not seen then is known by session or by mark. The guardian is told who was seen: on a Mac the
//! mark of many programs cannot be read.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, waitid},
};

use super::{Backend, Descendants, trail::Trail};
use crate::process::{
    guardian::{self, Guardian},
    launch::Launch,
    mark::Mark,
    table::Source,
};

/// Between two looks at who is there while a process runs. `ps` is a process of its own, which takes longer.
const TRACK_INTERVAL: Duration = Duration::from_millis(if cfg!(target_os = "macos") { 100 } else { 500 });
/// Between two looks at whether a process has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// What every Unix has.
#[derive(Default)]
pub(super) struct Portable {
    shared: Arc<Shared>,
    mark: Option<Mark>,
}

/// What the thread that looks has in common with the others.
#[derive(Default)]
struct Shared {
    trail: Mutex<Trail>,
}

impl Backend for Portable {
    fn start(&mut self, launch: &Launch<'_>) -> io::Result<Pid> {
        let pid = launch.fork()?;
        self.shared.trail().follow(pid.as_raw_nonzero().get());
        Ok(pid)
    }

    fn watch_exit(&self, pid: Pid) -> io::Result<OwnedFd> {
        #[cfg(target_os = "macos")]
        if let Ok(queue) = super::kqueue::readable_at_end(pid) {
            return Ok(queue);
        }
        hung_up_at_end(pid)
    }

    fn guard(&mut self, guardian: &Guardian) {
        self.mark = Some(guardian.mark().clone());
        let (shared, pipe) = (Arc::downgrade(&self.shared), guardian.pipe());
        // Without it session and mark are left to find escaped processes.
        let _ = thread::Builder::new().name("trail".to_owned()).spawn(move || track(&shared, pipe));
    }

    fn present(&self) -> Vec<i32> {
        // They are in no session that ralph started, and have no mark of it.
        Vec::new()
    }

    fn descendants(&mut self, is_apart: &dyn Fn(i32) -> bool) -> Descendants {
        let Some(mark) = &self.mark else { return Descendants::default() };
        let rows = self.source().all();
        let mut trail = self.shared.trail();
        trail.note(&rows);
        let is_marked = |row: &_| guardian::is_marked(row, mark.run(), mark.value());
        let left = trail.left(&rows, &is_marked, is_apart).into_iter();
        let is_leaving = |pid: &i32| rows.iter().any(|row| row.pid == *pid && row.is_leaving);
        let (leaving, staying) = left.partition(is_leaving);
        Descendants { leaving, staying }
    }

    fn await_end(&self, pids: &[i32], timeout: Duration) {
        let deadline = Instant::now() + timeout;
        let is_there = |row: &crate::process::table::Process| !row.is_zombie && pids.contains(&row.pid);
        while self.source().all().iter().any(is_there) && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn rest(&mut self) {
        self.shared.trail().rest();
    }

    fn source(&self) -> Source {
        Source::Portable
    }
}

impl Shared {
    fn trail(&self) -> MutexGuard<'_, Trail> {
        // Nothing panics in between that would leave it half written.
        self.trail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at who is there as long as the backend is, and tells the guardian.
fn track(shared: &Weak<Shared>, mut guardian: Option<File>) {
    loop {
        thread::sleep(TRACK_INTERVAL);
        let Some(shared) = shared.upgrade() else { return };
        let Some(session) = shared.trail().session() else { continue };
        let rows = Source::Portable.all();
        let mut trail = shared.trail();
        // Another one may have started meanwhile, or none.
        if trail.session() != Some(session) {
            continue;
        }
        let news: String = trail.note(&rows).iter().map(guardian::seen).collect();
        drop(trail);
        if !news.is_empty() {
            let _ = guardian.as_mut().map(|pipe| pipe.write_all(news.as_bytes()));
        }
    }
}

/// Is hung up when the process has ended.
pub(super) fn hung_up_at_end(pid: Pid) -> io::Result<OwnedFd> {
    let (theirs, ours) = io::pipe()?;
    let wait = move || {
        // Not reaped here: until then the number cannot be given to another process.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        drop(ours);
    };
    thread::Builder::new().name("end".to_owned()).spawn(wait)?;
    Ok(theirs.into())
}

//! What ralph needs of a system so that processes leave nothing behind: one contract, two backends.
//!
//! Linux hands out handles on processes and gives orphans to ralph, so that nothing can escape. Every other Unix has
//! sessions, environments and a table of processes: the portable backend looks who is there while a process runs, and
//! knows what it left behind by session, mark and descent. `contract_tests.rs` holds both to the same.

#[cfg(test)]
mod contract_tests;
#[cfg(target_os = "macos")]
mod kqueue;
#[cfg(target_os = "linux")]
mod linux;
mod portable;
mod trail;

use std::{io, os::fd::OwnedFd, time::Duration};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::{guardian::Guardian, launch::Launch, table::Source};

/// What is left of processes that have ended.
#[derive(Debug, Default)]
pub(super) struct Descendants {
    /// On their way out; what they leave behind comes to light when they are gone.
    pub(super) leaving: Vec<i32>,
    /// The others.
    pub(super) staying: Vec<i32>,
}

/// A system's way with processes.
pub(super) trait Backend {
    /// Starts a program as the leader of a new session.
    fn start(&mut self, launch: &Launch<'_>) -> io::Result<Pid>;

    /// Becomes readable, or is hung up, when the process has ended. It is not reaped: its number stays its own.
    fn watch_exit(&self, pid: Pid) -> io::Result<OwnedFd>;

    /// From here on finds what escapes from the processes that it starts, which are marked as those of this guardian.
    fn guard(&mut self, guardian: &Guardian);

    /// Children that were there before ralph started any: those of a process that then became ralph by `exec`.
    fn present(&self) -> Vec<i32>;

    /// What is left of the processes that were started, except those that are apart and what they started.
    fn descendants(&mut self, is_apart: &dyn Fn(i32) -> bool) -> Descendants;

    /// Waits until all of these have ended or the time is over.
    fn await_end(&self, pids: &[i32], timeout: Duration);

    /// Nothing runs until the next start.
    fn rest(&mut self);

    /// Where it looks processes up.
    fn source(&self) -> Source;
}

/// The backend of this program.
pub(super) fn chosen() -> Box<dyn Backend> {
    #[cfg(target_os = "linux")]
    if !is_portable() {
        return Box::new(linux::Linux);
    }
    Box::new(portable::Portable::default())
}

/// Whether processes are watched as on other systems, for tests.
#[cfg(target_os = "linux")]
pub(super) fn is_portable() -> bool {
    static IS_WANTED: std::sync::LazyLock<bool> =
        std::sync::LazyLock::new(|| std::env::var_os("RALPH_PROCESS").is_some_and(|it| it == "portable"));
    cfg!(debug_assertions) && *IS_WANTED
}

/// Signals a process and, if it leads one, its group.
pub(super) fn signal(pid: i32, signal: Signal) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    // It may have gone meanwhile, which is as good.
    let _ = kill_process_group(pid, signal);
    let _ = kill_process(pid, signal);
}

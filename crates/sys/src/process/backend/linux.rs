//! Processes on Linux: handles on them, and ralph as the parent of orphans.
//!
//! Ralph is a child subreaper: a process whose parent has gone becomes ralph's child, whatever session or
//! group it moved to. So "is anything left?" is one system call, and only a yes costs more.

use std::{
    io,
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{Pid, PidfdFlags, WaitId, WaitIdOptions, pidfd_open, waitid},
};

use super::{Backend, Descendants, portable};
use crate::process::{
    guardian::Guardian,
    launch::Launch,
    table::{Process, Source},
};

/// The system calls of Linux.
pub(super) struct Linux;

impl Backend for Linux {
    fn start(&mut self, launch: &Launch<'_>) -> io::Result<Pid> {
        launch.spawn()
    }

    fn watch_exit(&self, pid: Pid) -> io::Result<OwnedFd> {
        // Old kernels have no handles on processes.
        pidfd_open(pid, PidfdFlags::empty()).or_else(|_| portable::hung_up_at_end(pid))
    }

    fn guard(&mut self, _guardian: &Guardian) {
        // Without it only the group and the guardian are left to find escaped processes.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }

    fn present(&self) -> Vec<i32> {
        if has_children() { living_children().staying } else { Vec::new() }
    }

    fn descendants(&mut self, is_apart: &dyn Fn(i32) -> bool) -> Descendants {
        if !has_children() {
            return Descendants::default();
        }
        let mut found = living_children();
        found.staying.retain(|pid| !is_apart(*pid));
        found
    }

    fn await_end(&self, pids: &[i32], timeout: Duration) {
        let handles: Vec<_> = pids
            .iter()
            .filter_map(|pid| pidfd_open(Pid::from_raw(*pid)?, PidfdFlags::empty()).ok())
            .collect();
        let deadline = Instant::now() + timeout;
        for handle in &handles {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).ok();
            let _ = poll(&mut [PollFd::new(handle, PollFlags::IN)], timeout.as_ref());
        }
    }

    fn rest(&mut self) {}

    fn source(&self) -> Source {
        Source::Procfs
    }
}

/// Reaps what has ended and says whether anything is left.
fn has_children() -> bool {
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// The children of all threads of ralph that have not ended.
fn living_children() -> Descendants {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    let children: Vec<_> = match children_list() {
        Some(children) => children.into_iter().filter_map(|pid| Source::Procfs.look(pid)).collect(),
        None => Source::Procfs.all().into_iter().filter(|process| process.parent == me).collect(),
    };
    let (leaving, staying): (Vec<_>, Vec<_>) =
        children.into_iter().filter(|process| !process.is_zombie).partition(|process| process.is_leaving);
    let pids = |processes: Vec<Process>| processes.iter().map(|process| process.pid).collect();
    Descendants { leaving: pids(leaving), staying: pids(staying) }
}

/// The kernel's own list, where it keeps one; searching all of `/proc` is the slow way.
fn children_list() -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for task in fs_err::read_dir("/proc/self/task").ok()?.flatten() {
        let list = fs_err::read_to_string(task.path().join("children")).ok()?;
        children.extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Some(children)
}

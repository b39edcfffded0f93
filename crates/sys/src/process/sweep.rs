//! Finds and ends what a process left behind.
//!
//! Ralph is a child subreaper: a process whose parent has gone becomes ralph's child, whatever session or
//! group it moved to. So "is anything left?" is one system call, and only a yes costs more.

use std::time::{Duration, Instant};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, pidfd_open, waitid,
    },
};

use super::{Leftovers, procfs};

/// How long a leftover may take to go by itself after it was asked to.
const TERM_TIMEOUT: Duration = Duration::from_millis(300);
/// How long all of it may take; what cannot be killed in this time cannot be killed.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes orphans of ralph's children children of ralph.
pub(super) fn adopt_orphans() {
    // Without it only the group and the guardian are left to find escaped processes.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Children that were there before ralph started any: somebody's who then became ralph by `exec`.
pub(super) fn present() -> Vec<i32> {
    if has_children() { living_children().1 } else { Vec::new() }
}

/// Ends (or keeps) all children of ralph and theirs, and names them. `kept` are not named again, and `spared`
/// are no leftovers: others look after them.
pub(super) fn sweep(policy: Leftovers, kept: &mut Vec<i32>, spared: &dyn Fn(i32) -> bool) -> Vec<String> {
    let started = Instant::now();
    let mut found = Vec::new();
    let mut asked = Vec::new();
    while has_children() {
        let (leaving, mut children) = living_children();
        children.retain(|pid| !kept.contains(pid) && !spared(*pid));
        if (children.is_empty() && leaving.is_empty()) || SWEEP_TIMEOUT < started.elapsed() {
            break;
        }
        if children.is_empty() {
            // Not left behind, but what it leaves behind comes to ralph when it is gone.
            await_end(&leaving);
            continue;
        }
        if policy == Leftovers::Keep {
            found.extend(children.iter().map(|pid| procfs::describe(*pid)));
            kept.extend(children);
            break;
        }
        let (known, new): (Vec<i32>, Vec<i32>) = children.into_iter().partition(|pid| asked.contains(pid));
        for pid in &known {
            signal(*pid, Signal::KILL);
        }
        for pid in &new {
            found.push(procfs::describe(*pid));
            signal(*pid, Signal::TERM);
            signal(*pid, Signal::CONT);
        }
        await_end(if new.is_empty() { &known } else { &new });
        asked.extend(new);
    }
    found
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

/// The children of all threads of ralph that have not ended: those on their way out, and the others.
fn living_children() -> (Vec<i32>, Vec<i32>) {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    let children: Vec<_> = match children_list() {
        Some(children) => children.into_iter().filter_map(procfs::look).collect(),
        None => procfs::all().filter(|process| process.parent == me).collect(),
    };
    let (leaving, staying): (Vec<_>, Vec<_>) =
        children.into_iter().filter(|process| !process.is_zombie).partition(|process| process.is_leaving);
    let pids = |processes: Vec<procfs::Process>| processes.iter().map(|process| process.pid).collect();
    (pids(leaving), pids(staying))
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

/// Signals a process and, if it leads one, its group.
fn signal(pid: i32, signal: Signal) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    // It may have gone meanwhile; it is our child, so its number cannot be somebody else's before it is reaped.
    let _ = kill_process_group(pid, signal);
    let _ = kill_process(pid, signal);
}

/// Waits until all of these have ended or the grace is over.
fn await_end(pids: &[i32]) {
    let handles: Vec<_> =
        pids.iter().filter_map(|pid| pidfd_open(Pid::from_raw(*pid)?, PidfdFlags::empty()).ok()).collect();
    let deadline = Instant::now() + TERM_TIMEOUT;
    for handle in &handles {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let _ = poll(&mut [PollFd::new(handle, PollFlags::IN)], timeout.as_ref());
    }
}

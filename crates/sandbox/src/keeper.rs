//! Watches what the processes inside use of the machine, and ends all of them when that is too much.
//!
//! A limit of the kernel for each process would break programs that reserve more than they use (race detectors and address
//! sanitizers), so what is really in use is counted, for all of them together.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use ralph_core::containment::{
    limits::{Reached, SandboxLimits},
    policy::{Access, Policy},
};
use ralph_sys::error::{Error, Result};
use rustix::process::{Pid, Signal, kill_process};

/// How often it is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Refuses to begin where the disk is too full already.
pub(super) fn check(policy: &Policy) -> Result<()> {
    let free = free(&places(policy));
    match policy.limits.reached(0, free) {
        Some(Reached::FreeDisk(free)) => Err(Error::new(format!(
            "only {} MB of the disk are free, and `sandbox.minFreeDisk` says that {} MB must be",
            free / 1_000_000,
            policy.limits.free_disk.unwrap_or_default() / 1_000_000
        ))
        .hint("make room, or set \"sandbox\": {\"minFreeDisk\": 0}")),
        Some(Reached::Memory(_)) | None => Ok(()),
    }
}

/// Watches the process inside and all that come of it, until this process ends.
pub(super) fn watch(inside: Pid, policy: &Policy) {
    let (limits, places) = (policy.limits, places(policy));
    if limits.memory.is_none() && limits.free_disk.is_none() {
        return;
    }
    let look = move || {
        loop {
            let family = if limits.memory.is_some() { family(inside) } else { Vec::new() };
            let memory = family.iter().map(|pid| memory_of(*pid)).sum();
            if let Some(reached) = limits.reached(memory, free(&places)) {
                return end(inside, limits, reached);
            }
            thread::sleep(POLL_INTERVAL);
        }
    };
    // Without it the turn is as it was before there were limits.
    let _ = thread::Builder::new().name("keeper".to_owned()).spawn(look);
}

fn end(inside: Pid, limits: SandboxLimits, reached: Reached) {
    let _ = writeln!(std::io::stderr(), "ralph: {}", limits.explained(reached));
    // Who is stopped starts nobody: otherwise one that begins meanwhile would stay.
    let mut stopped: BTreeSet<i32> = BTreeSet::new();
    loop {
        let new: Vec<i32> = family(inside).into_iter().filter(|pid| !stopped.contains(pid)).collect();
        if new.is_empty() {
            break;
        }
        signal(&new, Signal::STOP);
        stopped.extend(new);
    }
    // The one that this process waits for comes last: with it this process ends.
    let first = inside.as_raw_nonzero().get();
    stopped.remove(&first);
    signal(&stopped.into_iter().collect::<Vec<_>>(), Signal::KILL);
    signal(&[first], Signal::KILL);
}

fn signal(processes: &[i32], signal: Signal) {
    for pid in processes.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = kill_process(pid, signal);
    }
}

/// Where processes inside can write.
fn places(policy: &Policy) -> Vec<PathBuf> {
    let written = policy.layers.iter().filter(|layer| layer.access == Access::Write).map(|it| &it.path);
    written.chain([&policy.tmp]).cloned().collect()
}

/// What is free where that is least.
fn free(places: &[PathBuf]) -> Option<u64> {
    let of = |path: &PathBuf| {
        let disk = rustix::fs::statvfs(path).ok()?;
        // Something that has no size is no disk.
        (disk.f_blocks != 0).then(|| disk.f_bavail.saturating_mul(disk.f_frsize))
    };
    places.iter().filter_map(of).min()
}

/// The process and all that come of it, as long as those between are alive.
fn family(first: Pid) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = parent(&entry.path()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut family = vec![first.as_raw_nonzero().get()];
    let mut at = 0;
    while let Some(pid) = family.get(at) {
        family.extend(children.get(pid).into_iter().flatten());
        at += 1;
    }
    family
}

/// The second field after the name, which may have anything in it.
fn parent(process: &Path) -> Option<i32> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// The memory that a process has for itself.
fn memory_of(pid: i32) -> u64 {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/statm")) else { return 0 };
    let mut pages = text.split(' ').skip(1).map(|number| number.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared).saturating_mul(rustix::param::page_size() as u64)
}

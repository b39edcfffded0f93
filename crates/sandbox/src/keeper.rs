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
    limits::Reached,
    policy::{Access, Policy},
};
use ralph_sys::error::{Error, Result};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::group;

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

/// Has all that come of the process inside stay below this one, also those that let go of their parent.
pub(super) fn hold_family() {
    // Where the kernel refuses it, those that let go are missed, and all others are not.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Watches the process inside and all that come of it, until this process ends. What the kernel keeps of the memory is in the
/// `events` of a control group.
pub(super) fn watch(inside: Pid, policy: &Policy, events: Option<PathBuf>) {
    let (limits, places) = (policy.limits, places(policy));
    let look = move || {
        loop {
            let family = family();
            reap(&family, inside);
            let memory = family.iter().map(|process| memory_of(process.pid)).sum();
            let events = events.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
            let killed = events.filter(|events| group::has_ended_some(events));
            let most = killed.and(limits.memory).map(Reached::Memory);
            if let Some(reached) = most.or_else(|| limits.reached(memory, free(&places))) {
                let _ = writeln!(std::io::stderr(), "ralph: {}", limits.explained(reached));
                return end(Some(inside));
            }
            thread::sleep(POLL_INTERVAL);
        }
    };
    // Without it the turn is as it was before there were limits.
    let _ = thread::Builder::new().name("keeper".to_owned()).spawn(look);
}

/// Ends all that are below this process, the one inside last: with it this process ends.
pub(super) fn end(inside: Option<Pid>) {
    // A stopped process starts no other: otherwise one that begins meanwhile would stay.
    let mut stopped: BTreeSet<i32> = BTreeSet::new();
    loop {
        let alive = family().into_iter().filter(|process| process.state != ZOMBIE);
        let new: Vec<i32> = alive.map(|process| process.pid).filter(|pid| !stopped.contains(pid)).collect();
        if new.is_empty() {
            break;
        }
        signal(&new, Signal::STOP);
        stopped.extend(new);
    }
    let first = inside.map(|inside| inside.as_raw_nonzero().get());
    stopped.retain(|pid| Some(*pid) != first);
    signal(&stopped.into_iter().collect::<Vec<_>>(), Signal::KILL);
    signal(first.as_slice(), Signal::KILL);
}

/// Takes the ends of those that let go of their parents: no one else asks for them, and they count as processes until then.
fn reap(family: &[Process], inside: Pid) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let is_ours = |process: &&Process| process.parent == own && process.state == ZOMBIE;
    for pid in family.iter().filter(is_ours).filter_map(|process| Pid::from_raw(process.pid)) {
        if pid != inside {
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
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

/// What `/proc` calls a process that has ended and that no one has asked for.
const ZOMBIE: char = 'Z';

/// A process below this one.
struct Process {
    pid: i32,
    parent: i32,
    state: char,
}

/// All that come of this process.
fn family() -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(process) = process(pid, &entry.path()) {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut family: Vec<Process> = children.remove(&own).unwrap_or_default();
    let mut at = 0;
    while let Some(process) = family.get(at) {
        let of = children.remove(&process.pid);
        family.extend(of.into_iter().flatten());
        at += 1;
    }
    family
}

/// The first two fields after the name, which may have anything in it.
fn process(pid: i32, folder: &Path) -> Option<Process> {
    let stat = std::fs::read_to_string(folder.join("stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    Some(Process { pid, state: fields.next()?.chars().next()?, parent: fields.next()?.parse().ok()? })
}

/// The memory that a process has for itself.
fn memory_of(pid: i32) -> u64 {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/statm")) else { return 0 };
    let mut pages = text.split(' ').skip(1).map(|number| number.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared).saturating_mul(rustix::param::page_size() as u64)
}

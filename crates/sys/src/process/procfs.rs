//! What the system says about processes.

use std::path::{Path, PathBuf};

/// The kernel's flag for a process that is on its way out.
const EXITING: u64 = 0x4;

/// One process as `/proc` shows it.
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) session: i32,
    /// It has ended and waits to be reaped; its children have another parent by now.
    pub(super) is_zombie: bool,
    /// It runs no more code of its own; its children may still be its own.
    pub(super) is_leaving: bool,
}

/// All processes that can be seen.
pub(super) fn all() -> impl Iterator<Item = Process> {
    let entries = fs_err::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| look(entry.file_name().to_str()?.parse().ok()?))
}

/// One process, if it is there.
pub(super) fn look(pid: i32) -> Option<Process> {
    let stat = stat(pid)?;
    let mut fields = after_name(&stat)?.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let _group = fields.next()?;
    let session = fields.next()?.parse().ok()?;
    let flags: u64 = fields.nth(2)?.parse().ok()?;
    let threads: u64 = fields.nth(10)?.parse().ok()?;
    // The first thread may have ended while others go on.
    let is_single = threads <= 1;
    let is_zombie = is_single && matches!(state, "Z" | "X");
    let is_leaving = is_single && flags & EXITING != 0;
    Some(Process { pid, parent, session, is_zombie, is_leaving })
}

/// The value of a variable in the environment that a process was started with.
pub fn variable(pid: i32, name: &str) -> Option<String> {
    let environment = fs_err::read(path(pid, "environ")).ok()?;
    let mut lines = environment.split(|byte| *byte == 0);
    let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// This process and its ancestors, the nearest first, as far as they can be seen.
pub fn ancestry() -> Vec<i32> {
    let mut pids = Vec::new();
    let mut next = i32::try_from(std::process::id()).ok();
    while let Some(pid) = next.filter(|pid| 0 < *pid && !pids.contains(pid)) {
        pids.push(pid);
        next = look(pid).map(|process| process.parent);
    }
    pids
}

/// The command line of a process, for people.
pub(super) fn describe(pid: i32) -> String {
    let line = fs_err::read(path(pid, "cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace('\0', " ");
    let short: String = words.trim().chars().take(100).collect();
    format!("{pid} {}", if short.is_empty() { "(no command line)" } else { &short })
}

/// Whether a process is there and not merely waiting to be reaped.
pub fn is_alive(pid: i32) -> bool {
    look(pid).is_some_and(|process| !process.is_zombie)
}

/// When a process started, in ticks since the machine did; nothing if it has gone or ended.
pub fn start_time(pid: i32) -> Option<u64> {
    look(pid).filter(|process| !process.is_zombie)?;
    after_name(&stat(pid)?)?.split(' ').nth(19)?.parse().ok()
}

/// Whether the process that had this number when it was noted is still alive: numbers are used again.
pub fn is_same_process(pid: i32, started: u64) -> bool {
    start_time(pid) == Some(started)
}

/// Whether any process of this program has its working directory in this folder, as far as that can be seen.
pub fn is_at_work(program: &str, folder: &Path) -> bool {
    all().filter(|process| !process.is_zombie).any(|Process { pid, .. }| {
        fs_err::read_to_string(path(pid, "comm")).is_ok_and(|name| name.trim_end() == program)
            && fs_err::read_link(path(pid, "cwd")).is_ok_and(|dir| dir.starts_with(folder))
    })
}

/// The process that locked the file with this number, as the kernel lists it.
pub fn lock_holder(inode: u64) -> Option<i32> {
    let locks = fs_err::read_to_string("/proc/locks").ok()?;
    let held = format!(":{inode}");
    // `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`
    let line = locks.lines().find(|line| line.split_ascii_whitespace().any(|word| word.ends_with(&held)))?;
    line.split_ascii_whitespace().nth(4)?.parse().ok()
}

fn stat(pid: i32) -> Option<String> {
    let bytes = fs_err::read(path(pid, "stat")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The fields after the program's name, which may itself hold spaces and parentheses.
fn after_name(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ").map(|(_, fields)| fields)
}

fn path(pid: i32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

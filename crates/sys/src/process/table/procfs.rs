//! Processes as Linux shows them below `/proc`.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use super::Process;

/// The kernel's flag for a process that is on its way out.
const EXITING: u64 = 0x4;
/// Some fifty numbers of at most twenty digits, and a name.
const MAX_STAT_LEN: usize = 2048;
const USUAL_ENVIRONMENT_LEN: usize = 8 * 1024;

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
    let started = fields.nth(1)?.parse().ok()?;
    // The first thread may have ended while others go on.
    let is_single = threads <= 1;
    let is_zombie = is_single && matches!(state, "Z" | "X");
    let is_leaving = is_single && flags & EXITING != 0;
    Some(Process { pid, parent, session, is_zombie, is_leaving, started, shown: None })
}

/// The value of a variable in the environment that a process was started with.
pub(super) fn variable(pid: i32, name: &str) -> Option<String> {
    // Nothing says how long it is: room for most of them saves a dozen calls for every process of the machine.
    let mut environment = Vec::with_capacity(USUAL_ENVIRONMENT_LEN);
    fs_err::File::open(path(pid, "environ")).ok()?.read_to_end(&mut environment).ok()?;
    let mut lines = environment.split(|byte| *byte == 0);
    let value = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// The words that a process was started with.
pub(super) fn command_line(pid: i32) -> String {
    let line = fs_err::read(path(pid, "cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ")
}

/// When a process started, in ticks since the machine did; nothing if it has gone or ended.
pub(super) fn start_time(pid: i32) -> Option<u64> {
    look(pid).filter(|process| !process.is_zombie).map(|process| process.started)
}

/// Whether any process of this program has its working directory in this folder, as far as that can be seen.
pub(super) fn is_at_work(program: &str, folder: &Path) -> bool {
    all().filter(|process| !process.is_zombie).any(|Process { pid, .. }| {
        fs_err::read_to_string(path(pid, "comm")).is_ok_and(|name| name.trim_end() == program)
            && fs_err::read_link(path(pid, "cwd")).is_ok_and(|dir| dir.starts_with(folder))
    })
}

/// The process that locked the file with this number, as the kernel lists it.
pub(super) fn lock_holder(inode: u64) -> Option<i32> {
    let locks = fs_err::read_to_string("/proc/locks").ok()?;
    let held = format!(":{inode}");
    // `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`
    let line = locks.lines().find(|line| line.split_ascii_whitespace().any(|word| word.ends_with(&held)))?;
    line.split_ascii_whitespace().nth(4)?.parse().ok()
}

fn stat(pid: i32) -> Option<String> {
    // In one call: it is asked for every process of the machine.
    let mut bytes = [0; MAX_STAT_LEN];
    let length = fs_err::File::open(path(pid, "stat")).ok()?.read(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

/// The fields after the program's name, which may itself hold spaces and parentheses.
fn after_name(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ").map(|(_, fields)| fields)
}

fn path(pid: i32, file: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{file}"))
}

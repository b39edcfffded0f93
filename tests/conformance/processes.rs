//! Asks the system what is left of a test: every process that has its folder in its environment or as its
//! working directory.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// A process that belongs to a test.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) command: String,
}

/// The processes that belong to the test in this folder.
pub(crate) fn of(root: &Path) -> Vec<Process> {
    let own = i32::try_from(std::process::id()).unwrap_or(0);
    let pids = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| *pid != own && belongs(*pid, root))
        .map(|pid| Process { pid, command: command(pid) })
        .collect()
}

/// Waits a little for processes that are on their way out, and returns those that stay.
pub(crate) fn left(root: &Path) -> Vec<Process> {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let left = of(root);
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends what is left, so that a failed test does no harm.
pub(crate) fn end(root: &Path) {
    for process in of(root) {
        if let Some(pid) = Pid::from_raw(process.pid) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

fn belongs(pid: i32, root: &Path) -> bool {
    let mark = root.as_os_str().as_bytes();
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let is_marked = environment.windows(mark.len()).any(|window| window == mark);
    is_marked || fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|dir| dir.starts_with(root))
}

fn command(pid: i32) -> String {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ").trim().to_owned()
}

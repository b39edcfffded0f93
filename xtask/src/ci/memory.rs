//! A temporary folder in memory for the tests.
//!
//! A thousand tests make and remove a hundred thousand files, and every run waits for the disk when it promises to. In memory that
//! takes about half of the time. What is told apart by a disk is tested on an image of one.

use std::process::{Command, Stdio};

use anyhow::Result;
use tempfile::TempDir;

use crate::cargo::cargo;

/// Mounts the folder for one program and its children alone, so that nothing is left to unmount. Where that is not
/// allowed, the folder is one on the disk.
const MOUNT: &str = "mount -t tmpfs -o size=6g,mode=1777 tests \"$TMPDIR\"; exec \"$@\"";

/// As much must be free, in kilobytes.
const MIN_FREE_KB: u64 = 12 * 1024 * 1024;

/// Where tests put their files.
pub(super) struct Memory {
    folder: TempDir,
    is_there: bool,
}

impl Memory {
    /// A folder in memory, where this process may have one and the machine has enough.
    pub(super) fn new() -> Result<Self> {
        // A short name: the paths of sockets are.
        let folder = tempfile::Builder::new().prefix("r").rand_bytes(4).tempdir()?;
        let meminfo = fs_err::read_to_string("/proc/meminfo").unwrap_or_default();
        let is_there = available(&meminfo).is_some_and(|free| MIN_FREE_KB <= free) && may_mount();
        Ok(Self { folder, is_there })
    }

    /// Cargo, with this folder for temporary files.
    pub(super) fn cargo(&self) -> Command {
        if !self.is_there {
            return cargo();
        }
        let cargo = cargo();
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private", "sh", "-c", MOUNT, "sh"]);
        command.arg(cargo.get_program()).env("TMPDIR", self.folder.path());
        if let Some(folder) = cargo.get_current_dir() {
            command.current_dir(folder);
        }
        command
    }
}

/// What `/proc/meminfo` says is free, in kilobytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

fn may_mount() -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation", "private", "true"]).stderr(Stdio::null());
    unshare.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_read() {
        let meminfo = "MemTotal:       24675364 kB\nMemFree: 1 kB\nMemAvailable:   22675364 kB\n";
        assert_eq!(available(meminfo), Some(22_675_364));
        assert_eq!(available("MemAvailable: much\n"), None);
        assert_eq!(available(""), None);
    }

    #[test]
    fn a_program_sees_the_folder_and_leaves_nothing_in_it() {
        let memory = Memory::new().expect("a folder");
        let mut command = memory.cargo();
        let status = command.arg("--version").stdout(Stdio::null()).status().expect("cargo");
        assert!(status.success());
        assert_eq!(fs_err::read_dir(memory.folder.path()).expect("the folder").count(), 0);
    }
}

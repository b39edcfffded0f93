//! The steps of a process to where it sees other folders.

use std::{ffi::OsString, io, os::unix::process::CommandExt, process::Command};

use ralph_core::containment::policy::ShownFolder;
use ralph_sys::error::{Context, Error, Result};
use rustix::process::{getegid, geteuid};

use crate::mounts::{self, During};

/// Becomes the process. Returns only if that fails.
pub(super) fn run(views: &str, command: &[OsString]) -> Result<u8> {
    let views: Vec<ShownFolder> = serde_json::from_str(views).context("nothing to show")?;
    let dir = std::env::current_dir()?;
    leave_namespace().and_then(|()| mounts::show(&views)).map_err(|error| not_moved(&error))?;
    // The directory that was inherited is the one below the mount.
    rustix::process::chdir(&dir).during(dir.display()).map_err(|error| not_moved(&error))?;
    let Some((program, args)) = command.split_first() else { return Err(not_moved("no command")) };
    let error = Command::new(program).args(args).exec();
    Err(Error::new(format!("cannot start `{}`: {error}", program.display())))
}

fn not_moved(error: &str) -> Error {
    Error::new(format!("the folder cannot be shown at another path: {error}"))
}

/// Gets mounts of its own.
fn leave_namespace() -> std::result::Result<(), String> {
    // SAFETY: calls without pointers, in a process that has no other threads.
    let unshare = |flags: i32| match unsafe { libc::unshare(flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    if unshare(libc::CLONE_NEWNS).is_ok() {
        return Ok(());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS).during("cannot make namespaces")?;
    // Without this a user may not say which groups there are.
    let _ = std::fs::write("/proc/self/setgroups", "deny");
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1")).during("cannot keep the user")?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1")).during("cannot keep the group")
}

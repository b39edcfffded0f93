//! A process that sees a folder at the path of another, and is not contained otherwise.
//!
//! Only the mounts are its own. A user without privileges needs a user namespace for that, in which there is nobody
//! but this user; the superuser keeps all rights.

use std::{ffi::OsString, io, os::unix::process::CommandExt, path::Path, process::Command};

use ralph_core::containment::policy::{ShownFolder, Source};
use ralph_sys::{
    error::{Context, Error, Result},
    process::Spec,
};
use rustix::process::{getegid, geteuid};

use super::mounts::{self, During};

/// The hidden command.
pub const COMMAND: &str = "moved";

/// Who makes the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// Ralph itself.
    Own,
    /// The `bwrap` program, where only that may.
    Bwrap,
}

/// Makes a process one that sees these folders.
pub fn wrap(maker: Maker, views: &[ShownFolder], spec: Spec) -> io::Result<Spec> {
    let (program, mut args) = match maker {
        Maker::Own => {
            let args: Vec<OsString> = vec![COMMAND.into(), serde_json::to_string(views)?.into(), "--".into()];
            (std::env::current_exe()?.into(), args)
        }
        Maker::Bwrap => ("bwrap".into(), bwrap_arguments(views, &spec.dir)),
    };
    args.push(spec.program);
    args.extend(spec.args);
    Ok(Spec { program, args, ..spec })
}

fn bwrap_arguments(views: &[ShownFolder], dir: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["--die-with-parent", "--dev-bind", "/", "/"].map(OsString::from).to_vec();
    for ShownFolder { at, source } in views {
        if let Source::Folder(folder) = source {
            args.extend(["--bind".into(), folder.into(), at.into()]);
        }
    }
    args.extend(["--chdir".into(), dir.into(), "--".into()]);
    args
}

/// What the hidden command does: becomes the process. Returns only if that fails.
pub fn run(views: &str, command: &[OsString]) -> Result<u8> {
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

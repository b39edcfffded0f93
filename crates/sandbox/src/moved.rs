//! A process that sees a folder at the path of another, and is not contained otherwise.
//!
//! Only the mounts are its own. A user without privileges needs a user namespace for that, in which there is no one
//! but this user; the superuser keeps all rights.

#[cfg(target_os = "linux")]
mod enter;

use std::{ffi::OsString, io, path::Path};

use ralph_core::containment::policy::{ShownFolder, Source};
#[cfg(not(target_os = "linux"))]
use ralph_sys::error::Error;
use ralph_sys::{error::Result, process::Spec};

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
    #[cfg(target_os = "linux")]
    return enter::run(views, command);
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = (views, command);
        Err(Error::new("the folder cannot be shown at another path: only Linux has namespaces"))
    };
}

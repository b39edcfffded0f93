//! Opens what is below a folder without following a link: in one system call where the kernel can, step by step where it
//! cannot.

use std::{
    ffi::OsStr,
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags, openat},
    io::Errno,
};

/// Folders in folders that are removed at most; each takes a descriptor.
const MAX_DEPTH: usize = 256;
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What to do where a folder is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    IsAnError,
    Make,
    /// Also where something else stands in its place, which is removed.
    MakeAndClear,
}

/// Opens what is at a relative path below a folder.
pub(super) fn open_beneath(root: &OwnedFd, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW;
    let opened = at_once(root, path, flags, mode).unwrap_or_else(|| step_by_step(root, path, flags, mode));
    opened.map_err(explained)
}

/// Opens a folder at a relative path below a folder; the folder itself if the path is empty.
pub(super) fn open_folder(root: &OwnedFd, path: &Path, missing: Missing) -> io::Result<OwnedFd> {
    let here = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match at_once(root, here, FOLDER, Mode::empty()) {
        Some(Ok(folder)) => return Ok(folder),
        Some(Err(error)) if missing == Missing::IsAnError => return Err(explained(error)),
        Some(Err(_)) | None => {}
    }
    walk(root, path, missing).map_err(explained)
}

/// Nothing where the kernel does not know the call, or a container does not let it through.
#[cfg(target_os = "linux")]
pub(super) fn at_once(
    root: &OwnedFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> Option<rustix::io::Result<OwnedFd>> {
    use rustix::fs::{ResolveFlags, openat2};
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(root, path, flags, mode, beneath) {
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => None,
        other => Some(other),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn at_once(_: &OwnedFd, _: &Path, _: OFlags, _: Mode) -> Option<rustix::io::Result<OwnedFd>> {
    None
}

pub(super) fn step_by_step(
    root: &OwnedFd,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> rustix::io::Result<OwnedFd> {
    let folder = walk(root, path.parent().unwrap_or(Path::new("")), Missing::IsAnError)?;
    openat(&folder, path.file_name().unwrap_or(OsStr::new(".")), flags, mode)
}

/// Each step opens a folder itself, never what a link leads to.
fn walk(root: &OwnedFd, path: &Path, missing: Missing) -> rustix::io::Result<OwnedFd> {
    let mut folder = openat(root, ".", FOLDER, Mode::empty())?;
    for name in path {
        folder = match (openat(&folder, name, FOLDER, Mode::empty()), missing) {
            (Err(Errno::NOENT), Missing::Make | Missing::MakeAndClear) => make(&folder, name)?,
            (Err(Errno::NOTDIR | Errno::LOOP), Missing::MakeAndClear) => {
                rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
                make(&folder, name)?
            }
            (opened, _) => opened?,
        };
    }
    Ok(folder)
}

fn make(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
        // Another process was faster.
        Err(Errno::EXIST) | Ok(()) => openat(folder, name, FOLDER, Mode::empty()),
        Err(error) => Err(error),
    }
}

/// Removes a folder with all that is in it; what is no folder stays.
pub(super) fn remove_tree(folder: &OwnedFd, name: &OsStr) -> io::Result<()> {
    remove_below(folder, name, MAX_DEPTH).map_err(explained)
}

fn remove_below(folder: &OwnedFd, name: &OsStr, depth: usize) -> rustix::io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let inner = match openat(folder, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        opened => opened?,
    };
    let depth = depth.checked_sub(1).ok_or(Errno::NAMETOOLONG)?;
    for entry in Dir::read_from(inner.as_fd())? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        remove_below(&inner, name, depth)?;
        match rustix::fs::unlinkat(&inner, name, AtFlags::empty()) {
            // It was a folder, and is gone.
            Err(Errno::NOENT) => {}
            other => other?,
        }
    }
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// The kernel's words for a link in the way are "too many levels of symbolic links", or "not a directory".
fn explained(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::XDEV => io::Error::other("a link is in its place or above it"),
        Errno::NOTDIR => {
            io::Error::new(io::ErrorKind::NotADirectory, "a folder above it is a link or a file")
        }
        other => other.into(),
    }
}

//! The new contents of a file, beside it until they are whole.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::fd::OwnedFd,
};

use rustix::{
    fs::{AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

use super::{NEW_MODE, Readers};
use crate::process::mark::chance;

/// Names that are tried before giving up.
const MAX_TRIES: usize = 16;

/// Removed again unless it was published.
pub(super) struct Draft<'a> {
    folder: &'a OwnedFd,
    name: &'a OsStr,
    temporary: OsString,
    file: File,
}

impl<'a> Draft<'a> {
    pub(super) fn new(folder: &'a OwnedFd, name: &'a OsStr, readers: Readers) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (mode, kept) = match readers {
            Readers::Owner => (Mode::from_raw_mode(0o600), None),
            Readers::AsBefore => (NEW_MODE, present_mode(folder, name)),
        };
        for _ in 0..MAX_TRIES {
            let temporary = temporary_name();
            match rustix::fs::openat(folder, &temporary, flags, mode) {
                Ok(file) => {
                    let draft = Self { folder, name, temporary, file: file.into() };
                    if let Some(kept) = kept {
                        rustix::fs::fchmod(&draft.file, kept)?;
                    }
                    return Ok(draft);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts it in the place of whatever is there, except of a folder.
    pub(super) fn publish(mut self) -> io::Result<()> {
        rustix::fs::renameat(self.folder, &self.temporary, self.folder, self.name)?;
        self.temporary.clear();
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.temporary.is_empty() {
            let _ = rustix::fs::unlinkat(self.folder, &self.temporary, AtFlags::empty());
        }
    }
}

/// The permissions of the file that is there, if it is one.
fn present_mode(folder: &OwnedFd, name: &OsStr) -> Option<Mode> {
    let present = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_file = FileType::from_raw_mode(present.st_mode) == FileType::RegularFile;
    is_file.then(|| Mode::from_raw_mode(present.st_mode & 0o777))
}

fn temporary_name() -> OsString {
    // A name that is taken is tried again.
    format!(".ralph-{:x}-{:016x}", std::process::id(), chance()).into()
}

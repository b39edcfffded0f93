//! Reads and writes files where an agent may have put anything: a link, a pipe, a device, a folder, in the place of a
//! file or of a folder on the way to it.
//!
//! Invariants: below a `Root` no link is followed, so nothing outside of it is read or written; only regular files are
//! read, and no more of them than the caller allows, so nothing waits and nothing fills the memory; a file that is
//! replaced has its old contents or its new ones, never a part.

mod draft;
mod folder;
mod named_pipe;
#[cfg(test)]
mod tests;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags},
    io::Errno,
};

use self::{
    draft::Draft,
    folder::{Missing, open_beneath, open_folder, remove_tree},
};

pub use named_pipe::make_pipe;

/// No text that people or agents write for ralph is longer: prompts, settings, task lists.
pub const MAX_TEXT_LEN: u64 = 16 * 1024 * 1024;

/// Neither waits for the other end of a pipe nor makes a terminal ralph's own.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// As the user's mask says.
const NEW_MODE: Mode = Mode::from_raw_mode(0o666);

/// Who may read a file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner alone.
    Owner,
    /// Anyone who could read the file before; a new one as the user's mask says.
    AsBefore,
}

/// A folder that is trusted, while nothing below it is. Paths are relative to it, or absolute and below it.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
}

impl Root {
    /// The folder itself may be reached through links.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The root for a file that belongs to a project: the project, or the file's own folder where the user has named one
    /// outside of it.
    pub fn around(project: &Path, file: &Path) -> Self {
        let project = Self::new(project);
        match project.relative(file) {
            Ok(_) => project,
            Err(_) => Self::new(file.parent().unwrap_or(file)),
        }
    }

    /// Opens a regular file for reading.
    pub fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = self.relative(path.as_ref())?;
        regular(open_beneath(&self.opened()?, path, READING, Mode::empty())?)
    }

    /// The contents of a regular file, if they are not longer than this.
    pub fn read(&self, path: impl AsRef<Path>, max: u64) -> io::Result<Vec<u8>> {
        read_all(self.open(path)?, max)
    }

    /// Replaces a file and makes its folders. What stands in the place of the file is gone, wherever it led to; a link
    /// in the place of a folder, or a folder in the place of the file, is an error.
    pub fn replace(&self, path: impl AsRef<Path>, contents: &[u8], readers: Readers) -> io::Result<()> {
        self.replace_with(path, readers, |file| file.write_all(contents))
    }

    /// The same for contents that are written bit by bit.
    pub fn replace_with(
        &self,
        path: impl AsRef<Path>,
        readers: Readers,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<()> {
        let (folder, name) = self.folder_of(path.as_ref(), Missing::Make)?;
        let mut draft = Draft::new(&folder, &name, readers)?;
        fill(draft.file())?;
        draft.publish()
    }

    /// Puts a file back that must be there: whatever stands in its place, or in the place of a folder above it, is
    /// removed.
    pub fn restore(&self, path: impl AsRef<Path>, contents: &[u8]) -> io::Result<()> {
        let (folder, name) = self.folder_of(path.as_ref(), Missing::MakeAndClear)?;
        let mut draft = Draft::new(&folder, &name, Readers::AsBefore)?;
        draft.file().write_all(contents)?;
        remove_tree(&folder, &name)?;
        draft.publish()
    }

    /// Makes a file that is not there yet, and its folders.
    pub fn create(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let (folder, name) = self.folder_of(path.as_ref(), Missing::Make)?;
        let file = rustix::fs::openat(&folder, name, flags | OFlags::NOFOLLOW, NEW_MODE)?;
        Ok(file.into())
    }

    /// Makes a link, and its folders. A link in its place is replaced; anything else stays.
    pub fn link(&self, path: impl AsRef<Path>, target: &Path) -> io::Result<()> {
        let (folder, name) = self.folder_of(path.as_ref(), Missing::Make)?;
        match rustix::fs::readlinkat(&folder, &name, Vec::new()) {
            Ok(known) if known.as_bytes() == target.as_os_str().as_bytes() => return Ok(()),
            Ok(_) => rustix::fs::unlinkat(&folder, &name, AtFlags::empty())?,
            Err(Errno::INVAL) => return Ok(()),
            Err(_) => {}
        }
        Ok(rustix::fs::symlinkat(target, &folder, name)?)
    }

    /// Opens a regular file to read it and to add to its end; makes it, and its folders, if it is not there.
    pub fn append(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NONBLOCK | OFlags::NOCTTY;
        let (folder, name) = self.folder_of(path.as_ref(), Missing::Make)?;
        regular(open_beneath(&folder, Path::new(&name), flags | OFlags::CLOEXEC, NEW_MODE)?)
    }

    /// Makes a folder, and those above it.
    pub fn make_folder(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = self.relative(path.as_ref())?;
        open_folder(&self.opened()?, path, Missing::Make).map(drop)
    }

    /// Opens a folder, to lock it.
    pub fn open_folder(&self, path: impl AsRef<Path>) -> io::Result<File> {
        let path = self.relative(path.as_ref())?;
        open_folder(&self.opened()?, path, Missing::IsAnError).map(File::from)
    }

    /// Removes a file, or the link, pipe or device in its place.
    pub fn remove(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let (folder, name) = self.folder_of(path.as_ref(), Missing::IsAnError)?;
        Ok(rustix::fs::unlinkat(&folder, name, AtFlags::empty())?)
    }

    /// Gives a file, or the link, pipe or device in its place, another name in its folder.
    pub fn rename(&self, path: impl AsRef<Path>, name: impl AsRef<OsStr>) -> io::Result<()> {
        let (folder, from) = self.folder_of(path.as_ref(), Missing::IsAnError)?;
        Ok(rustix::fs::renameat(&folder, from, &folder, name.as_ref())?)
    }

    fn opened(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(&self.path, flags, Mode::empty())?)
    }

    /// The folder of a file, and the file's name in it.
    fn folder_of(&self, path: &Path, missing: Missing) -> io::Result<(OwnedFd, OsString)> {
        let below = self.relative(path)?;
        let name = below.file_name().ok_or_else(|| not_below(path, &self.path))?;
        let folder = below.parent().unwrap_or(Path::new(""));
        Ok((open_folder(&self.opened()?, folder, missing)?, name.to_owned()))
    }

    /// The path below the folder; nothing in it leads out of the folder.
    fn relative<'a>(&self, path: &'a Path) -> io::Result<&'a Path> {
        let below = if path.is_absolute() { path.strip_prefix(&self.path).ok() } else { Some(path) };
        let below = below.map(|below| below.strip_prefix(".").unwrap_or(below));
        let is_inside = |below: &&Path| below.components().all(|part| matches!(part, Component::Normal(_)));
        below.filter(is_inside).ok_or_else(|| not_below(path, &self.path))
    }
}

/// Opens a regular file for reading, also through links: for what a user may have linked to somewhere else.
pub fn open(path: &Path) -> io::Result<File> {
    regular(rustix::fs::open(path, READING, Mode::empty())?)
}

/// The contents of a regular file, also through links, if they are not longer than this.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    read_all(open(path)?, max)
}

/// The text of such a file; what is no text in it is replaced.
pub fn read_text(path: &Path) -> io::Result<String> {
    read(path, MAX_TEXT_LEN).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn regular(file: OwnedFd) -> io::Result<File> {
    let file = File::from(file);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a plain file")) }
}

fn read_all(file: File, max: u64) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {max} bytes"));
    let length = file.metadata()?.len();
    if max < length {
        return Err(too_long());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // It may grow meanwhile.
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if max < bytes.len() as u64 { Err(too_long()) } else { Ok(bytes) }
}

fn not_below(path: &Path, root: &Path) -> io::Error {
    let message = format!("`{}` is not below `{}`", path.display(), root.display());
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

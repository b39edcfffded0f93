//! Reads files that an agent or a user may have put anything in the place of.

use std::{
    fs::OpenOptions,
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// The text of a file; what is no text in it is replaced. A pipe or a device in its place is an error, where
/// reading it could wait for ever.
pub fn read(path: &Path) -> io::Result<String> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The contents of the file itself, if they are not more than this: a link in its place is an error, because it could
/// lead to what an agent inside a sandbox must not see.
pub fn read_itself(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || most < metadata.len() {
        return Err(io::Error::other("it is not a plain file, or too large"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Puts a file in its place, also where an agent has put a link; nothing is written where a link leads. The folder must
/// be without links.
pub fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    if std::fs::canonicalize(folder)? != folder {
        return Err(io::Error::other("a folder above it is a link"));
    }
    let mut file = tempfile::Builder::new().prefix(".ralph-").tempfile_in(folder)?;
    file.write_all(contents)?;
    file.persist(path)?;
    Ok(())
}

/// Writes a file so that everybody sees either the old contents or the new.
pub fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(contents)?;
    file.persist(path)?;
    Ok(())
}

//! Reads files that an agent or a user may have put anything in the place of.

use std::{fs::OpenOptions, io, io::Read, os::unix::fs::OpenOptionsExt, path::Path};

/// The text of a file; what is no text in it is replaced. A pipe or a device in its place is an error, where
/// reading it could wait for ever.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let mut file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

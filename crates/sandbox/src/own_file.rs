//! Files of the record that the sandbox writes: their owner's alone, as all of it is.

use std::{
    fs::File,
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// Writes a file anew.
pub(crate) fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(contents)
}

/// Opens a file to write at its end, and makes it where it is not there.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).mode(0o600).open(path)
}

//! Archives that hold nothing but their files: no time, no user, no order of the machine.

pub(super) mod ar;
pub(super) mod tar;
pub(super) mod zip;

use std::io::Write;

use anyhow::Result;
use flate2::{Compression, GzBuilder};

/// When everything was made: what npm writes, too, and late enough for every format.
pub(super) const MADE_AT: u32 = 499_162_500;

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Without a leading slash.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_program: bool,
}

impl Entry {
    pub(super) fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), bytes: bytes.into(), is_program: false }
    }

    pub(super) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { is_program: true, ..Self::new(path, bytes) }
    }

    pub(super) fn mode(&self) -> u32 {
        if self.is_program { 0o755 } else { 0o644 }
    }

    /// The same elsewhere.
    pub(super) fn below(&self, folder: &str) -> Self {
        Self { path: format!("{folder}/{}", self.path), ..self.clone() }
    }
}

/// Compressed as `gzip -9n` does it.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().operating_system(255).write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

//! Fingerprints of bytes and of what is at a path.

use std::{
    os::unix::{
        ffi::OsStringExt,
        fs::{MetadataExt, PermissionsExt},
    },
    path::Path,
};

use crate::files;

/// The fingerprint of what is not there.
pub const GONE: &str = "gone";

/// Files up to this size are compared by content, larger ones by time and size.
const MAX_HASHED_LEN: u64 = 1024 * 1024;

/// What is at a path, in a few letters.
pub fn fingerprint(path: &Path) -> String {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return GONE.to_owned() };
    let contents = if metadata.is_symlink() {
        std::fs::read_link(path).ok().map(|target| target.into_os_string().into_vec())
    } else if metadata.is_file() && metadata.len() <= MAX_HASHED_LEN {
        files::read(path, MAX_HASHED_LEN).ok()
    } else {
        None
    };
    if let Some(contents) = contents {
        return format!("{:x}-{:x}-{:x}", mode(&metadata), contents.len(), fnv(&contents));
    }
    format!("{:x}-{:x}@{}.{}", mode(&metadata), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

fn mode(metadata: &std::fs::Metadata) -> u32 {
    metadata.permissions().mode()
}

/// A fingerprint that is the same in every version of ralph (FNV-1a).
pub fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

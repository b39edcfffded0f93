//! The archive around a Debian package.

use super::{Entry, MADE_AT};

/// All of it.
pub(in crate::dist) fn ar(entries: &[Entry]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for entry in entries {
        let (name, size) = (&entry.path, entry.bytes.len());
        archive.extend_from_slice(
            format!("{name:<16}{MADE_AT:<12}0     0     100644  {size:<10}`\n").as_bytes(),
        );
        archive.extend_from_slice(&entry.bytes);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

//! The archive of a Python wheel.

use std::io::Write;

use anyhow::Result;
use flate2::{Compression, Crc, write::DeflateEncoder};

use super::Entry;

/// 26 October 1985, 08:15, as DOS writes it.
const DATE: u16 = (5 << 9) + (10 << 5) + 26;
const TIME: u16 = (8 << 11) + (15 << 5);
/// Deflated.
const METHOD: u16 = 8;
/// Made on Unix, by version 2.0 of the format.
const MADE_BY: u16 = (3 << 8) + 20;

/// All of it, in this order.
pub(in crate::dist) fn zip(entries: &[Entry]) -> Result<Vec<u8>> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&entry.bytes)?;
        let packed = encoder.finish()?;
        let mut crc = Crc::new();
        crc.update(&entry.bytes);
        let mut common = Vec::new();
        for short in [20, 0x0800, METHOD, TIME, DATE] {
            common.extend_from_slice(&short.to_le_bytes());
        }
        for long in [crc.sum(), u32::try_from(packed.len())?, u32::try_from(entry.bytes.len())?] {
            common.extend_from_slice(&long.to_le_bytes());
        }
        common.extend_from_slice(&u16::try_from(entry.path.len())?.to_le_bytes());
        let at = u32::try_from(archive.len())?;
        archive.extend_from_slice(b"PK\x03\x04");
        archive.extend_from_slice(&common);
        archive.extend_from_slice(&[0; 2]);
        archive.extend_from_slice(entry.path.as_bytes());
        archive.extend_from_slice(&packed);
        directory.extend_from_slice(b"PK\x01\x02");
        directory.extend_from_slice(&MADE_BY.to_le_bytes());
        directory.extend_from_slice(&common);
        // No extra field, no comment, the first disk, not a text.
        directory.extend_from_slice(&[0; 8]);
        directory.extend_from_slice(&((0o100_000 | entry.mode()) << 16).to_le_bytes());
        directory.extend_from_slice(&at.to_le_bytes());
        directory.extend_from_slice(entry.path.as_bytes());
    }
    let (count, at, size) =
        (u16::try_from(entries.len())?, u32::try_from(archive.len())?, u32::try_from(directory.len())?);
    archive.append(&mut directory);
    archive.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    archive.extend_from_slice(&[count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend_from_slice(&[size.to_le_bytes(), at.to_le_bytes()].concat());
    archive.extend_from_slice(&[0; 2]);
    Ok(archive)
}

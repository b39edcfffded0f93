//! Reads just enough of a Linux program to tell whether it is static, and stripped.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The kind of program header that names a dynamic loader.
const PT_INTERP: u32 = 3;
/// The kind of section that names functions, for debuggers.
const SHT_SYMTAB: u32 = 2;

/// Fails unless a program can be shipped: it runs on any Linux, and carries nothing that only a debugger reads.
pub(crate) fn ensure_shippable(path: &Path) -> Result<()> {
    let program = fs_err::read(path)?;
    ensure!(is_static(&program)?, "{} needs a dynamic loader", path.display());
    ensure!(is_stripped(&program)?, "{} is not stripped", path.display());
    Ok(())
}

/// Whether a program needs no dynamic loader, and so no library of the system.
pub(crate) fn is_static(program: &[u8]) -> Result<bool> {
    Ok(!kinds(program, &SEGMENTS)?.contains(&PT_INTERP))
}

/// Whether the names of functions were taken out of a program.
fn is_stripped(program: &[u8]) -> Result<bool> {
    Ok(!kinds(program, &SECTIONS)?.contains(&SHT_SYMTAB))
}

/// A table of a program: where its header has the address, the size of an entry and the count of them, and where an entry
/// has its kind.
struct Table {
    address: usize,
    size: usize,
    count: usize,
    kind: usize,
}

const SEGMENTS: Table = Table { address: 32, size: 54, count: 56, kind: 0 };
const SECTIONS: Table = Table { address: 40, size: 58, count: 60, kind: 4 };

/// The kinds of all entries.
fn kinds(program: &[u8], table: &Table) -> Result<Vec<u32>> {
    ensure!(program.starts_with(b"\x7fELF\x02\x01"), "not a 64-bit little-endian ELF program");
    let first = usize::try_from(u64::from_le_bytes(bytes(program, table.address)?))?;
    let size = usize::from(u16::from_le_bytes(bytes(program, table.size)?));
    let count = usize::from(u16::from_le_bytes(bytes(program, table.count)?));
    let at = |index: usize| first.saturating_add(index * size).saturating_add(table.kind);
    (0..count).map(|index| Ok(u32::from_le_bytes(bytes(program, at(index))?))).collect()
}

fn bytes<const N: usize>(program: &[u8], at: usize) -> Result<[u8; N]> {
    program.get(at..).and_then(|rest| rest.first_chunk()).copied().context("the ELF program is cut off")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF program with these program headers.
    fn program(kinds: &[u32]) -> Vec<u8> {
        let mut program = vec![0; 64];
        program[..6].copy_from_slice(b"\x7fELF\x02\x01");
        program[32] = 64;
        program[54] = 56;
        program[56] = u8::try_from(kinds.len()).expect("few headers");
        for kind in kinds {
            program.extend_from_slice(&kind.to_le_bytes());
            program.extend_from_slice(&[0; 52]);
        }
        program
    }

    #[test]
    fn finds_the_loader() {
        assert!(is_static(&program(&[])).expect("a program"));
        assert!(is_static(&program(&[1, 1, 2])).expect("a program"));
        assert!(!is_static(&program(&[6, 3, 1])).expect("a program"));
    }

    #[test]
    fn finds_the_names() {
        let with_sections = |kinds: &[u32]| {
            let mut program = program(&[]);
            program[40] = 64;
            program[58] = 64;
            program[60] = u8::try_from(kinds.len()).expect("few sections");
            for kind in kinds {
                program.extend_from_slice(&[0; 4]);
                program.extend_from_slice(&kind.to_le_bytes());
                program.extend_from_slice(&[0; 56]);
            }
            program
        };
        assert!(is_stripped(&with_sections(&[0, 1, 3])).expect("a program"));
        assert!(!is_stripped(&with_sections(&[0, 1, 2, 3])).expect("a program"));
    }

    #[test]
    fn refuses_what_is_no_program() {
        assert!(is_static(b"#!/bin/sh\n").is_err());
        assert!(is_static(&program(&[1, 3])[..100]).is_err());
    }
}

//! Reads just enough of a Linux program to tell whether it is static.

use anyhow::{Context, Result, ensure};

/// The kind of program header that names a dynamic loader.
const PT_INTERP: u32 = 3;

/// Whether a program needs no dynamic loader, and so no library of the system.
pub(crate) fn is_static(program: &[u8]) -> Result<bool> {
    ensure!(program.starts_with(b"\x7fELF\x02\x01"), "not a 64-bit little-endian ELF program");
    let table = usize::try_from(u64::from_le_bytes(bytes(program, 32)?))?;
    let size = usize::from(u16::from_le_bytes(bytes(program, 54)?));
    let count = usize::from(u16::from_le_bytes(bytes(program, 56)?));
    for index in 0..count {
        if u32::from_le_bytes(bytes(program, table.saturating_add(index * size))?) == PT_INTERP {
            return Ok(false);
        }
    }
    Ok(true)
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
    fn refuses_what_is_no_program() {
        assert!(is_static(b"#!/bin/sh\n").is_err());
        assert!(is_static(&program(&[1, 3])[..100]).is_err());
    }
}

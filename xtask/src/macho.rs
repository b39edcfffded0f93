//! What must hold for a program for a Mac, read from the file itself: no Mac is here to start it.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cargo::root;

const MAGIC: u32 = 0xfeed_facf;
const EXECUTABLE: u32 = 2;
const CODE_SIGNATURE: u32 = 0x1d;
const SUPER_BLOB: u32 = 0xfade_0cc0;
const CODE_DIRECTORY: u32 = 0xfade_0c02;
/// Signed by no one: what the kernel of an ARM Mac asks for at least.
const AD_HOC: u32 = 2;
/// Where the load commands begin.
const HEADER: usize = 32;

/// Lists what the program takes from the frameworks of a Mac: enough to link without them.
const FRAMEWORKS: &str = "packaging/macos";

/// Has a linker that is on no Mac find the frameworks of one. What is new in `undefined symbol` belongs into their lists.
pub(crate) fn link_without_frameworks(command: &mut Command, triple: &str) {
    let triple = triple.to_uppercase().replace('-', "_");
    let frameworks = root().join(FRAMEWORKS);
    command.env(format!("CARGO_TARGET_{triple}_RUSTFLAGS"), format!("-Clink-arg=-F{}", frameworks.display()));
}

/// Fails unless this is a program for the processor of this target, and signed where that system starts no other.
pub(crate) fn ensure_starts(bytes: &[u8], triple: &str) -> Result<()> {
    let is_arm = triple.starts_with("aarch64");
    let processor = if is_arm { 0x0100_000c } else { 0x0100_0007 };
    ensure!(little(bytes, 0)? == MAGIC, "it is no program for a Mac");
    ensure!(little(bytes, 4)? == processor, "it is for another processor");
    ensure!(little(bytes, 12)? == EXECUTABLE, "it is no program, but a part of one");
    let signature = signature(bytes)?;
    ensure!(!is_arm || signature.is_some(), "it is not signed, and an ARM Mac starts nothing that is not");
    let Some(at) = signature else { return Ok(()) };
    ensure!(big(bytes, at)? == SUPER_BLOB, "its signature is none");
    // The directory of the code is the first part of it.
    let directory = at + usize::try_from(big(bytes, at + 16)?)?;
    ensure!(big(bytes, directory)? == CODE_DIRECTORY, "its signature has no directory of the code");
    ensure!(big(bytes, directory + 12)? & AD_HOC != 0, "it is signed by someone");
    Ok(())
}

/// Where the signature lies, if there is one.
fn signature(bytes: &[u8]) -> Result<Option<usize>> {
    let mut at = HEADER;
    for _ in 0..little(bytes, 16)? {
        let (command, size) = (little(bytes, at)?, usize::try_from(little(bytes, at + 4)?)?);
        if command == CODE_SIGNATURE {
            return Ok(Some(usize::try_from(little(bytes, at + 8)?)?));
        }
        ensure!(8 <= size, "a load command has no size");
        at += size;
    }
    Ok(None)
}

fn little(bytes: &[u8], at: usize) -> Result<u32> {
    Ok(u32::from_le_bytes(four(bytes, at)?))
}

fn big(bytes: &[u8], at: usize) -> Result<u32> {
    Ok(u32::from_be_bytes(four(bytes, at)?))
}

fn four(bytes: &[u8], at: usize) -> Result<[u8; 4]> {
    let four = bytes.get(at..).and_then(|rest| rest.get(..4)).context("it ends too soon")?;
    Ok(four.try_into()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARM: &str = "aarch64-apple-darwin";

    /// A header, one load command, and a signature; each value can be spoilt.
    fn program(processor: u32, kind: u32, command: u32, flags: u32) -> Vec<u8> {
        let head = [MAGIC, processor, 0, kind, 1, 16, 0, 0, command, 16, 48, 100];
        let signature = [SUPER_BLOB, 40, 1, 0, 20, CODE_DIRECTORY, 20, 0, flags, 0];
        let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(signature.iter().flat_map(|word| word.to_be_bytes()));
        bytes
    }

    #[test]
    fn only_a_signed_program_of_the_right_kind_starts() {
        let (arm, intel) = (0x0100_000c, 0x0100_0007);
        assert!(ensure_starts(&program(arm, EXECUTABLE, CODE_SIGNATURE, AD_HOC), ARM).is_ok());
        assert!(ensure_starts(&program(intel, EXECUTABLE, 0x19, 0), "x86_64-apple-darwin").is_ok());
        for damaged in [
            program(intel, EXECUTABLE, CODE_SIGNATURE, AD_HOC),
            program(arm, 1, CODE_SIGNATURE, AD_HOC),
            program(arm, EXECUTABLE, 0x19, AD_HOC),
            program(arm, EXECUTABLE, CODE_SIGNATURE, 0),
            b"\x7fELF and so on, for as long as a header".to_vec(),
            program(arm, EXECUTABLE, CODE_SIGNATURE, AD_HOC)[..60].to_vec(),
        ] {
            assert!(ensure_starts(&damaged, ARM).is_err(), "{damaged:?}");
        }
    }
}

//! Receipts: what a run says about itself, so that others need not take anyone's word for it.
//!
//! Invariant: a receipt has no absolute path, user or host name, prompt or value of the environment in it, and what a
//! verifier trusts never comes out of a receipt.

pub mod base64;
pub mod compose;
mod crew;
pub mod envelope;
pub mod landing;
pub mod policy;
pub mod private;
pub mod rerun;
pub mod signers;
pub mod sshsig;
pub mod statement;
pub mod verdict;

#[cfg(test)]
mod tests;

use sha2::{Digest, Sha256};

/// What signatures are made for, as `ssh-keygen` calls it.
pub const NAMESPACE: &str = "ralph-receipt";

/// Where git keeps the receipts of commits.
pub const NOTES_REF: &str = "refs/notes/ralph";

/// The SHA-256 of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

//! What is known of a process whose output was kept.

use super::Ended;

/// A process that ended, with the beginning of what it printed.
pub struct Captured {
    /// How it ended.
    pub ended: Ended,
    /// The beginning of its output.
    pub out: Vec<u8>,
    /// The beginning of its errors.
    pub err: Vec<u8>,
}

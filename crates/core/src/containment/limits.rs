//! What a turn inside a sandbox may use of the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest file that is usually written.
pub const USUAL_FILE_SIZE: u64 = 20_000_000_000;
/// What usually stays free.
pub const USUAL_FREE_DISK: u64 = 200_000_000;

/// What the processes inside may use; nothing means that there is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SandboxLimits {
    /// Memory of all of them together, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// The largest file that one of them may write, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_size: Option<u64>,
    /// What must stay free where they write, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_disk: Option<u64>,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// So much memory was in use.
    Memory(u64),
    /// So little was free.
    FreeDisk(u64),
}

impl SandboxLimits {
    /// Which of them is reached where so much memory is in use and so much of the disk is free.
    pub fn reached(&self, memory: u64, free: Option<u64>) -> Option<Reached> {
        let over = self.memory.filter(|most| *most < memory).map(|_| Reached::Memory(memory));
        let full = || self.free_disk.zip(free).filter(|(least, free)| free < least);
        over.or_else(|| full().map(|(_, free)| Reached::FreeDisk(free)))
    }

    /// What a person is told of it.
    pub fn explained(&self, reached: Reached) -> String {
        match reached {
            Reached::Memory(used) => format!(
                "everything inside was ended: {} of memory in use, at most {} (sandbox.maxMemory)",
                size(used),
                size(self.memory.unwrap_or_default())
            ),
            Reached::FreeDisk(free) => format!(
                "everything inside was ended: {} of the disk is free, at least {} must be (sandbox.minFreeDisk)",
                size(free),
                size(self.free_disk.unwrap_or_default())
            ),
        }
    }
}

/// A number of bytes in megabytes.
fn size(bytes: u64) -> String {
    format!("{} MB", bytes / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_reached_when_they_are_exceeded() {
        let limits = SandboxLimits { memory: Some(100), file_size: None, free_disk: Some(50) };
        for (memory, free, expected) in [
            (0, None, None),
            (100, Some(50), None),
            (101, Some(50), Some(Reached::Memory(101))),
            (100, Some(49), Some(Reached::FreeDisk(49))),
            (101, Some(49), Some(Reached::Memory(101))),
        ] {
            assert_eq!(limits.reached(memory, free), expected);
        }
        assert_eq!(SandboxLimits::default().reached(u64::MAX, Some(0)), None);
    }

    #[test]
    fn a_person_is_told_which_limit_it_was_and_how_far() {
        let (memory, free_disk) = (Some(2_000_000_000), Some(500_000_000));
        let limits = SandboxLimits { memory, file_size: None, free_disk };
        let told = limits.explained(Reached::Memory(2_100_900_000));
        assert!(told.contains("2100 MB of memory in use, at most 2000 MB (sandbox.maxMemory)"), "{told}");
        let told = limits.explained(Reached::FreeDisk(400_000_000));
        assert!(
            told.contains("400 MB of the disk is free, at least 500 MB must be (sandbox.minFreeDisk)"),
            "{told}"
        );
    }
}

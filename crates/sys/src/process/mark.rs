//! What the processes of a run are known by.
//!
//! The id of a run alone does not do: another project may have one with the same id, and a run that was resumed has
//! processes of two ralphs for a moment.

use std::{
    hash::{BuildHasher, RandomState},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// The mark of the processes that one ralph starts for a run.
#[derive(Clone, Debug)]
pub struct Mark {
    run: String,
    /// Where the run is recorded, then which ralph.
    value: String,
}

/// How many letters of a mark say where the run is recorded.
const PLACE_LEN: usize = 16;

impl Mark {
    /// The mark of this run, whose record is in this folder of its project.
    pub fn new(run: &str, folder: &Path) -> Self {
        Self { run: run.to_owned(), value: format!("{}-{:08x}", place(folder), chance() >> 32) }
    }

    /// The run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// All of it.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What it shares with the marks of other ralphs.
    pub fn place(&self) -> &str {
        &self.value[..PLACE_LEN]
    }
}

/// How marks of runs begin that are recorded in this folder of a project.
pub fn place(folder: &Path) -> String {
    // The same for every version of ralph, which the hash of the standard library is not.
    let hash = folder.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:0PLACE_LEN$x}")
}

/// A number that no other process has.
pub fn chance() -> u64 {
    // The standard library asks the system for the keys of its hashes.
    RandomState::new().hash_one(std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_share_their_place_and_nothing_else() {
        let (one, two) = (Mark::new("a", Path::new("/state/x")), Mark::new("a", Path::new("/state/x")));
        assert_eq!((one.run(), one.place()), ("a", two.place()));
        assert_ne!(one.value(), two.value());
        assert!(one.value().starts_with(&place(Path::new("/state/x"))));
        assert_ne!(one.place(), Mark::new("a", Path::new("/state/y")).place());
    }
}

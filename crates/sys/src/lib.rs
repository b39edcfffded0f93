//! What ralph needs of the machine: processes that are watched and leave nothing behind, files that links cannot
//! lead astray, locks, fingerprints, and where things are kept.

pub mod boot;
pub mod calls;
pub mod error;
pub mod file_lock;
pub mod files;
pub mod hash;
pub mod outlet;
pub mod paths;
pub mod process;
pub mod signals;
pub mod watch;

//! A program to start in a session of its own.

mod fork;
#[cfg(target_os = "linux")]
mod posix_spawn;

use std::{
    ffi::{OsStr, OsString},
    os::fd::BorrowedFd,
    path::Path,
};

/// A program to start.
pub(super) struct Launch<'a> {
    pub(super) program: &'a OsStr,
    pub(super) args: &'a [OsString],
    pub(super) dir: &'a Path,
    /// Set in the environment, or removed from it.
    pub(super) env: &'a [(OsString, Option<OsString>)],
    /// Standard input, output and error.
    pub(super) stdio: [BorrowedFd<'a>; 3],
}

//! The files that this process prints into: by redirection, or through a pipe and a program like `tee`.

#[cfg(target_os = "linux")]
mod linux;

use std::{collections::BTreeSet, path::PathBuf};

/// The files, as far as they can be seen.
#[cfg(target_os = "linux")]
pub fn printed_into() -> BTreeSet<PathBuf> {
    linux::printed_into()
}

/// The files, as far as they can be seen: a Mac does not say who reads a pipe.
#[cfg(target_os = "macos")]
pub fn printed_into() -> BTreeSet<PathBuf> {
    use std::{
        ffi::OsString,
        os::{fd::BorrowedFd, unix::ffi::OsStringExt},
    };
    // SAFETY: ralph closes neither.
    let descriptors = [1, 2].map(|number| unsafe { BorrowedFd::borrow_raw(number) });
    let paths = descriptors.into_iter().filter_map(|descriptor| rustix::fs::getpath(descriptor).ok());
    paths
        .map(|path| PathBuf::from(OsString::from_vec(path.into_bytes())))
        .filter(|path| path.is_file())
        .collect()
}

//! The files that this process prints into: by redirection, or through a pipe and a program like `tee`.

#[cfg(target_os = "linux")]
mod linux;

use std::{collections::BTreeSet, path::PathBuf};

/// What is known of them.
pub struct PrintedInto {
    /// Those that can be seen.
    pub files: BTreeSet<PathBuf>,
    /// Whether another look would find no more. Who reads a pipe may open a file at any time: a shell that reads it may become a `tee`.
    pub is_settled: bool,
}

/// The files, as far as they can be seen.
#[cfg(target_os = "linux")]
pub fn printed_into() -> PrintedInto {
    linux::printed_into()
}

/// The files, as far as they can be seen: a Mac does not say who reads a pipe.
#[cfg(target_os = "macos")]
pub fn printed_into() -> PrintedInto {
    use std::{
        ffi::OsString,
        os::{fd::BorrowedFd, unix::ffi::OsStringExt},
    };
    // SAFETY: ralph closes neither.
    let descriptors = [1, 2].map(|number| unsafe { BorrowedFd::borrow_raw(number) });
    let paths = descriptors.into_iter().filter_map(|descriptor| rustix::fs::getpath(descriptor).ok());
    let paths = paths.map(|path| PathBuf::from(OsString::from_vec(path.into_bytes())));
    PrintedInto { files: paths.filter(|path| path.is_file()).collect(), is_settled: true }
}

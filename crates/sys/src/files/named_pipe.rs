//! Pipes that have a name.

use std::{ffi::CString, io, os::unix::ffi::OsStrExt, path::Path};

/// Makes a pipe that only its owner may use.
pub fn make_pipe(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path outlives the call.
    match unsafe { libc::mkfifo(path.as_ptr(), 0o600) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

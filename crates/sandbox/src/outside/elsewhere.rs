//! What stands for the process outside of a sandbox on systems where ralph makes none itself.

use std::{ffi::OsString, path::Path};

use ralph_core::containment::level::Level;
use ralph_sys::error::{Error, Result};

/// Runs a command inside; there is no inside here.
pub fn run(level: Level, _policy: &Path, _log: Option<&Path>, _command: &[OsString]) -> Result<u8> {
    Err(Error::new(format!("the sandbox cannot be set up: `{}` is for Linux", level.name()))
        .hint("see what works here: ralph sandbox check"))
}

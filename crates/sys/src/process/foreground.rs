//! A program that the user works with: it has ralph's terminal, and ralph waits.

use std::{
    ffi::OsString,
    io,
    process::{Command, ExitStatus},
};

/// Runs a program in the foreground to its end.
pub fn run(program: OsString, args: Vec<OsString>) -> io::Result<ExitStatus> {
    Command::new(program).args(args).status()
}

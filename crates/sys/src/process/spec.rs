//! What a process is started with.

use std::{ffi::OsString, fs::File, path::PathBuf};

use rustix::process::Signal;

use crate::watch;

/// A process to start.
pub struct Spec {
    /// The program, as a path or as a name to look for.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder that it works in.
    pub dir: PathBuf,
    /// Set in the environment, or removed from it.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Written to standard input without waiting for the process; nothing means that there is no input.
    pub input: Option<Vec<u8>>,
    /// Where its output goes.
    pub stdout: Sink,
    /// Where its errors go.
    pub stderr: Sink,
    /// What asks it to end, before it is killed.
    pub first_signal: Signal,
    /// When it has had enough time.
    pub limits: watch::Limits,
    /// What happens to what it leaves behind.
    pub leftovers: Leftovers,
}

/// Where a process prints to.
pub enum Sink {
    /// Into this file, without passing through ralph.
    File(File),
    /// To ralph, which also keeps a copy in this file.
    Pipe {
        /// Where the copy goes.
        copy: Option<File>,
    },
    /// Nowhere.
    Null,
}

/// What happens to processes that a process leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// They are ended.
    Kill,
    /// They stay alive.
    Keep,
}

//! Another ralph that goes on when this one ends: in a session of its own, with no mark of this one.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::setsid;

/// A ralph that a person started from somewhere else than a terminal.
#[derive(Debug)]
pub struct Outliving {
    child: Child,
}

impl Outliving {
    /// Starts it in this folder. Everything that it prints goes into `log`.
    pub fn start(args: &[OsString], dir: &Path, log: File) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(args).current_dir(dir).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        // SAFETY: one system call that is safe between fork and exec.
        unsafe {
            command.pre_exec(|| Ok(setsid().map(drop)?));
        }
        Ok(Self { child: command.spawn()? })
    }

    /// How it ended, if it did: its exit code, if it was not killed.
    pub fn ended(&mut self) -> io::Result<Option<Option<i32>>> {
        Ok(self.child.try_wait()?.map(|status| status.code()))
    }

    /// Waits for its end, so that nothing of it is left in the table of processes.
    pub fn wait(mut self) {
        let _ = self.child.wait();
    }
}

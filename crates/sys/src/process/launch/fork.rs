//! Starts a program in a session of its own as every Unix can: a copy of ralph makes the session and becomes the program.

use std::{io, os::unix::process::CommandExt, process::Command};

use rustix::process::{Pid, setsid};

use super::Launch;

impl Launch<'_> {
    /// Starts the program as the leader of a new session.
    pub(in crate::process) fn fork(&self) -> io::Result<Pid> {
        let mut command = Command::new(self.program);
        command.args(self.args).current_dir(self.dir);
        for (name, value) in self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let [stdin, stdout, stderr] = self.stdio;
        command.stdin(stdin.try_clone_to_owned()?);
        command.stdout(stdout.try_clone_to_owned()?).stderr(stderr.try_clone_to_owned()?);
        // SAFETY: calls that are safe between fork and exec. The standard library puts SIGPIPE right by itself.
        unsafe {
            command.pre_exec(|| {
                libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
                Ok(setsid().map(drop)?)
            });
        }
        let child = command.spawn()?;
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::Other.into())
    }
}

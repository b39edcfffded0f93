//! Another ralph that works beside this one and ends with it: in a session of its own, marked, so that the guardian of
//! this one finds it.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process, setsid};

use super::{
    guardian::{MARK_VARIABLE, RUN_VARIABLE},
    mark::Mark,
};

/// A ralph beside this one.
#[derive(Debug)]
pub struct Aside {
    child: Child,
}

impl Aside {
    /// Starts it. Everything that it prints goes into `log`.
    pub fn start(args: &[OsString], log: File, mark: &Mark) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(args).env(RUN_VARIABLE, mark.run()).env(MARK_VARIABLE, mark.value());
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
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

    /// Asks it to stop: after what it is at, or now.
    pub fn ask(&self, now: bool) {
        self.signal(if now { Signal::QUIT } else { Signal::USR1 });
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // It may be gone by now; its number is ours until it is waited for.
        let _ = pid.map(|pid| kill_process(pid, signal));
    }
}

//! Turns a call of ralph into a run of its own, which outlives whoever called.
//!
//! What a process was started with stands in its environment for good, and that is how a guardian finds the
//! processes of its run. So a run of its own begins with a new image of ralph, marked as itself.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io,
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use rustix::process::{getpid, setsid};

use super::guardian::{OWN_RUN_VARIABLE, RUN_VARIABLE};

/// Goes on as the run with this id, with these arguments. Returns only if that cannot be done.
pub fn become_run(run: &str, args: &[OsString]) -> io::Error {
    // Out of the caller's group, so that a signal to that group ends the caller alone. Who leads a group has
    // one of its own already.
    let _ = setsid();
    match command(run, args) {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    }
}

/// Starts the run with this id beside this process; returns its process. What it prints goes into `out`, what it
/// says into `log`.
pub fn start_run(run: &str, args: &[OsString], out: File, log: File) -> io::Result<i32> {
    let mut command = command(run, args)?;
    command.stdin(Stdio::null()).stdout(out).stderr(log);
    // SAFETY: one system call that is safe between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(setsid().map(drop)?));
    }
    Ok(command.spawn()?.id().cast_signed())
}

/// This process.
pub fn own_pid() -> i32 {
    getpid().as_raw_nonzero().get()
}

fn command(run: &str, args: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(args).env(RUN_VARIABLE, run).env(OWN_RUN_VARIABLE, run);
    Ok(command)
}

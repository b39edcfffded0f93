//! Processes that ralph does not watch: a command in the foreground, another ralph.

use std::{
    io::{self, Read},
    process::{Command, Output, Stdio},
};

use rustix::process::Signal;

use super::Spec;

/// Runs a command in the foreground, as a shell would; returns its exit code. Signals from the terminal reach
/// the command itself, so ralph only waits.
pub fn foreground(command: &mut Command) -> io::Result<u8> {
    let ignored = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let handler = signal_hook::flag::register(signal_hook::consts::SIGINT, ignored)?;
    let status = command.status();
    signal_hook::low_level::unregister(handler);
    Ok(status?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::error::INTERRUPTED))
}

/// Runs a command to its end without a supervisor: for a hook, which the agent itself ends when it takes too
/// long, and for which threads would cost more than the command.
pub fn at_once(spec: &Spec) -> io::Result<Output> {
    command(spec).output()
}

/// The same for what may print more than anyone reads: the beginning of it, at most so many bytes. What it says on
/// standard error is lost.
pub fn beginning_at_once(spec: &Spec, max: usize) -> io::Result<Vec<u8>> {
    let mut child = command(spec).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut printed = Vec::new();
    let read = child.stdout.take().map(|out| out.take(max as u64).read_to_end(&mut printed));
    // Who has more to say is not listened to.
    let _ = child.kill();
    child.wait()?;
    read.transpose()?;
    Ok(printed)
}

fn command(spec: &Spec) -> Command {
    let mut command = Command::new(&spec.program);
    command.args(&spec.args).current_dir(&spec.dir).stdin(Stdio::null());
    for (name, value) in &spec.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Asks another ralph to stop: as the first signal does, or as the second.
pub fn ask_to_stop(pid: u32, now: bool) -> io::Result<()> {
    let signal = if now { Signal::QUIT } else { Signal::USR1 };
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    Ok(rustix::process::kill_process(pid, signal)?)
}

/// Ends another ralph without asking; its guardian cleans up after it.
pub fn end_at_once(pid: i32) {
    if let Some(pid) = rustix::process::Pid::from_raw(pid) {
        // It may have gone meanwhile.
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}

/// Stops ralph where it is, as `kill -STOP` does.
#[cfg(debug_assertions)]
pub fn stand_still() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
}

/// Ends ralph as `kill -9` does: nothing is cleaned up.
#[cfg(debug_assertions)]
pub fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::KILL);
    unreachable!("no process survives SIGKILL")
}

//! Turns a call of ralph into a run of its own, which outlives the caller.
//!
//! What a process was started with stands in its environment for good, and that is how a guardian finds the
//! processes of its run. So a run of its own begins with a new image of ralph, marked as itself.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, Read},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{getpid, setsid};

use super::guardian::{OWN_RUN_VARIABLE, RUN_VARIABLE};
use crate::error::INTERRUPTED;

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

/// As long as a process that was started apart may take to say why it does not begin.
pub const BEGIN_TIMEOUT: Duration = Duration::from_secs(2);

/// As much is kept of what it says, in bytes.
const MAX_SAID_LEN: usize = 16 * 1024;

/// A call of ralph in a session of its own: it outlives this process, and no signal to this terminal reaches it.
pub struct Apart {
    child: Child,
    said: Arc<Mutex<Vec<u8>>>,
}

/// Starts ralph with these arguments apart from this process. What it says is kept as long as this process lives; no
/// one reads it later, and ralph does not mind.
pub fn start_apart(args: &[OsString]) -> io::Result<Apart> {
    let mut command = Command::new(env::current_exe()?);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    // SAFETY: one system call that is safe between fork and exec.
    unsafe {
        command.pre_exec(|| Ok(setsid().map(drop)?));
    }
    let mut child = command.spawn()?;
    let said = Arc::new(Mutex::new(Vec::new()));
    if let Some(mut talk) = child.stderr.take() {
        let kept = Arc::clone(&said);
        thread::Builder::new().name("talk".to_owned()).spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = talk.read(&mut chunk) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                // The beginning says why it does not begin.
                let room = MAX_SAID_LEN.saturating_sub(kept.len()).min(length);
                kept.extend_from_slice(&chunk[..room]);
            }
        })?;
    }
    Ok(Apart { child, said })
}

impl Apart {
    /// Its number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said and exited with, if it ends within this time.
    pub fn refused_within(&mut self, timeout: Duration) -> io::Result<Option<(String, u8)>> {
        let until = Instant::now() + timeout;
        loop {
            if let Some(status) = self.child.try_wait()? {
                let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                let code = status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(INTERRUPTED);
                return Ok(Some((String::from_utf8_lossy(&said).into_owned(), code)));
            }
            if until <= Instant::now() {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

//! Keeps the machine awake, by a program of the system that does so for as long as a process of its own lives.
//!
//! Nothing is asked of anyone, and nothing is said where it cannot be done. The process ends when the pipe to it closes, so
//! it outlives no one.

use std::{
    env,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group};

use super::Supervisor;

/// Where a system has someone to ask.
const SYSTEM_BUS: &str = "/run/dbus/system_bus_socket";
const SYSTEM_BUS_VARIABLE: &str = "DBUS_SYSTEM_BUS_ADDRESS";

/// Asks no one for a password: newer versions must be told, older ones cannot.
const INHIBIT: &str = r#"quiet=; case "$(systemd-inhibit --help 2>/dev/null)" in *--no-ask-password*) quiet=--no-ask-password;; esac
exec systemd-inhibit $quiet --what=idle:sleep --who=ralph --why="An agent is at work" --mode=block cat"#;

/// The same on a Mac.
const CAFFEINATE: &str = "exec caffeinate -i cat";

/// What it may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A machine that is kept awake.
pub(super) struct KeptAwake {
    child: Child,
}

impl KeptAwake {
    /// Begins; nothing where it cannot be done.
    pub(super) fn begin() -> Option<Self> {
        let script = if cfg!(target_os = "macos") {
            CAFFEINATE
        } else if env::var_os(SYSTEM_BUS_VARIABLE).is_some() || Path::new(SYSTEM_BUS).exists() {
            INHIBIT
        } else {
            return None;
        };
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir("/").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().ok().map(|child| Self { child })
    }
}

impl Supervisor {
    /// Keeps the machine awake from here on, or lets it sleep. Where that cannot be done, nothing happens.
    pub fn keep_awake(&mut self, is_awake: bool) {
        if let Some(guardian) = self.guardian.as_mut().filter(|_| self.is_awake != is_awake) {
            guardian.keep_awake(is_awake);
            self.is_awake = is_awake;
        }
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        // What reads from it ends by itself; what does not is ended.
        drop(self.child.stdin.take());
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::TERM);
        }
        let started = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if END_TIMEOUT < started.elapsed() {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
            thread::sleep(POLL_INTERVAL);
        }
    }
}

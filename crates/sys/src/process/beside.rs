//! Processes beside each other: each thread runs one to its end, and all end when ralph is asked to stop.

use std::{
    fs::File,
    io::{self, Read, Seek},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::Spec;

/// Between two looks at a process.
const LOOK_INTERVAL: Duration = Duration::from_millis(4);
/// What a process may take to end when it was asked to.
const END_TIMEOUT: Duration = Duration::from_secs(20);

/// Starts processes for several threads.
#[derive(Clone, Debug)]
pub struct Crew {
    stop: Arc<AtomicBool>,
}

/// How one of them ended.
#[derive(Debug)]
pub struct Beside {
    /// Nothing if it was ended, because it took too long or because ralph was asked to stop.
    pub code: Option<i32>,
    /// What it printed.
    pub out: String,
    /// What it complained.
    pub err: String,
}

impl Crew {
    /// Takes over the signals that ask ralph to stop.
    pub fn new() -> io::Result<Self> {
        let stop = Arc::default();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        Ok(Self { stop })
    }

    /// Whether ralph was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs a process to its end, or ends it.
    pub fn run(&self, spec: &Spec, limit: Duration) -> io::Result<Beside> {
        let (mut out, mut err) = (tempfile::tempfile()?, tempfile::tempfile()?);
        let mut command = Command::new(&spec.program);
        command.args(&spec.args).current_dir(&spec.dir).stdin(Stdio::null());
        command.stdout(out.try_clone()?).stderr(err.try_clone()?);
        for (name, value) in &spec.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command.spawn()?;
        let status = self.wait(&mut child, Instant::now() + limit)?;
        Ok(Beside {
            code: status.and_then(|status| status.code()),
            out: printed(&mut out)?,
            err: printed(&mut err)?,
        })
    }

    fn wait(&self, child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if self.is_stopping() || deadline < Instant::now() {
                return end(child).map(|()| None);
            }
            thread::sleep(LOOK_INTERVAL);
        }
    }
}

/// Asks a process to end, and kills it when it does not.
fn end(child: &mut Child) -> io::Result<()> {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Twice: the first request lets a ralph finish what it is at.
        let _ = kill_process(pid, Signal::TERM);
        let _ = kill_process(pid, Signal::QUIT);
    }
    let deadline = Instant::now() + END_TIMEOUT;
    while Instant::now() < deadline {
        if child.try_wait()?.is_some() {
            return Ok(());
        }
        thread::sleep(LOOK_INTERVAL);
    }
    child.kill()?;
    child.wait().map(drop)
}

fn printed(file: &mut File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_process_ends_or_is_ended() {
        let crew = Crew::new().expect("signals");
        let run = |command: &str, limit| {
            crew.run(&Spec::shell(command, Path::new(".")).env("A", "b"), limit).expect("a process")
        };
        let ended = run("echo $A; echo c >&2; exit 3", Duration::from_mins(1));
        assert_eq!((ended.code, &*ended.out, &*ended.err), (Some(3), "b\n", "c\n"));
        assert_eq!(run("exec sleep 600", Duration::from_millis(50)).code, None);
        crew.stop.store(true, Ordering::Relaxed);
        assert_eq!(run("exec sleep 600", Duration::from_mins(9)).code, None);
        assert!(crew.is_stopping());
    }
}

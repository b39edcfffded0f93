//! The one place of the server that starts processes: one thing after the other, on the thread that hears signals.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel},
    thread,
    time::{Duration, Instant},
};

use ralph_sys::{
    calls::{refusal, succeeded},
    error::REFUSED,
    process::{Spec, Supervisor, outliving::Outliving},
};
use serde_json::json;

use super::{Server, answer::WebAnswer, diff};
use crate::journal::{
    self,
    run_dir::{RunDir, record_into},
};

/// How many may wait for their turn.
const MAX_JOBS: usize = 16;
/// How long one waits for what it asked for.
const JOB_TIMEOUT: Duration = Duration::from_mins(2);
/// How long a command may take that does not go on as a run; one that pushes takes a while.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a run may take to begin before it counts as begun.
const BEGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// How often it is looked at whether someone wants the server to stop, and whether a run has begun.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// What is kept of what a command says.
const MAX_OUTPUT_LEN: usize = 16 * 1024;
/// What a run that was continued from the page says, in its folder.
const LOG: &str = "serve.log";

/// What is to be done at the desk.
pub(super) enum Job {
    /// What a run changed.
    Diff { run: RunDir, reply: Sender<WebAnswer> },
    /// A command that ends soon.
    Command { args: Vec<OsString>, dir: PathBuf, reply: Sender<WebAnswer> },
    /// A command that goes on as a run.
    Run { run: RunDir, args: Vec<OsString>, dir: PathBuf, reply: Sender<WebAnswer> },
}

/// Who sits there.
pub(super) struct Desk {
    supervisor: Supervisor,
    jobs: Receiver<Job>,
}

impl Desk {
    /// A desk, and the way to it.
    pub(super) fn new() -> io::Result<(Self, SyncSender<Job>)> {
        let (sender, jobs) = sync_channel(MAX_JOBS);
        let mut supervisor = Supervisor::new()?;
        // Runs that were continued from the page are no leftovers of a command.
        supervisor.spare(|_| true);
        Ok((Self { supervisor, jobs }, sender))
    }

    /// Does what comes, until someone asks the server to stop.
    pub(super) fn work(mut self) {
        while !self.supervisor.stop_requested() {
            match self.jobs.recv_timeout(POLL_INTERVAL) {
                Ok(job) => self.perform(job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn perform(&mut self, job: Job) {
        let (answer, reply) = match job {
            Job::Diff { run, reply } => (diff::answer(&mut self.supervisor, &run), reply),
            Job::Command { args, dir, reply } => (self.command(args, &dir), reply),
            Job::Run { run, args, dir, reply } => (begin(&run, &args, &dir), reply),
        };
        // The page that asked may be gone.
        let _ = reply.send(answer);
    }

    /// Runs a command of ralph's as a person would have typed it.
    fn command(&mut self, args: Vec<OsString>, dir: &Path) -> WebAnswer {
        let Ok(program) = env::current_exe() else { return WebAnswer::of_status(503) };
        let spec = Spec::new(program, dir).args(args).env("NO_COLOR", "1").within(COMMAND_TIMEOUT);
        match self.supervisor.capture(spec, MAX_OUTPUT_LEN) {
            Ok(captured) if succeeded(&captured) => said(200, &text(&captured.out)),
            Ok(captured) => said(409, &refusal(&captured)),
            Err(error) => said(409, &error.to_string()),
        }
    }
}

/// Starts a command that goes on as a run, and waits until it has begun or failed.
fn begin(run: &RunDir, args: &[OsString], dir: &Path) -> WebAnswer {
    let path = run.path().join(LOG);
    let started = record_into(&path).and_then(|log| Outliving::start(args, dir, log));
    let mut started = match started {
        Ok(started) => started,
        Err(error) => return said(409, &error.to_string()),
    };
    let since = Instant::now();
    while since.elapsed() < BEGIN_TIMEOUT {
        match started.ended() {
            Ok(None) => {}
            // However the run ended: only what is refused has not begun.
            Ok(Some(Some(code))) if code != i32::from(REFUSED) => return said(200, "it has ended already"),
            // Its end is not ours to know where the system gave it away.
            Ok(Some(_)) | Err(_) => {
                let log = ralph_sys::files::read(&path, MAX_OUTPUT_LEN as u64).unwrap_or_default();
                return said(409, &text(&log));
            }
        }
        if journal::process(run).is_some() {
            break;
        }
        thread::sleep(POLL_INTERVAL);
    }
    let _ = thread::Builder::new().name("reaper".to_owned()).spawn(move || started.wait());
    said(200, "the run continues")
}

/// What a command said, without colours and keys.
pub(super) fn said(status: u16, text: &str) -> WebAnswer {
    let text: Vec<String> = text.lines().map(ralph_core::view::harmless).collect();
    WebAnswer::json(status, &json!({"text": text.join("\n")}))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

impl Server {
    /// Has something done at the desk.
    pub(super) fn ask(&self, job: impl FnOnce(Sender<WebAnswer>) -> Job) -> WebAnswer {
        let (reply, answer) = channel();
        match self.desk.try_send(job(reply)) {
            Ok(()) => answer.recv_timeout(JOB_TIMEOUT).unwrap_or_else(|_| WebAnswer::of_status(503)),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => WebAnswer::of_status(503),
        }
    }
}

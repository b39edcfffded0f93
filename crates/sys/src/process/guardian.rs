//! Ends the processes of a run when ralph itself has been killed.
//!
//! The guardian is the same binary, one per run. It reads from a pipe whose other end only ralph has, so it
//! notices whatever way ralph dies. It holds the run's locks until everything is gone: nobody can start
//! in a tree where an orphaned agent may still be writing.

use std::{
    collections::BTreeSet,
    env,
    fs::File,
    io::{self, BufRead, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process, setsid},
};

use super::procfs;

/// The hidden command that the guardian runs as.
pub const COMMAND: &str = "guardian";
/// The variable that marks every process of a run.
pub const RUN_VARIABLE: &str = "RALPH_RUN_ID";

/// The variable that marks the processes of a run which is nobody's to end but its own guardian's.
pub const OWN_RUN_VARIABLE: &str = "RALPH_JOB";

const GOODBYE: &str = "goodbye";
/// How long the processes of a dead ralph have to clean up after themselves.
const TERM_TIMEOUT: Duration = Duration::from_secs(2);
/// How long ralph waits for its guardian to go.
const FAREWELL: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// Between two looks at the process table.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A process that cannot be killed in this time cannot be killed.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(30);

/// Ralph's end of the pipe.
pub struct Guardian {
    pipe: File,
    run: String,
}

impl Guardian {
    /// Starts a guardian for a run. It shares `locks`, which therefore outlive ralph as long as it works.
    pub fn start(run: &str, locks: &[OwnedFd]) -> io::Result<Self> {
        let (theirs, ours) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let mut command = Command::new(env::current_exe()?);
        command.args([COMMAND, run]).env_remove(RUN_VARIABLE).current_dir("/");
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let inherited: Vec<i32> = locks.iter().map(AsRawFd::as_raw_fd).collect();
        // SAFETY: only async-signal-safe calls, on numbers and descriptors that exist in the child.
        unsafe {
            command.pre_exec(move || {
                for fd in &inherited {
                    let flags = libc::fcntl(*fd, libc::F_GETFD);
                    libc::fcntl(*fd, libc::F_SETFD, flags & !libc::FD_CLOEXEC);
                }
                setsid()?;
                // Forked once more, so that it is not ralph's child: then ralph has children only while
                // something of a turn is left, and can ask the kernel for that in one call.
                match libc::fork() {
                    -1 => Err(io::Error::last_os_error()),
                    0 => Ok(()),
                    _ => libc::_exit(0),
                }
            });
        }
        command.spawn()?.wait()?;
        Ok(Self { pipe: File::from(ours), run: run.to_owned() })
    }

    /// The run that it guards.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Tells the guardian which session to end; the one before it has been swept.
    pub fn watch(&mut self, session: Pid) {
        // Without a guardian the marked environment is still there to find the processes by hand.
        // One write, because each wakes the guardian.
        let _ = self.pipe.write_all(format!("{}\n", session.as_raw_nonzero()).as_bytes());
    }

    /// Tells the guardian that nothing runs: the number of the last session may become somebody else's.
    pub fn watch_nothing(&mut self) {
        let _ = self.pipe.write_all(b"-\n");
    }

    /// Lets the guardian go: nothing is left to end. Returns when it has gone, so that a ralph around this
    /// one does not find it left behind.
    pub fn release(mut self) {
        let _ = writeln!(self.pipe, "{GOODBYE}");
        // An error on the pipe is what is waited for: nobody reads it any more.
        let _ = poll(&mut [PollFd::new(&self.pipe, PollFlags::empty())], Some(&FAREWELL));
    }
}

/// What the guardian process does.
pub fn main(run: &str) -> io::Result<()> {
    // Signals that reach a whole terminal or service must not take the guardian along with ralph.
    let ignore = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, ignore.clone())?;
    }
    // Only the last one: an earlier one has been swept, and its number may be somebody else's by now.
    let mut session = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if line == GOODBYE {
            return Ok(());
        }
        session = line.parse::<i32>().ok();
    }
    end_processes(run, session);
    Ok(())
}

/// Ends what an earlier process of the run may have left, should its guardian have been killed too.
pub fn end_run(run: &str) {
    end_processes(run, None);
}

/// Asks every process of the run to end, then ends it, until two looks in a row find none.
fn end_processes(run: &str, session: Option<i32>) {
    let mark = format!("{RUN_VARIABLE}={run}");
    let started = Instant::now();
    let mut asked = BTreeSet::new();
    let mut empty_looks = 0;
    while empty_looks < 2 && started.elapsed() < CLEANUP_TIMEOUT {
        let doomed = processes_of_run(&mark, session);
        empty_looks = if doomed.is_empty() { empty_looks + 1 } else { 0 };
        for pid in doomed {
            if TERM_TIMEOUT < started.elapsed() {
                signal(pid, Signal::KILL);
            } else if asked.insert(pid) {
                signal(pid, Signal::TERM);
                signal(pid, Signal::CONT);
            }
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Found by their environment, by their session and by descent.
fn processes_of_run(mark: &str, session: Option<i32>) -> BTreeSet<i32> {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    let all: Vec<_> = procfs::all().filter(|process| !process.is_zombie && process.pid != me).collect();
    let run = mark.split_once('=').map_or("", |(_, run)| run);
    // A run of its own that an agent of this one started has a guardian of its own.
    let is_own = |pid: i32| procfs::variable(pid, OWN_RUN_VARIABLE).is_some_and(|own| own != run);
    let mut doomed: BTreeSet<i32> = all
        .iter()
        .filter(|process| {
            Some(process.session) == session || procfs::has_variable(process.pid, mark.as_bytes())
        })
        .filter(|process| !is_own(process.pid))
        .map(|process| process.pid)
        .collect();
    loop {
        let known = doomed.len();
        doomed.extend(
            all.iter()
                .filter(|process| doomed.contains(&process.parent) && !is_own(process.pid))
                .map(|process| process.pid)
                .collect::<Vec<_>>(),
        );
        if doomed.len() == known {
            return doomed;
        }
    }
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Gone already is as good.
        let _ = kill_process(pid, signal);
    }
}

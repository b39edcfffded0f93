//! Ends the processes of a run when ralph itself has been killed.
//!
//! The guardian is the same binary, one per run. It reads from a pipe whose other end only ralph has, so it
//! notices whatever way ralph dies. It holds the run's locks until everything is gone: no one can start
//! in a tree where an orphaned agent may still be writing. It has a name of its own: who ends everything that is
//! called ralph does not end it.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsStr,
    fs::File,
    io::{self, BufRead, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{
            ffi::OsStrExt,
            fs::{FileExt, OpenOptionsExt},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process, setsid},
};

use super::{
    awake::KeptAwake,
    mark::Mark,
    table::{Process, Source},
};

/// The hidden command that the guardian runs as.
pub const COMMAND: &str = "guardian";
/// What its process is called.
const PROCESS_NAME: &std::ffi::CStr = c"loop-guardian";
/// The variable that marks every process of a run.
pub const RUN_VARIABLE: &str = "RALPH_RUN_ID";

/// The variable that says where the run is recorded, and which of its ralphs started the process.
pub const MARK_VARIABLE: &str = "RALPH_RUN_MARK";

/// The variable that marks the processes of a run that only its own guardian may end.
pub const OWN_RUN_VARIABLE: &str = "RALPH_JOB";

const GOODBYE: &str = "goodbye";
const AWAKE: &str = "awake";
const REST: &str = "rest";
const SEEN: &str = "+";
/// How long the processes of a dead ralph have to clean up after themselves.
const TERM_TIMEOUT: Duration = Duration::from_secs(2);
/// How long ralph waits for its guardian to go.
const FAREWELL: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
/// Between two looks at the process table.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// A process that cannot be killed in this time cannot be killed.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(30);

/// How often the table is looked at when nothing is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// For a run that swept up after itself.
    Once,
    /// For one that was killed: what starts or becomes another program at that moment is not seen in one look.
    Twice,
}

/// Ralph's end of the pipe.
pub struct Guardian {
    pipe: File,
    mark: Mark,
    /// Says who is watched, should the guardian be killed too.
    note: Option<File>,
}

impl Guardian {
    /// Starts a guardian for a run. It shares `locks`, which therefore outlive ralph as long as it works.
    pub fn start(mark: Mark, locks: &[OwnedFd]) -> io::Result<Self> {
        let (theirs, ours) = io::pipe()?;
        let mut command = Command::new(own_program()?);
        command.arg0(OsStr::from_bytes(PROCESS_NAME.to_bytes()));
        command.args([COMMAND, mark.run(), mark.value()]).current_dir("/");
        command.env_remove(RUN_VARIABLE).env_remove(MARK_VARIABLE);
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
        Ok(Self { pipe: File::from(OwnedFd::from(ours)), mark, note: None })
    }

    /// One that only a test knows, and what it is told.
    #[cfg(test)]
    pub(super) fn test(mark: Mark) -> io::Result<(Self, io::PipeReader)> {
        let (theirs, ours) = io::pipe()?;
        Ok((Self { pipe: File::from(OwnedFd::from(ours)), mark, note: None }, theirs))
    }

    /// Notes in this file, too, which session is watched; [`end_noted`] reads it.
    #[must_use]
    pub fn noting_in(mut self, path: &Path) -> Self {
        // Without it a guardian that is killed leaves only the marks to find processes by.
        self.note = File::options().write(true).create(true).truncate(true).mode(0o600).open(path).ok();
        self
    }

    /// What it knows the processes of its run by.
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// A way to tell it who was [seen]; nothing where there is none.
    pub(super) fn pipe(&self) -> Option<File> {
        self.pipe.try_clone().ok()
    }

    /// Tells the guardian which session to end; the one before it has been swept.
    pub fn watch(&mut self, session: Pid) {
        // Without a guardian the marked environment is still there to find the processes by hand.
        // One write, because each wakes the guardian.
        let line = format!("{}\n", session.as_raw_nonzero());
        let _ = self.pipe.write_all(line.as_bytes());
        let _ = self.note.as_ref().map(|note| note.write_all_at(line.as_bytes(), 0));
    }

    /// Tells the guardian that nothing runs: the number of the last session may become another process's.
    pub fn watch_nothing(&mut self) {
        let _ = self.pipe.write_all(b"-\n");
    }

    /// Has the guardian keep the machine awake, or let it sleep. The process that does so is the guardian's: no turn leaves it
    /// behind, and it ends whichever way ralph does.
    pub fn keep_awake(&mut self, is_awake: bool) {
        let _ = writeln!(self.pipe, "{}", if is_awake { AWAKE } else { REST });
    }

    /// Lets the guardian go: nothing is left to end. Returns when it has gone, so that a ralph around this
    /// one does not find it left behind.
    pub fn release(mut self) {
        let _ = writeln!(self.pipe, "{GOODBYE}");
        // An error on the pipe is what is waited for: no one reads it any more.
        let _ = poll(&mut [PollFd::new(&self.pipe, PollFlags::empty())], Some(&FAREWELL));
    }
}

/// This program, by a path that does not end in its name: a process is called by the end of that path until it names itself,
/// and who ends everything that is called ralph may come in between.
fn own_program() -> io::Result<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if link.exists() { Ok(link.to_owned()) } else { env::current_exe() }
}

/// What the guardian process does.
pub fn main(run: &str, mark: &str) -> io::Result<()> {
    // Elsewhere the first word of its command line says it.
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_name(PROCESS_NAME);
    // Signals that reach a whole terminal or service must not take the guardian along with ralph.
    let ignore = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, ignore.clone())?;
    }
    // Only the last one: an earlier one has been swept, and its number may be another process's by now.
    let mut session = None;
    let mut others = Vec::new();
    let mut awake = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        match line.as_str() {
            GOODBYE => return Ok(()),
            AWAKE => awake = awake.or_else(KeptAwake::begin),
            REST => awake = None,
            _ => {}
        }
        if line == AWAKE || line == REST {
            continue;
        }
        match read_seen(&line) {
            Some(other) => others.push(other),
            None => session = line.parse::<i32>().ok(),
        }
    }
    let was_seen = |row: &Process| {
        let is = |(pid, started): &(i32, u64)| {
            *pid == row.pid && started.abs_diff(row.started) <= Source::START_TOLERANCE
        };
        others.iter().any(is)
    };
    // Of this ralph alone: another one may have resumed the run already.
    end_processes(run, session, Looks::Twice, &|row| is_marked(row, run, mark) || was_seen(row));
    drop(awake);
    Ok(())
}

/// Ends what earlier processes of the run may have left, should their guardian have been killed too.
pub fn end_run(mark: &Mark, looks: Looks) {
    end_processes(mark.run(), None, looks, &|row| is_marked(row, mark.run(), mark.place()));
}

/// Ends the process alone that a guardian noted in this file, should it have been killed too, and keeps what that
/// process started.
pub fn end_noted(mark: &Mark, path: &Path) {
    let Some(pid) = fs_err::read_to_string(path).ok().and_then(|text| text.lines().next()?.parse().ok())
    else {
        return;
    };
    let started = Instant::now();
    let is_it = |row: &Process| !row.is_zombie && is_marked(row, mark.run(), mark.place());
    while Source::chosen().look(pid).is_some_and(|row| is_it(&row)) && started.elapsed() < CLEANUP_TIMEOUT {
        signal(pid, if TERM_TIMEOUT < started.elapsed() { Signal::KILL } else { Signal::TERM });
        signal(pid, Signal::CONT);
        thread::sleep(POLL_INTERVAL);
    }
}

/// The runs at a place that have processes, from whichever ralph.
pub fn runs_alive(place: &str) -> BTreeSet<String> {
    let is_of_place = |row: &Process| row.variable(MARK_VARIABLE).is_some_and(|mark| mark.starts_with(place));
    let others = others().into_iter().filter(is_of_place);
    others.filter_map(|row| row.variable(RUN_VARIABLE)).collect()
}

/// Whether a process is one of the run, with a mark that begins like this. Older ralphs gave only the run.
pub(super) fn is_marked(row: &Process, run: &str, mark: &str) -> bool {
    row.variable(RUN_VARIABLE).is_some_and(|it| it == run)
        && row.variable(MARK_VARIABLE).is_none_or(|it| it.starts_with(mark))
}

/// The line that tells a guardian of a process that came from the one it watches.
pub(super) fn seen(row: &Process) -> String {
    format!("{SEEN}{} {}\n", row.pid, row.started)
}

fn read_seen(line: &str) -> Option<(i32, u64)> {
    let (pid, started) = line.strip_prefix(SEEN)?.split_once(' ')?;
    Some((pid.parse().ok()?, started.parse().ok()?))
}

/// Asks every process of the run to end, then ends it, until none is found.
fn end_processes(run: &str, session: Option<i32>, looks: Looks, is_known: &dyn Fn(&Process) -> bool) {
    let started = Instant::now();
    let mut asked = BTreeSet::new();
    let mut end_found = || {
        let doomed = processes_of_run(run, session, is_known);
        for pid in &doomed {
            if TERM_TIMEOUT < started.elapsed() {
                signal(*pid, Signal::KILL);
            } else if asked.insert(*pid) {
                signal(*pid, Signal::TERM);
                signal(*pid, Signal::CONT);
            }
        }
        if CLEANUP_TIMEOUT <= started.elapsed() { 0 } else { doomed.len() }
    };
    until_none(looks, &mut end_found, &mut || thread::sleep(POLL_INTERVAL));
}

/// Looks until there was nothing in as many looks in a row as are wanted; where something was found, in two. Rests between two
/// looks, and not after the last.
fn until_none(looks: Looks, look: &mut dyn FnMut() -> usize, rest: &mut dyn FnMut()) {
    let mut wanted = looks;
    loop {
        let found = look();
        wanted = match (found, wanted) {
            (0, Looks::Once) => return,
            (0, Looks::Twice) => Looks::Once,
            (1.., _) => Looks::Twice,
        };
        rest();
    }
}

/// Found by what is known of them, by their session and by descent.
fn processes_of_run(run: &str, session: Option<i32>, is_known: &dyn Fn(&Process) -> bool) -> BTreeSet<i32> {
    let all = others();
    // A run of its own that an agent of this one started has a guardian of its own.
    let is_own = |row: &Process| row.variable(OWN_RUN_VARIABLE).is_some_and(|own| own != run);
    let mut doomed: BTreeSet<i32> = all
        .iter()
        .filter(|row| Some(row.session) == session || is_known(row))
        .filter(|row| !is_own(row))
        .map(|row| row.pid)
        .collect();
    loop {
        let known = doomed.len();
        doomed.extend(
            all.iter()
                .filter(|row| doomed.contains(&row.parent) && !is_own(row))
                .map(|row| row.pid)
                .collect::<Vec<_>>(),
        );
        if doomed.len() == known {
            return doomed;
        }
    }
}

/// All processes that are alive, except this one.
fn others() -> Vec<Process> {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    Source::chosen().all().into_iter().filter(|row| !row.is_zombie && row.pid != me).collect()
}

fn signal(pid: i32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid) {
        // Gone already is as good.
        let _ = kill_process(pid, signal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often was looked and rested, where each look finds so many.
    fn counted(looks: Looks, found: &[usize]) -> (usize, usize) {
        let (mut looked, mut rested) = (0, 0);
        let mut look = || {
            looked += 1;
            found.get(looked - 1).copied().unwrap_or(0)
        };
        until_none(looks, &mut look, &mut || rested += 1);
        (looked, rested)
    }

    #[test]
    fn no_rest_follows_the_last_look() {
        assert_eq!(counted(Looks::Once, &[]), (1, 0));
        assert_eq!(counted(Looks::Twice, &[]), (2, 1));
    }

    #[test]
    fn what_was_found_is_looked_for_until_two_looks_find_nothing() {
        for looks in [Looks::Once, Looks::Twice] {
            assert_eq!(counted(looks, &[2, 1]), (4, 3), "{looks:?}");
        }
        assert_eq!(counted(Looks::Twice, &[0, 1]), (4, 3));
    }
}

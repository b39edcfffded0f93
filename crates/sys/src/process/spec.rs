//! What a process is started with.

use std::{
    ffi::OsString,
    fs::File,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::process::Signal;

use super::{
    guardian::{MARK_VARIABLE, RUN_VARIABLE},
    mark::Mark,
};
use crate::watch;

/// A process to start.
pub struct Spec {
    /// The program, as a path or as a name to look for.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The folder that it works in.
    pub dir: PathBuf,
    /// Set in the environment, or removed from it.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Written to standard input without waiting for the process; nothing means that there is no input.
    pub input: Option<Vec<u8>>,
    /// Where its output goes.
    pub stdout: Sink,
    /// Where its errors go.
    pub stderr: Sink,
    /// What asks it to end, before it is killed.
    pub first_signal: Signal,
    /// When it has had enough time.
    pub limits: watch::Limits,
    /// What happens to what it leaves behind.
    pub leftovers: Leftovers,
    /// Whether the limits of a run do not matter to it.
    pub is_free: bool,
    /// What becomes of its output before anyone sees it, where that passes through ralph: a filter for each stream.
    pub filter: Option<fn() -> Box<dyn Filter>>,
}

/// Changes a stream on its way from a process to ralph.
pub trait Filter: Send {
    /// Takes what was printed; returns what is passed on. The rest may come with what is printed next.
    fn push(&mut self, bytes: Vec<u8>) -> Vec<u8>;
    /// What is left when the stream ends.
    fn finish(&mut self) -> Vec<u8>;
}

impl Spec {
    /// A process without input that prints to ralph, may take as long as it likes, and leaves nothing behind.
    pub fn new(program: impl Into<OsString>, dir: &Path) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            dir: dir.to_owned(),
            env: Vec::new(),
            input: None,
            stdout: Sink::Pipe { copy: None },
            stderr: Sink::Pipe { copy: None },
            first_signal: Signal::TERM,
            limits: watch::Limits::default(),
            leftovers: Leftovers::Kill,
            is_free: false,
            filter: None,
        }
    }

    /// A command of the shell.
    pub fn shell(command: &str, dir: &Path) -> Self {
        Self::new("sh", dir).args(["-c", command])
    }

    /// With these arguments, after those that it has.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// With this variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// With these variables set or removed.
    #[must_use]
    pub fn envs(mut self, env: impl IntoIterator<Item = (OsString, Option<OsString>)>) -> Self {
        self.env.extend(env);
        self
    }

    /// Without this variable.
    #[must_use]
    pub fn without(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// With this as its input.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// Prints here.
    #[must_use]
    pub fn prints(mut self, stdout: Sink, stderr: Sink) -> Self {
        (self.stdout, self.stderr) = (stdout, stderr);
        self
    }

    /// Is asked to end by this signal.
    #[must_use]
    pub fn ended_by(mut self, signal: Signal) -> Self {
        self.first_signal = signal;
        self
    }

    /// May take this long, if there is a limit.
    #[must_use]
    pub fn within(mut self, total: impl Into<Option<Duration>>) -> Self {
        self.limits.total = total.into();
        self
    }

    /// Must end at this time of day, if there is one.
    #[must_use]
    pub fn until(mut self, moment: Option<SystemTime>) -> Self {
        self.limits.until = moment;
        self
    }

    /// May be silent for this long, if there is a limit.
    #[must_use]
    pub fn silent_for(mut self, idle: Option<Duration>) -> Self {
        self.limits.idle = idle;
        self
    }

    /// Must begin within this time, if there is a limit.
    #[must_use]
    pub fn begins_within(mut self, start: Option<Duration>) -> Self {
        self.limits.start = start;
        self
    }

    /// Ends by itself: nothing that an agent or a user wrote takes part in it. What a run knows depends on such calls,
    /// so the limits of the run end them only when they wait all the same.
    #[must_use]
    pub fn waits_for_no_one(mut self) -> Self {
        self.is_free = true;
        self
    }

    /// Whatever it prints to ralph goes through filters of this kind.
    #[must_use]
    pub fn filtered(mut self, filter: fn() -> Box<dyn Filter>) -> Self {
        self.filter = Some(filter);
        self
    }

    /// What it leaves behind stays or goes.
    #[must_use]
    pub fn leftovers(mut self, leftovers: Leftovers) -> Self {
        self.leftovers = leftovers;
        self
    }

    /// Marked as a process of this run, by which its guardian finds it.
    #[must_use]
    pub fn of_run(self, mark: &Mark) -> Self {
        self.env(RUN_VARIABLE, mark.run()).env(MARK_VARIABLE, mark.value())
    }
}

/// Where a process prints to.
pub enum Sink {
    /// Into this file, without passing through ralph.
    File(File),
    /// To ralph, which also keeps a copy here.
    Pipe {
        /// Where the copy goes.
        copy: Option<Box<dyn Write + Send>>,
    },
    /// The same by a socket, which cannot be opened a second time by way of `/proc/<pid>/fd`.
    Socket {
        /// Where the copy goes.
        copy: Option<Box<dyn Write + Send>>,
    },
    /// Nowhere.
    Null,
}

/// What happens to processes that a process leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leftovers {
    /// They are ended.
    Kill,
    /// They stay alive.
    Keep,
}

impl Leftovers {
    /// What a run does with them that keeps them, or does not.
    pub fn kept_if(is_kept: bool) -> Self {
        if is_kept { Self::Keep } else { Self::Kill }
    }
}

//! What the system says about processes, from whichever source there is.
//!
//! Linux shows them below `/proc`, a Mac by calls of its library. Where neither may be used, `ps` knows the same: that is
//! how the [portable backend](super::backend) is tested on Linux.

#[cfg(target_os = "macos")]
mod libproc;
#[cfg(target_os = "linux")]
mod procfs;
#[cfg(not(target_os = "macos"))]
mod ps;

#[cfg(target_os = "macos")]
use libproc as portable;
#[cfg(not(target_os = "macos"))]
use ps as portable;

use std::path::Path;

/// One process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) session: i32,
    /// It has ended and waits to be reaped; its children have another parent by now.
    pub(super) is_zombie: bool,
    /// It runs no more code of its own; its children may still be its own.
    pub(super) is_leaving: bool,
    /// When it started, in a unit of its source, within [`Source::START_TOLERANCE`].
    pub(super) started: u64,
    /// Its arguments and its environment, where they come with the table.
    shown: Option<String>,
}

impl Process {
    /// A process that only a test knows.
    #[cfg(test)]
    pub(super) fn test(pid: i32, parent: i32, session: i32, started: u64) -> Self {
        let shown = Some(String::new());
        Self { pid, parent, session, is_zombie: false, is_leaving: false, started, shown }
    }

    /// The value of a variable in the environment that it was started with.
    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match &self.shown {
            Some(shown) => shown_variable(shown, name),
            None => variable(self.pid, name),
        }
    }
}

/// Where the table of processes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// `/proc`.
    #[cfg(target_os = "linux")]
    Procfs,
    /// The library of the system, or `ps`.
    Portable,
}

impl Source {
    /// How far two statements about the start of one process may lie apart.
    pub(super) const START_TOLERANCE: u64 = 2;

    /// The source of this program.
    pub(super) fn chosen() -> Self {
        #[cfg(target_os = "linux")]
        if !super::backend::is_portable() {
            return Self::Procfs;
        }
        Self::Portable
    }

    /// All processes that can be seen.
    pub(super) fn all(self) -> Vec<Process> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Procfs => procfs::all().collect(),
            Self::Portable => portable::all(),
        }
    }

    /// One process, if it is there.
    pub(super) fn look(self, pid: i32) -> Option<Process> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Procfs => procfs::look(pid),
            Self::Portable => portable::look(pid),
        }
    }

    /// The command line of a process, for people.
    pub(super) fn describe(self, pid: i32) -> String {
        let words = match self {
            #[cfg(target_os = "linux")]
            Self::Procfs => procfs::command_line(pid),
            Self::Portable => portable::command_line(pid),
        };
        let short: String = words.trim().chars().take(100).collect();
        format!("{pid} {}", if short.is_empty() { "(no command line)" } else { &short })
    }
}

/// The value of a variable in the environment that a process was started with.
pub fn variable(pid: i32, name: &str) -> Option<String> {
    match Source::chosen() {
        #[cfg(target_os = "linux")]
        Source::Procfs => procfs::variable(pid, name),
        Source::Portable => portable::variable(pid, name),
    }
}

/// This process and its ancestors, the nearest first, as far as they can be seen.
pub fn ancestry() -> Vec<i32> {
    let mut pids = Vec::new();
    let mut next = i32::try_from(std::process::id()).ok();
    while let Some(pid) = next.filter(|pid| 0 < *pid && !pids.contains(pid)) {
        pids.push(pid);
        next = Source::chosen().look(pid).map(|process| process.parent);
    }
    pids
}

/// Whether a process is there and not merely waiting to be reaped.
pub fn is_alive(pid: i32) -> bool {
    Source::chosen().look(pid).is_some_and(|process| !process.is_zombie)
}

/// When a process started, in a unit that is exact enough to tell it from another one with its number; nothing if it has
/// gone or ended.
pub fn start_time(pid: i32) -> Option<u64> {
    // `ps` only knows seconds, which it works out anew each time.
    #[cfg(target_os = "linux")]
    return procfs::start_time(pid);
    #[cfg(target_os = "macos")]
    return libproc::start_time(pid);
}

/// Whether the process that had this number when it was noted is still alive: numbers are used again.
pub fn is_same_process(pid: i32, started: u64) -> bool {
    start_time(pid) == Some(started)
}

/// Whether any process of this program has its working directory in this folder, as far as that can be seen.
pub fn is_at_work(program: &str, folder: &Path) -> bool {
    // `ps` does not know where a process works.
    #[cfg(target_os = "linux")]
    return procfs::is_at_work(program, folder);
    #[cfg(target_os = "macos")]
    return libproc::is_at_work(program, folder);
}

/// The process that locked the file with this number, as the kernel lists it. A Mac lists nothing.
pub fn lock_holder(inode: u64) -> Option<i32> {
    #[cfg(target_os = "linux")]
    return procfs::lock_holder(inode);
    #[cfg(target_os = "macos")]
    return {
        let _ = inode;
        None
    };
}

/// The value of a variable in a text of words and variables. The last counts: the environment follows the arguments.
fn shown_variable(shown: &str, name: &str) -> Option<String> {
    let words = shown.split(' ').rev();
    words.filter_map(|word| word.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned).next()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        process::{Child, Command, Stdio},
    };

    use super::*;

    /// What is true of a child of this process whatever says so; the session that it is in.
    ///
    /// Of this process itself less is known: the process that started the tests may have put anything into its
    /// environment, and its session may have begun where it cannot be seen.
    fn check(source: Source, child: &Child) -> i32 {
        let me = i32::try_from(std::process::id()).expect("a number");
        let pid = i32::try_from(child.id()).expect("a number");
        let looked = source.look(pid).expect("the child");
        let listed = source.all().into_iter().find(|it| it.pid == pid).expect("the child");
        for process in [&looked, &listed] {
            assert_eq!(process.parent, me, "{source:?}");
            assert!(!process.is_zombie && !process.is_leaving, "{source:?}");
            assert_eq!(process.variable("RALPH_TEST").as_deref(), Some("it"), "{source:?}");
            assert_eq!(process.variable("RALPH_NO_SUCH_VARIABLE"), None);
        }
        assert_eq!(looked.session, listed.session, "{source:?}");
        assert!(looked.started.abs_diff(listed.started) <= Source::START_TOLERANCE, "{looked:?} {listed:?}");
        assert!(source.look(i32::MAX).is_none());
        assert!(source.describe(pid).starts_with(&format!("{pid} ")));
        assert!(source.describe(i32::MAX).ends_with("(no command line)"));
        looked.session
    }

    #[test]
    fn every_source_knows_a_child() {
        // It lives until its input is closed, and has become the program that it runs when it answers.
        let mut child = Command::new("cat");
        child.env("RALPH_TEST", "it").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().expect("a child");
        child.stdin.as_mut().expect("an input").write_all(b"!").expect("it reads");
        child.stdout.as_mut().expect("an output").read_exact(&mut [0]).expect("it answers");
        let session = check(Source::Portable, &child);
        #[cfg(target_os = "linux")]
        assert_eq!(session, check(Source::Procfs, &child));
        drop(child.stdin.take());
        child.wait().expect("it ends");
        assert!(session >= 0, "{session}");
        assert_eq!(ancestry().first().copied(), i32::try_from(std::process::id()).ok());
    }

    #[test]
    fn the_environment_follows_the_arguments() {
        let check = |shown, expected| assert_eq!(shown_variable(shown, "A").as_deref(), expected, "{shown}");
        check("env A=1 sh B=2 A=3", Some("3"));
        check("env AB=1 BA=2", None);
        check("A=", Some(""));
    }
}

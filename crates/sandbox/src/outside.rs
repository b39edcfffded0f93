//! The process outside of a sandbox: starts the one inside, answers for the network, waits, and ends as the command
//! ended. Signals to the group reach the command directly; this process takes no notice of them.

use std::{ffi::OsString, path::Path};

use ralph_core::containment::{level::Level, policy::Policy, wanted::PROCESSES};
use ralph_sys::error::{Context, Error, Result};
use rustix::process::{Pid, WaitOptions, waitpid};

use super::{
    bwrap, embedded,
    group::Group,
    keeper, landlock,
    link::{Link, Message},
    own_file,
    own_process::{let_go_of_input, pass_signals_by},
    proxy,
};

/// Runs a command inside to its end; returns its exit code.
pub fn run(level: Level, policy: &Path, log: Option<&Path>, command: &[OsString]) -> Result<u8> {
    let text = fs_err::read_to_string(policy)?;
    let rules: Policy = serde_json::from_str(&text).context("the sandbox has no rules")?;
    keeper::check(&rules)?;
    let group = Group::join(&rules);
    let ended = run_in(level, (policy, &rules), group.as_ref(), log, command);
    if let Some(group) = group {
        group.leave();
    }
    ended.map(end_like)
}

fn run_in(
    level: Level,
    (policy, rules): (&Path, &Policy),
    group: Option<&Group>,
    log: Option<&Path>,
    command: &[OsString],
) -> Result<i32> {
    if !group.is_some_and(|group| group.bounds_processes) {
        bounds_processes(level, rules)?;
    }
    keeper::hold_family();
    pass_signals_by()?;
    let (ours, theirs) = Link::pair()?;
    let started = match level {
        Level::Embedded => embedded::start(rules, command, theirs),
        Level::Bwrap => bwrap::start(rules, policy, command, theirs),
        Level::Landlock => landlock::start(rules, command, theirs),
        Level::Seatbelt | Level::Sbx | Level::Docker | Level::None => Err("it has no inside".to_owned()),
    };
    let pid = started.map_err(|error| not_set_up(&error))?;
    let_go_of_input();
    keeper::watch(pid, rules, group.map(Group::events));
    let mut status = None;
    let log = log.map(own_file::append).transpose()?;
    let mut log = Some(proxy::Log::new(log));
    while let Some((message, sockets)) = ours.receive() {
        match message {
            Message::Listening(ports) => {
                proxy::serve(rules.hosts.clone(), sockets, &ports, log.take().unwrap_or_default())?;
            }
            Message::Failed(error) => return Err(not_set_up(&error)),
            Message::NotStarted(error) => {
                return Err(Error::new(format!("cannot start {error}"))
                    .hint("it must be installed, and be seen inside: ralph sandbox exec -- sh"));
            }
            Message::Ended(ended) => status = Some(ended),
        }
    }
    let ended = wait(pid);
    // Where nothing else ends them.
    keeper::end(None);
    Ok(status.or(ended).unwrap_or_default())
}

/// A limit that a person has set and that no one would keep is an error. The kernel does not count the processes of the
/// superuser, but for those of a process namespace.
fn bounds_processes(level: Level, rules: &Policy) -> Result<()> {
    let is_kept = !rustix::process::geteuid().is_root() || level == Level::Embedded;
    if is_kept || rules.processes == PROCESSES {
        return Ok(());
    }
    Err(Error::new(format!("`sandbox.maxProcesses`: `{}` cannot limit root's processes", level.name()))
        .hint("take another kind: \"sandbox\": {\"level\": \"embedded\"}, or run as another user"))
}

fn not_set_up(error: &str) -> Error {
    Error::new(format!("the sandbox cannot be set up: {error}"))
        .hint("see what works here: ralph sandbox check")
}

fn wait(pid: Pid) -> Option<i32> {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return Some(status.as_raw()),
            Err(rustix::io::Errno::INTR) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

/// The exit code of the command; a signal that ended it ends this process too.
fn end_like(status: i32) -> u8 {
    if libc::WIFSIGNALED(status) {
        let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
        // SAFETY: calls without pointers to memory; the disposition is the system's own.
        unsafe {
            libc::signal(libc::WTERMSIG(status), libc::SIG_DFL);
            libc::raise(libc::WTERMSIG(status));
        }
    }
    u8::try_from(libc::WEXITSTATUS(status)).unwrap_or(u8::MAX)
}

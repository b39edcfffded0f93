//! Processes as `ps` lists them: for systems that have nothing better, and for tests of what a Mac does.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use super::{Process, shown_variable};

/// Number, parent, session, state, age in seconds; then the arguments and, by the word `e`, the environment.
const COLUMNS: &str = "pid=,ppid=,sess=,stat=,etimes=,args=";
/// How many of the columns come before the arguments.
const FIXED_COLUMNS: usize = 5;
/// An age that is older than this may be wrong by more than [`Source::START_TOLERANCE`](super::Source::START_TOLERANCE).
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// No process is older, in seconds.
const MAX_AGE: u64 = i32::MAX as u64;
/// How often `ps` is asked until it answers quickly; a busy machine gets the last answer.
const MAX_ASKED: usize = 5;

/// All processes that can be seen.
pub(super) fn all() -> Vec<Process> {
    ps(&["axeww", "-o", COLUMNS]).lines().filter_map(row).collect()
}

/// One process, if it is there.
pub(super) fn look(pid: i32) -> Option<Process> {
    ps(&["eww", "-o", COLUMNS, "-p", &pid.to_string()]).lines().find_map(row)
}

/// The value of a variable in the environment that a process was started with.
pub(super) fn variable(pid: i32, name: &str) -> Option<String> {
    shown_variable(&look(pid)?.shown?, name)
}

/// The words that a process was started with.
pub(super) fn command_line(pid: i32) -> String {
    ps(&["ww", "-o", "args=", "-p", &pid.to_string()])
}

/// What `ps` prints. It tells ages, which are only true in the moment of its answer: one that took too long is asked again.
fn ps(args: &[&str]) -> String {
    let mut shown = String::new();
    for _ in 0..MAX_ASKED {
        let asked = Instant::now();
        shown = ask(args);
        if asked.elapsed() < ANSWER_TIMEOUT {
            break;
        }
    }
    shown
}

/// Asks `ps` once. It knows nothing of the variables of ralph, so that no one takes it for a process of a run.
fn ask(args: &[&str]) -> String {
    let mut command = Command::new("ps");
    command.args(args).env_clear().env("LC_ALL", "C");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
}

fn row(line: &str) -> Option<Process> {
    let mut rest = line;
    let mut columns = [""; FIXED_COLUMNS];
    for column in &mut columns {
        (*column, rest) = rest.trim_start().split_once(' ')?;
    }
    let [pid, parent, session, state, age] = columns;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    Some(Process {
        pid: pid.parse().ok()?,
        parent: parent.parse().ok()?,
        session: session.parse().ok()?,
        is_zombie: state.starts_with(['Z', 'X']),
        is_leaving: false,
        started: now.saturating_sub(age_of(age)?),
        shown: Some(rest.to_owned()),
    })
}

/// An age in seconds. A process that has just been started may be a part of a second younger than nothing, which `ps` prints as a
/// very large number.
fn age_of(text: &str) -> Option<u64> {
    let age: u64 = text.parse().ok()?;
    Some(if age <= MAX_AGE { age } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        let process = row("  812     1   810 Ssl      95 a  b A=c").expect("a process");
        assert_eq!((process.pid, process.parent, process.session, process.is_zombie), (812, 1, 810, false));
        assert_eq!(process.variable("A").as_deref(), Some("c"));
        assert!(row("7 1 7 Z 0 [sh] <defunct>").expect("a process").is_zombie);
        for younger in [u64::from(u32::MAX), u64::MAX] {
            let just_started = row(&format!("7 1 7 S {younger} sh A=b")).expect("a process");
            let old = row("7 1 7 S 1000000 sh A=b").expect("a process");
            assert!(old.started < just_started.started, "{just_started:?}");
        }
        for damaged in ["", "7", "x 1 7 S 0 sh", "7 1 7 S - sh"] {
            assert!(row(damaged).is_none(), "{damaged}");
        }
    }
}

//! Calls of other programs that ask nobody anything, and what became of them.

use std::{ffi::OsString, path::Path, time::Duration};

use rustix::process::Signal;

use crate::{
    process::{Captured, Leftovers, Sink, Spec},
    watch,
};

/// A call that takes longer waits for somebody who is not there.
const LONGEST: Duration = Duration::from_mins(30);

/// A call of a program that has nobody to ask.
pub fn unattended(program: OsString, dir: &Path, run: &str, args: Vec<OsString>) -> Spec {
    let set = |name: &str, value: &str| (OsString::from(name), Some(OsString::from(value)));
    Spec {
        program,
        args,
        dir: dir.to_owned(),
        env: vec![
            set("GIT_TERMINAL_PROMPT", "0"),
            set("SSH_ASKPASS_REQUIRE", "never"),
            set("GIT_LITERAL_PATHSPECS", "1"),
            set("GIT_EDITOR", "true"),
            set("LC_ALL", "C"),
            set(crate::process::guardian::RUN_VARIABLE, run),
        ],
        input: None,
        stdout: Sink::Pipe { copy: None },
        stderr: Sink::Pipe { copy: None },
        first_signal: Signal::TERM,
        limits: watch::Limits { total: Some(LONGEST), idle: None },
        leftovers: Leftovers::Kill,
    }
}

/// Whether a call ended well.
pub fn succeeded(captured: &Captured) -> bool {
    captured.ended.status.is_some_and(|status| status.success())
}

/// What a failed call printed, or how it ended if it printed nothing.
pub fn refusal(captured: &Captured) -> String {
    let said = [text(&captured.out), text(&captured.err)].join("\n").trim().to_owned();
    match (&captured.ended.status, said.is_empty()) {
        (_, false) => said,
        (Some(status), true) => status.to_string(),
        (None, true) => "it did not end".to_owned(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

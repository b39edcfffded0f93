//! Calls of other programs that ask no one anything, and what became of them.

use std::{ffi::OsString, os::unix::process::ExitStatusExt, path::Path, time::Duration};

use crate::{
    process::{Captured, Spec},
    watch::Cause,
};

/// A call that takes longer waits for a person who is not there.
const CALL_TIMEOUT: Duration = Duration::from_mins(30);

/// What is switched off in a git that only looks: hooks, and programs that check signatures.
const LOOKING: [&str; 2] = ["core.hooksPath=/dev/null", "log.showSignature=false"];

/// A call of a program that has no one to ask.
pub fn unattended(program: OsString, dir: &Path, args: Vec<OsString>) -> Spec {
    Spec::new(program, dir)
        .args(args)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("SSH_ASKPASS_REQUIRE", "never")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .env("GIT_EDITOR", "true")
        .env("LC_ALL", "C")
        .within(CALL_TIMEOUT)
}

/// A call of git that only looks. It runs nothing that a repository's configuration names: an agent may have written
/// that. What it cannot do without is a filter (`filter.<name>.clean`), which decides what the contents of a file are.
pub fn looking_git(dir: &Path, args: Vec<OsString>) -> Spec {
    let mut all: Vec<OsString> = vec!["--no-pager".into(), "--no-optional-locks".into()];
    all.extend(LOOKING.iter().flat_map(|setting| [OsString::from("-c"), setting.into()]));
    all.extend(args);
    git(dir, all).waits_for_no_one()
}

/// A call of git with the user's hooks. Nothing goes on in the background: ralph ends what does.
pub fn git(dir: &Path, args: Vec<OsString>) -> Spec {
    let fixed = ["core.fsmonitor=false", "maintenance.auto=false", "gc.auto=0"];
    let mut all: Vec<OsString> =
        fixed.iter().flat_map(|setting| [OsString::from("-c"), setting.into()]).collect();
    all.extend(args);
    unattended("git".into(), dir, all)
}

/// Whether a call ended well.
pub fn succeeded(captured: &Captured) -> bool {
    captured.ended.status.is_some_and(|status| status.success())
}

/// Whether a call ended because the other side hung up before it had said its last word: it may have done everything.
pub fn was_hung_up_on(captured: &Captured) -> bool {
    captured.ended.status.and_then(|status| status.signal()) == Some(libc::SIGPIPE)
}

/// What a failed call printed, or how it ended if it printed nothing.
pub fn refusal(captured: &Captured) -> String {
    let was_late = matches!(captured.ended.cause, Some(Cause::Timeout | Cause::Until));
    let late = if was_late { "it took too long and was ended" } else { "" };
    let said = [&text(&captured.out), &text(&captured.err), late].join("\n").trim().to_owned();
    match (&captured.ended.status, said.is_empty()) {
        (_, false) => said,
        (Some(status), true) => status.to_string(),
        (None, true) => "it did not end".to_owned(),
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

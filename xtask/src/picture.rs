//! `cargo xtask picture`: runs the demos in a terminal of their own and draws what they show; draws the screen that
//! watches one; takes pictures of a report and of the page that `ralph serve` shows.
//!
//! Made by hand when the look changes. CI does not compare it: times and ids differ in every run.

mod fleet;
mod report;
mod serve;
mod svg;
mod watch;

use std::{
    io::Read,
    num::NonZeroU16,
    path::Path,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use rustix::{
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::{
    cargo::{release, root},
    say,
};

/// As many as the longest line of the demo has.
const COLUMNS: NonZeroU16 = NonZeroU16::new(96).expect("not zero");
/// More than a demo prints, so that nothing scrolls away.
const ROWS: NonZeroU16 = NonZeroU16::new(240).expect("not zero");
/// What follows repeats what was seen.
const UNTIL: &str = "What is in the repository now";

/// What was sent to a terminal, each piece with when it came.
type Recording = Vec<(Duration, Vec<u8>)>;

/// Records the demo and writes the picture.
pub(crate) fn main() -> Result<ExitCode> {
    let program = release()?;
    let mut recording: Recording = vec![(Duration::ZERO, b"\x1b[2m$\x1b[m ralph demo\r\n".to_vec())];
    recording.extend(record(&program, &["demo"])?);
    let (terminal, times) = played(&recording);
    let screen = terminal.screen();
    let shown = screen.rows(0, COLUMNS.get()).take_while(|row| !row.starts_with(UNTIL)).collect::<Vec<_>>();
    let rows = shown.iter().rposition(|row| !row.trim().is_empty()).map_or(0, |last| last + 1);
    ensure!(shown.len() < usize::from(ROWS.get()), "the demo does not say `{UNTIL}` any more");
    let path = root().join("docs/demo.svg");
    fs_err::write(&path, svg::draw(screen, u16::try_from(rows)?, &times))?;
    say(&format!("written: {}; now look at it\n", path.display()));
    fleet::take(&program)?;
    watch::take(&program)?;
    report::take()?;
    Ok(ExitCode::SUCCESS)
}

/// The screen at the end, and when each of its rows came to look as it does then.
fn played(recording: &Recording) -> (vt100::Parser, Vec<Duration>) {
    let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
    let mut rows: Vec<String> = terminal.screen().rows(0, COLUMNS.get()).collect();
    let mut times = vec![Duration::ZERO; rows.len()];
    for (at, sent) in recording {
        terminal.process(sent);
        for (row, now) in terminal.screen().rows(0, COLUMNS.get()).enumerate() {
            if rows[row] != now {
                (rows[row], times[row]) = (now, *at);
            }
        }
    }
    (terminal, times)
}

/// What a demo sends to its terminal.
fn record(program: &Path, words: &[&str]) -> Result<Recording> {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    rustix::io::fcntl_setfd(&terminal, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&terminal)?;
    unlockpt(&terminal)?;
    tcsetwinsize(
        &terminal,
        Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 },
    )?;
    let name = ptsname(&terminal, Vec::new())?;
    let end = || open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
    let home = tempfile::tempdir()?;
    let mut demo = Command::new(program);
    // Nothing of this machine: no settings of git, no folder but the one that every system has.
    demo.args(words).env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    demo.envs([("TERM", "xterm-256color"), ("TMPDIR", "/tmp"), ("GIT_PAGER", "cat"), ("LANG", "C.UTF-8")]);
    demo.env("HOME", home.path()).stdin(end()?).stdout(end()?).stderr(end()?);
    let mut child = demo.spawn().context("cannot start the demo")?;
    // The command holds the terminal open too, and the recording ends when no process does.
    drop(demo);
    let (mut terminal, began) = (std::fs::File::from(terminal), Instant::now());
    let (mut sent, mut chunk) = (Recording::new(), vec![0; 16 * 1024]);
    loop {
        match terminal.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => sent.push((began.elapsed(), chunk[..length].to_vec())),
            // What Linux says when the other end is closed.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "the demo ended with {status}");
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_as_old_as_its_last_change() {
        let piece = |seconds, text: &str| (Duration::from_secs(seconds), text.as_bytes().to_vec());
        let recording = vec![
            piece(1, "one\r\nworking"),
            piece(2, "\r\x1b[Ktwo\r\n"),
            piece(3, "\x1b[H"),
            piece(4, "\x07"),
        ];
        let (terminal, times) = played(&recording);
        assert!(terminal.screen().contents().starts_with("one\ntwo"));
        assert_eq!(times[..3], [Duration::from_secs(1), Duration::from_secs(2), Duration::ZERO]);
    }
}

//! `cargo xtask picture`: runs the demo in a terminal of its own and draws what it shows; takes a picture of a report.
//!
//! Made by hand when the look changes. CI does not compare it: times and ids differ in every run.

mod report;
mod svg;

use std::{
    io::Read,
    num::NonZeroU16,
    path::Path,
    process::{Command, ExitCode},
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
/// More than the demo prints, so that nothing scrolls away.
const ROWS: NonZeroU16 = NonZeroU16::new(120).expect("not zero");
/// What follows repeats what was seen.
const UNTIL: &str = "What is in the repository now";

/// Records the demo and writes the picture.
pub(crate) fn main() -> Result<ExitCode> {
    let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
    terminal.process(b"\x1b[2m$\x1b[m ralph demo\r\n");
    terminal.process(&record(&release()?)?);
    let screen = terminal.screen();
    let shown = screen.rows(0, COLUMNS.get()).take_while(|row| !row.starts_with(UNTIL)).collect::<Vec<_>>();
    let rows = shown.iter().rposition(|row| !row.trim().is_empty()).map_or(0, |last| last + 1);
    ensure!(shown.len() < usize::from(ROWS.get()), "the demo does not say `{UNTIL}` any more");
    let path = root().join("docs/demo.svg");
    fs_err::write(&path, svg::draw(screen, u16::try_from(rows)?))?;
    say(&format!("written: {}; now look at it\n", path.display()));
    report::take()?;
    Ok(ExitCode::SUCCESS)
}

/// What the demo sends to its terminal.
fn record(program: &Path) -> Result<Vec<u8>> {
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
    demo.arg("demo").env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    demo.envs([("TERM", "xterm-256color"), ("TMPDIR", "/tmp"), ("GIT_PAGER", "cat"), ("LANG", "C.UTF-8")]);
    demo.env("HOME", home.path()).stdin(end()?).stdout(end()?).stderr(end()?);
    let mut child = demo.spawn().context("cannot start the demo")?;
    // The command holds the terminal open too, and the recording ends when nobody does.
    drop(demo);
    let mut sent = Vec::new();
    match std::fs::File::from(terminal).read_to_end(&mut sent) {
        // What Linux says when the other end is closed.
        Err(error) if error.raw_os_error() == Some(libc::EIO) => {}
        other => drop(other?),
    }
    let status = child.wait()?;
    ensure!(status.success(), "the demo ended with {status}");
    Ok(sent)
}

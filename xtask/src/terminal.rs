//! A terminal with a program in it that draws on the whole screen.

use std::{
    fs::File,
    io::{Read, Write},
    num::NonZeroU16,
    process::{Child, Command},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{Mode, OFlags, open},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

/// A screen that shows nothing for so long is broken.
const SCREEN_TIMEOUT: Duration = Duration::from_secs(20);

/// The program, its terminal, and what is on the screen.
pub(crate) struct Terminal {
    keyboard: File,
    child: Child,
    parser: vt100::Parser,
    since: Instant,
}

impl Terminal {
    /// Starts a program in a new terminal of this size.
    pub(crate) fn start(mut command: Command, columns: NonZeroU16, rows: NonZeroU16) -> Result<Self> {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&terminal, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&terminal)?;
        unlockpt(&terminal)?;
        let size = Winsize { ws_row: rows.get(), ws_col: columns.get(), ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size)?;
        let name = ptsname(&terminal, Vec::new())?;
        let end = || open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty());
        command.env("TERM", "xterm-256color").stdin(end()?).stdout(end()?).stderr(end()?);
        let (parser, since) = (vt100::Parser::new(rows, columns, 0), Instant::now());
        let child = command.spawn().context("cannot start the program")?;
        Ok(Self { keyboard: File::from(terminal), child, parser, since })
    }

    /// Types keys.
    pub(crate) fn press(&mut self, keys: &str) -> Result<()> {
        self.since = Instant::now();
        Ok(self.keyboard.write_all(keys.as_bytes())?)
    }

    /// The seconds from the last key, or from the start, until this is on the screen.
    pub(crate) fn until(&mut self, text: &str) -> Result<f64> {
        let mut chunk = [0; 8 * 1024];
        while !self.screen().contents().contains(text) {
            let left = SCREEN_TIMEOUT.checked_sub(self.since.elapsed());
            let left = left.with_context(|| format!("`{text}` is not on the screen"))?;
            let timeout = Timespec::try_from(left)?;
            let mut ready = [PollFd::new(&self.keyboard, PollFlags::IN)];
            if 0 < poll(&mut ready, Some(&timeout))? {
                let length = self.keyboard.read(&mut chunk)?;
                ensure!(0 < length, "the program has ended");
                self.parser.process(&chunk[..length]);
            }
        }
        Ok(self.since.elapsed().as_secs_f64())
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> &vt100::Screen {
        self.parser.screen()
    }

    /// Waits for the end. What is printed meanwhile is read: a program waits for a full terminal.
    pub(crate) fn wait(&mut self) -> Result<()> {
        let mut chunk = [0; 8 * 1024];
        while let Ok(1..) = self.keyboard.read(&mut chunk) {}
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Of a measurement that failed; otherwise it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

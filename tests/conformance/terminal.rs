//! An agent in a terminal, with a user who types.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::world::World;

/// Large enough that no line of interest is cut.
const SIZE: Winsize = Winsize { ws_row: 50, ws_col: 160, ws_xpixel: 0, ws_ypixel: 0 };

/// The agent's terminal. The agent ends with it.
pub(crate) struct Terminal<'a> {
    world: &'a World,
    keyboard: File,
    child: Child,
    screen: Arc<Mutex<Vec<u8>>>,
    /// As much had been shown when a key was last pressed.
    seen: usize,
}

impl<'a> Terminal<'a> {
    /// Starts the agent in a terminal of its own.
    pub(crate) fn start(world: &'a World, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other end");
        tcsetwinsize(&master, SIZE).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("its name").into_string().expect("a path");
        let end =
            || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).expect("its other end"));
        let mut command: Command = world.agent_command(args);
        command.env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end());
        // SAFETY: two calls of the system, on descriptors that exist in the child.
        unsafe {
            command.pre_exec(|| {
                setsid()?;
                Ok(ioctl_tiocsctty(std::io::stdin())?)
            });
        }
        let child = command.spawn().expect("the agent");
        let keyboard = File::from(master);
        let screen = Arc::default();
        read_into(keyboard.try_clone().expect("a descriptor"), Arc::clone(&screen));
        Self { world, keyboard, child, screen, seen: 0 }
    }

    /// Types a line, sees it on the screen, and presses Enter: what comes in one rush is taken for a paste.
    #[track_caller]
    pub(crate) fn enter(&mut self, line: &str) {
        self.press(line);
        // A program may draw a line in pieces, with other things in between.
        self.wait_for(&format!("{line:?} on the screen"), |_| {
            let shown = self.shown();
            let mut shown = shown.chars();
            line.split_whitespace().flat_map(str::chars).all(|letter| shown.any(|other| other == letter))
        });
        self.press("\r");
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        let seen = self.screen().len();
        self.seen = seen;
        self.keyboard.write_all(keys.as_bytes()).expect("a keyboard");
    }

    /// Waits until the screen has shown this since a key was pressed.
    #[track_caller]
    pub(crate) fn expect(&self, text: &str) {
        let text: String = text.split_whitespace().collect();
        self.wait_for(&format!("{text:?} on the screen"), |_| self.shown().contains(&text));
    }

    /// Waits for something; says what is on the screen if it does not come.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, is_so: impl Fn(&World) -> bool) {
        let shown = || format!("{what}; the screen showed:\n{}", self.shown());
        self.world.wait_for_or(&shown, is_so);
    }

    /// What was shown since a key was pressed, without white space: a program that draws moves the cursor instead.
    fn shown(&self) -> String {
        let screen = self.screen();
        let text = String::from_utf8_lossy(&screen[self.seen..]);
        let mut parts = text.split("\u{1b}[");
        let first = parts.next().unwrap_or_default();
        let after = parts.map(|part| {
            let end = part.find(|letter: char| ('@'..='~').contains(&letter));
            &part[end.map_or(part.len(), |end| end + 1)..]
        });
        std::iter::once(first).chain(after).flat_map(str::split_whitespace).collect()
    }

    fn screen(&self) -> MutexGuard<'_, Vec<u8>> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads until no process holds the other end, and says where the cursor is when it is asked: Codex waits for that.
fn read_into(mut terminal: File, screen: Arc<Mutex<Vec<u8>>>) {
    const WHERE: &[u8] = b"\x1b[6n";
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            let read = &bytes[..count];
            screen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(read);
            if read.windows(WHERE.len()).any(|part| part == WHERE) {
                let _ = terminal.write_all(b"\x1b[1;1R");
            }
        }
    });
}

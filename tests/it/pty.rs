//! A terminal with a program in it.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::{
    process::{ioctl_tiocsctty, setsid},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};

use crate::env::{lossy, poll};

/// How high the terminals of tests are.
pub(crate) const ROWS: u16 = 50;

/// A program whose input, output and controlling terminal is a terminal of the test's own.
pub(crate) struct Pty {
    keyboard: File,
    child: Child,
    screen: Arc<Mutex<Vec<u8>>>,
    seen: usize,
}

impl Pty {
    /// Starts the command in a new terminal.
    pub(crate) fn start(command: &mut Command) -> Self {
        let (keyboard, child) = unwatched(command);
        let screen = Arc::default();
        read_into(keyboard.try_clone().expect("a descriptor"), Arc::clone(&screen));
        Self { keyboard, child, screen, seen: 0 }
    }

    /// Starts the command in a new terminal with so many columns.
    pub(crate) fn sized(command: &mut Command, columns: u16) -> Self {
        let (keyboard, child) = opened(command, Some(columns));
        let screen = Arc::default();
        read_into(keyboard.try_clone().expect("a descriptor"), Arc::clone(&screen));
        Self { keyboard, child, screen, seen: 0 }
    }

    /// Waits for the end, whatever it is, until everything was shown.
    #[track_caller]
    pub(crate) fn ends(&mut self) {
        poll("its end", || self.child.try_wait().expect("a child"));
        let screen = Arc::clone(&self.screen);
        // The reader lets go of the screen when no process is left to write.
        poll("the last of it", || (Arc::strong_count(&screen) == 2).then_some(()));
    }

    /// Waits until this is shown, after what was waited for before.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) -> &mut Self {
        let (screen, seen) = (Arc::clone(&self.screen), self.seen);
        let found = poll(&format!("{text:?}; the screen is:\n{}", self.screen()), || {
            let screen = screen.lock().expect("the screen");
            let at = screen[seen..].windows(text.len()).position(|part| part == text.as_bytes())?;
            Some(seen + at + text.len())
        });
        self.seen = found;
        self
    }

    /// Types something.
    pub(crate) fn types(&mut self, keys: &str) -> &mut Self {
        self.keyboard.write_all(keys.as_bytes()).expect("a keyboard");
        self
    }

    /// Waits for the question and types the answer with Enter.
    #[track_caller]
    pub(crate) fn answer(&mut self, question: &str, answer: &str) -> &mut Self {
        self.expect(question).types(&format!("{answer}\n"))
    }

    /// Waits for the end; returns the exit code.
    #[track_caller]
    pub(crate) fn exits(&mut self, code: i32) {
        let status = poll("its end", || self.child.try_wait().expect("a child"));
        assert_eq!(status.code(), Some(code), "{}", self.screen());
    }

    /// The number of its process.
    pub(crate) fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Whether what is typed comes line by line, as a shell wants it.
    pub(crate) fn is_cooked(&self) -> bool {
        let settings = tcgetattr(&self.keyboard).expect("a terminal");
        settings.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// Makes the terminal that wide; the program is told.
    pub(crate) fn resize(&self, columns: u16) {
        let size = Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).expect("its size");
    }

    /// Everything that was shown.
    pub(crate) fn screen(&self) -> String {
        lossy(&self.screen.lock().expect("the screen"))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // Of a test that failed; otherwise it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the command in a new terminal that no one looks at. When the terminal is dropped, the line is cut.
pub(crate) fn unwatched(command: &mut Command) -> (File, Child) {
    opened(command, None)
}

fn opened(command: &mut Command, columns: Option<u16>) -> (File, Child) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    rustix::io::fcntl_setfd(&master, rustix::io::FdFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other end");
    if let Some(ws_col) = columns {
        let size = Winsize { ws_row: ROWS, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("its size");
    }
    let name = ptsname(&master, Vec::new()).expect("its name").into_string().expect("a path");
    let end =
        || OpenOptions::new().read(true).write(true).open(&name).map(Stdio::from).expect("its other end");
    command.stdin(end()).stdout(end()).stderr(end());
    // SAFETY: two calls of the system, on descriptors that exist in the child.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            Ok(ioctl_tiocsctty(std::io::stdin())?)
        });
    }
    let child = command.spawn().expect("it starts");
    // The command still holds the program's end, which would keep the terminal alive after the program.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    (File::from(master), child)
}

/// Reads until no process holds the other end.
fn read_into(mut terminal: File, screen: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = terminal.read(&mut bytes) {
            screen.lock().expect("the screen").extend_from_slice(&bytes[..count]);
        }
    });
}

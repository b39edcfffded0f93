//! The terminal while it is a screen, and as it was before.
//!
//! Invariant: however this process ends, short of a kill that it cannot see, the terminal is given back: at the end of the
//! screen, after a panic, and at the first signal.

use std::{
    io::{self, BufWriter, Stdout, Write},
    panic,
    sync::Once,
    thread,
};

use ralph_sys::{error::Result, signals::Interrupts};
use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{DisableMouseCapture, EnableMouseCapture},
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};

use super::ColorWhen;

/// What a process exits with that panics.
const PANICKED: i32 = 101;

/// Few pictures are longer, in bytes.
const PICTURE_LEN: usize = 64 * 1024;

/// A terminal that shows a screen.
pub(crate) struct FullScreen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    has_mouse: bool,
}

impl FullScreen {
    /// Takes the terminal over.
    pub(crate) fn enter() -> Result<Self> {
        give_back_when_it_ends()?;
        // One write for a picture: over a slow line it is then whole.
        let out = BufWriter::with_capacity(PICTURE_LEN, io::stdout());
        let terminal = take_over().and_then(|()| Terminal::new(CrosstermBackend::new(out)));
        match terminal {
            Ok(terminal) => Ok(Self { terminal, has_mouse: false }),
            Err(error) => {
                restore();
                Err(error.into())
            }
        }
    }

    /// Draws what has changed.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Draws everything again: something else has written on the screen.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// Has the terminal report its mouse, or leave it to the user.
    pub(crate) fn mouse(&mut self, is_on: bool) -> io::Result<()> {
        self.has_mouse = is_on;
        if is_on {
            execute!(io::stdout(), EnableMouseCapture)
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }

    /// Gives the terminal back for a while, with keys still read one by one.
    pub(crate) fn leave(&mut self) {
        let _ = execute!(self.terminal.backend_mut(), DisableMouseCapture, LeaveAlternateScreen, Show);
    }

    /// Takes it over again.
    pub(crate) fn again(&mut self) -> Result<()> {
        take_over()?;
        if self.has_mouse {
            execute!(io::stdout(), EnableMouseCapture)?;
        }
        Ok(self.terminal.clear()?)
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        restore();
    }
}

fn take_over() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen)
}

/// The terminal as it was. May be done twice.
fn restore() {
    // A terminal that is gone needs nothing.
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}

fn give_back_when_it_ends() -> Result<()> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            restore();
            before(info);
            // A screen whose half is missing would go on drawing over what was just said.
            if thread::current().name() != Some("main") {
                std::process::exit(PANICKED);
            }
        }));
    });
    // It lives as long as the process.
    Interrupts::watch(restore).map(std::mem::forget)?;
    Ok(())
}

/// Whether the screen has colour.
pub(crate) fn has_color(when: ColorWhen) -> bool {
    when.is_on(&io::stdout())
}

/// Writes text on the ordinary screen of a terminal in raw mode.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.replace('\n', "\r\n").as_bytes())?;
    out.flush()
}

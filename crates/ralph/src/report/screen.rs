//! The one place that writes what people see of a run, so that the status line never mixes with the rest.
//!
//! Invariant: the status line is drawn only where a line begins, and erased before anything else is written.

use std::{
    borrow::Cow,
    io::{BufWriter, Write},
    time::Duration,
};

use jiff::{Timestamp, tz::TimeZone};

use crate::term::{
    Palette, Width,
    fit::{columns, fit},
    wrap::{Flowing, wrap},
};

/// How often an unchanged screen gets a new status line.
const REDRAW_INTERVAL_MS: i64 = 100;
/// After so much silence in the middle of a line, the line is ended to make room for the status line.
const SILENCE_MS: i64 = 1500;
/// What the terminal itself may write behind the status line: `^C`.
const ECHO: usize = 2;

/// Lines and streamed text on a writer, with a status line below them on a terminal.
pub(super) struct Screen {
    out: BufWriter<Box<dyn Write>>,
    width: Width,
    /// As it was when something was last flushed.
    columns: usize,
    /// It is this late.
    now: Timestamp,
    /// Each line begins with the time of this zone.
    stamps: Option<TimeZone>,
    palette: Palette,
    /// The last text did not end its line; it came at this time.
    in_line: Option<Timestamp>,
    /// Where in its line it is.
    flowing: Flowing,
    /// The status line that is on the screen, and since when.
    drawn: Option<(String, Timestamp)>,
}

impl Screen {
    /// Writes on `out`.
    pub(super) fn new(out: Box<dyn Write>, width: Width, palette: Palette, stamps: Option<TimeZone>) -> Self {
        let out = BufWriter::with_capacity(64 * 1024, out);
        let now = Timestamp::UNIX_EPOCH;
        let flowing = Flowing::default();
        Self {
            out,
            width,
            columns: width.columns(),
            now,
            stamps,
            palette,
            in_line: None,
            flowing,
            drawn: None,
        }
    }

    /// It is this late.
    pub(super) fn moment(&mut self, at: Timestamp) {
        self.now = at;
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// The columns that a line has, without its time.
    pub(super) fn columns(&self) -> usize {
        let stamp = if self.stamps.is_some() { "[00:00:00] ".len() } else { 0 };
        self.columns.saturating_sub(stamp)
    }

    /// Where lines are broken between words, so that the terminal does not break them elsewhere.
    pub(super) fn room(&self) -> Option<usize> {
        self.width.room().map(|_| self.columns())
    }

    /// Whole lines, on lines of their own. Errors are dropped: a reader that has gone does not end the run.
    pub(super) fn line(&mut self, text: &str) {
        self.erase();
        self.end_line();
        let text = self.room().map_or_else(|| text.into(), |room| Cow::from(wrap(text, room)));
        if self.stamps.is_none() {
            let _ = writeln!(self.out, "{text}");
            return;
        }
        for line in text.split('\n') {
            self.stamp();
            let _ = writeln!(self.out, "{line}");
        }
    }

    /// The next piece of a streamed text.
    pub(super) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.erase();
        let given = text;
        let text = self.room().map_or_else(|| text.into(), |room| Cow::from(self.flowing.push(text, room)));
        if self.stamps.is_none() {
            let _ = self.out.write_all(text.as_bytes());
        } else {
            let mut is_new = self.in_line.is_none();
            for line in text.split_inclusive('\n') {
                if is_new {
                    self.stamp();
                }
                let _ = self.out.write_all(line.as_bytes());
                is_new = true;
            }
        }
        self.in_line = (!given.ends_with('\n')).then_some(self.now);
    }

    /// What comes next begins a line.
    pub(super) fn end_line(&mut self) {
        if self.in_line.is_some() {
            self.erase();
            self.write_rest();
            let _ = self.out.write_all(b"\n");
        }
        (self.in_line, self.flowing) = (None, Flowing::default());
    }

    /// Writes the last word of a streamed text, which might have gone on.
    fn write_rest(&mut self) {
        let rest = self.flowing.end(self.columns());
        let _ = self.out.write_all(rest.as_bytes());
    }

    /// Makes everything visible, with this status line below it.
    pub(super) fn flush(&mut self, status: Option<&str>) {
        self.columns = self.width.columns();
        match status {
            Some(status) => self.draw(status),
            None => self.erase(),
        }
        let _ = self.out.flush();
    }

    fn draw(&mut self, status: &str) {
        let since = |then: Timestamp| self.now.as_millisecond() - then.as_millisecond();
        // No one knows whether more of the line will come, nor in which column it would go on.
        if self.in_line.is_some_and(|then| since(then) < SILENCE_MS) {
            return;
        }
        let status = fit(status, self.columns.saturating_sub(ECHO + 1));
        if let Some((before, then)) = &self.drawn
            && (since(*then) < REDRAW_INTERVAL_MS || *before == status)
        {
            return;
        }
        self.end_line();
        self.erase();
        let Palette { quiet, .. } = self.palette;
        let _ = write!(self.out, "{quiet}{status}{quiet:#}");
        self.drawn = Some((status.into_owned(), self.now));
    }

    /// Takes the status line away.
    pub(super) fn erase(&mut self) {
        let Some((status, _)) = self.drawn.take() else { return };
        // A terminal that became narrower has broken the line into several.
        let rows = columns(&status).saturating_sub(1) / self.width.columns().max(1);
        let _ = self.out.write_all(b"\r");
        for _ in 0..rows {
            let _ = self.out.write_all(b"\x1b[A");
        }
        let _ = self.out.write_all(b"\x1b[J");
    }

    /// The terminal has changed its size.
    #[cfg(test)]
    pub(super) fn resize(&mut self, columns: usize) {
        self.width = Width::Fixed(columns);
    }

    fn stamp(&mut self) {
        if let Some(zone) = &self.stamps {
            let Palette { quiet, .. } = self.palette;
            let time = self.now.to_zoned(zone.clone());
            let _ = write!(self.out, "{quiet}[{}]{quiet:#} ", time.strftime("%H:%M:%S"));
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.erase();
        self.write_rest();
        let _ = self.out.flush();
    }
}

/// How long ago something was.
pub(super) fn between(then: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(u64::try_from(now.as_millisecond() - then.as_millisecond()).unwrap_or(0))
}

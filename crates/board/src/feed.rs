//! Journals to the servers: a worker ships what its journal grew by.
//!
//! A message is a piece of the file and says from which byte to which. It is stored only behind the piece before it, so
//! what is under one subject is a beginning of the file without gap, repetition or disorder, whatever broke in between.
//! The file itself is the buffer: a slow or absent server costs the worker no memory and delays nothing.

use std::{
    fs::File,
    io,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use async_nats::{
    HeaderMap,
    jetstream::{message::PublishMessage, stream::DirectGetErrorKind},
};
use ralph_sys::error::{Error, Result};

use crate::{
    link::{Board, Link},
    store::{Answer, store},
    subjects::{self, EVENTS},
};

/// Where a piece begins in the file.
pub(crate) const OFFSET: &str = "Ralph-Offset";
/// Where it ends; what is masked may be shorter than what it stands for.
pub(crate) const END: &str = "Ralph-End";
/// How much of the file one message stands for, unless a line is longer.
const PIECE: usize = 256 * 1024;
/// The most that a message may carry: by itself a server takes a megabyte, with what is in the headers.
pub const MAX_PIECE_LEN: usize = 768 * 1024;
/// The longest line of the journal of a fleet. What masks it makes it fit.
const MAX_FLEET_LINE_LEN: usize = 64 * 1024 * 1024;

/// How many messages in a row may be lost before this is an error.
const MAX_LOST: u32 = 2;

/// Ships one journal.
pub struct Feed {
    link: Arc<Link>,
    subject: String,
    path: PathBuf,
    mask: Mask,
    /// A longer line is cut.
    max_line_len: usize,
    position: Option<Position>,
    /// How far the server has confirmed it: known here even after the server threw everything away.
    reached: u64,
}

type Mask = Box<dyn Fn(&[u8]) -> Vec<u8> + Send>;

/// Behind which message, and at which byte of the file, the next piece goes.
#[derive(Clone, Copy)]
struct Position {
    sequence: u64,
    offset: u64,
}

impl Board {
    /// Ships the journal of a lease, which this worker holds.
    pub fn feed(&self, fleet: &str, item: &str, lease: u64, journal: &Path) -> Feed {
        self.feed_as(subjects::journal(fleet, item, lease, self.name()), journal)
    }

    /// Ships the journal of a fleet itself, which this lander writes. It begins with everything that the fleet is to do, in
    /// one line: the mask gets this line whole, and must bring it below [`MAX_PIECE_LEN`].
    pub fn fleet_feed(&self, fleet: &str, journal: &Path) -> Feed {
        let feed = self.feed_as(subjects::fleet_journal(fleet, self.name()), journal);
        Feed { max_line_len: MAX_FLEET_LINE_LEN, ..feed }
    }

    fn feed_as(&self, subject: String, journal: &Path) -> Feed {
        Feed {
            link: self.link().clone(),
            subject,
            path: journal.to_owned(),
            mask: Box::new(<[u8]>::to_vec),
            max_line_len: MAX_PIECE_LEN,
            position: None,
            reached: 0,
        }
    }
}

impl Feed {
    /// What whole lines go through before they leave the machine.
    #[must_use]
    pub fn masked(self, mask: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> Self {
        Self { mask: Box::new(mask), ..self }
    }

    /// Ships all whole lines that are in the file and not on the board. Returns how many messages that took.
    ///
    /// An error delays nothing but this journal: call it again.
    pub fn ship(&mut self) -> Result<usize> {
        let Ok(file) = File::open(&self.path) else { return Ok(0) };
        let (mut count, mut lost) = (0, 0);
        loop {
            let position = match self.position {
                Some(position) => position,
                None => self.last()?,
            };
            self.position = Some(position);
            let lines = lines(&file, position.offset, self.max_line_len)?;
            if lines.is_empty() {
                return Ok(count);
            }
            let end = position.offset + lines.len() as u64;
            let message = PublishMessage::build()
                .header(OFFSET, position.offset.to_string().as_str())
                .header(END, end.to_string().as_str())
                .expected_last_subject_sequence(position.sequence)
                .payload((self.mask)(&lines).into());
            match self.link.wait(store(&self.link.streams, self.subject.clone(), message)) {
                Ok(Answer::At(sequence)) => {
                    self.position = Some(Position { sequence, offset: end });
                    self.reached = end;
                    lost = 0;
                }
                // It was stored and the confirmation got lost, or not: the stream knows.
                Ok(answer) => {
                    self.position = None;
                    lost += u32::from(answer == Answer::Unanswered);
                    // A server that may not take this never answers.
                    if MAX_LOST <= lost {
                        return Err(self.link.error("cannot ship events", &"no answer"));
                    }
                }
                Err(error) => return Err(self.link.error("cannot ship events", &error)),
            }
            count += 1;
        }
    }

    fn last(&self) -> Result<Position> {
        let last = self.link.wait(async {
            let stream =
                self.link.streams.get_stream_no_info(EVENTS).await.map_err(|error| error.to_string())?;
            // The subject is part of the request, so a worker can be allowed to ask about its own journals only. A replica
            // that is behind is no harm: what is stored behind the wrong piece is refused.
            match stream.direct_get_last_for_subject(&self.subject).await {
                Ok(message) => Ok(Some(message)),
                Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
                Err(error) => Err(error.to_string()),
            }
        });
        match last.map_err(|error| self.link.error("cannot ship events", &error))? {
            Some(message) => {
                Ok(Position { sequence: message.sequence, offset: number(&message.headers, END)? })
            }
            None => Ok(Position { sequence: 0, offset: self.reached }),
        }
    }
}

/// Whole lines from `offset` on, as many as are in a piece; one that is longer comes alone, and is cut if it is too long.
fn lines(file: &File, offset: u64, max_line_len: usize) -> io::Result<Vec<u8>> {
    let mut piece = Vec::new();
    read_on(file, offset, &mut piece, PIECE)?;
    if let Some(end) = piece.iter().rposition(|byte| *byte == b'\n') {
        piece.truncate(end + 1);
        return Ok(piece);
    }
    while piece.len() < max_line_len {
        let known = piece.len();
        read_on(file, offset, &mut piece, max_line_len.min(known + PIECE))?;
        if let Some(end) = piece[known..].iter().position(|byte| *byte == b'\n') {
            piece.truncate(known + end + 1);
            return Ok(piece);
        }
        if piece.len() == known {
            // Its end is not written yet.
            return Ok(Vec::new());
        }
    }
    piece.truncate(PIECE);
    Ok(piece)
}

/// Reads on until the piece is so long, or the file is over.
fn read_on(file: &File, offset: u64, piece: &mut Vec<u8>, length: usize) -> io::Result<()> {
    let mut filled = piece.len();
    piece.resize(length, 0);
    while filled < length {
        match file.read_at(&mut piece[filled..], offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    piece.truncate(filled);
    Ok(())
}

pub(crate) fn number(headers: &HeaderMap, name: &str) -> Result<u64> {
    let value = headers.get(name).and_then(|value| value.as_str().parse().ok());
    value.ok_or_else(|| Error::new("a piece of a journal that does not say where it belongs"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn whole_lines_are_shipped_and_only_one_that_is_too_long_is_cut() {
        const MAX: usize = 2 * PIECE;
        let (piece, long) = ("x".repeat(PIECE), "x".repeat(MAX));
        let (longer, longest) = (format!("{piece}yz\n"), format!("{}\n", &long[1..]));
        for (text, offset, expected) in [
            ("a\nb\n", 0, "a\nb\n"),
            ("a\nb", 0, "a\n"),
            ("a\nb\n", 2, "b\n"),
            ("a", 0, ""),
            ("", 0, ""),
            (&longer, 0, &*longer),
            (&format!("a\n{longer}"), 0, "a\n"),
            (&format!("{longer}b\n"), 0, &*longer),
            (&longer, PIECE as u64, "yz\n"),
            (&longest, 0, &*longest),
            (&longest[..MAX - 1], 0, ""),
            (&format!("{long}\n"), 0, &*piece),
            (&format!("{long}\n"), PIECE as u64, &format!("{piece}\n")),
        ] {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(text.as_bytes()).expect("written");
            let shipped = lines(&file, offset, MAX).expect("read");
            assert!(shipped == expected.as_bytes(), "{} at {offset}: {}", text.len(), shipped.len());
        }
    }
}

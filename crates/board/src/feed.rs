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
/// The most of the file that one message stands for.
const PIECE: usize = 256 * 1024;

/// Ships one journal.
pub struct Feed {
    link: Arc<Link>,
    subject: String,
    path: PathBuf,
    mask: Mask,
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
        Feed {
            link: self.link().clone(),
            subject: subjects::journal(fleet, item, lease, self.name()),
            path: journal.to_owned(),
            mask: Box::new(<[u8]>::to_vec),
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
        let mut count = 0;
        loop {
            let position = match self.position {
                Some(position) => position,
                None => self.last()?,
            };
            self.position = Some(position);
            let lines = lines(&file, position.offset)?;
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
                }
                // It was stored and the confirmation got lost, or not: the stream knows.
                Ok(Answer::Overtaken | Answer::There | Answer::Unanswered) => self.position = None,
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

/// Whole lines from `offset` on; a line that is longer than a piece is cut.
fn lines(file: &File, offset: u64) -> io::Result<Vec<u8>> {
    let mut piece = vec![0; PIECE];
    let mut filled = 0;
    while filled < PIECE {
        match file.read_at(&mut piece[filled..], offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    piece.truncate(filled);
    let end = piece.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if end > 0 || filled < PIECE {
        piece.truncate(end);
    }
    Ok(piece)
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
    fn whole_lines_are_shipped_and_only_a_long_one_is_cut() {
        let long = "x".repeat(PIECE);
        for (text, offset, expected) in [
            ("a\nb\n", 0, "a\nb\n"),
            ("a\nb", 0, "a\n"),
            ("a\nb\n", 2, "b\n"),
            ("a", 0, ""),
            ("", 0, ""),
            (&format!("{long}yz\n"), 0, &*long),
            (&format!("{long}yz\n"), PIECE as u64, "yz\n"),
        ] {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(text.as_bytes()).expect("written");
            assert_eq!(String::from_utf8_lossy(&lines(&file, offset).expect("read")), expected);
        }
    }
}

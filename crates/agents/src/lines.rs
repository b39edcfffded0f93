//! Cuts a stream of bytes into lines.
//!
//! Invariant: memory stays bounded. A line that lies whole inside a chunk is handed on without a copy, a
//! line over [`Lines::MAX`] is dropped and reported once, and the buffer of a long line is given back.

use memchr::memchr;

/// One line, or word of one that was too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Without its line break.
    Whole(&'a [u8]),
    /// It was longer than [`Lines::MAX`] and is gone.
    TooLong,
}

/// What is known of the line that has not ended yet.
#[derive(Debug, Default)]
pub(super) struct Lines {
    carry: Vec<u8>,
    /// The current line is over the limit; the rest of it is skipped.
    skipping: bool,
}

impl Lines {
    /// The longest line that is read.
    pub(super) const MAX: usize = 32 * 1024 * 1024;
    /// The largest buffer that is kept from one line to the next.
    const KEEP: usize = 256 * 1024;

    /// Takes the next bytes, cut anywhere, and hands on each line that they complete.
    pub(super) fn push(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            if self.carry.is_empty() && !self.skipping && end <= Self::MAX {
                take(Line::Whole(without_return(&bytes[..end])));
            } else {
                self.extend(&bytes[..end], take);
                self.end_line(take);
            }
            bytes = &bytes[end + 1..];
        }
        self.extend(bytes, take);
    }

    /// Hands on the last line if it had no line break.
    pub(super) fn finish(&mut self, take: &mut dyn FnMut(Line<'_>)) {
        if !self.carry.is_empty() {
            self.end_line(take);
        }
    }

    fn extend(&mut self, bytes: &[u8], take: &mut dyn FnMut(Line<'_>)) {
        if self.skipping {
            return;
        }
        if self.carry.len() + bytes.len() > Self::MAX {
            self.skipping = true;
            self.carry = Vec::new();
            return take(Line::TooLong);
        }
        self.carry.extend_from_slice(bytes);
    }

    fn end_line(&mut self, take: &mut dyn FnMut(Line<'_>)) {
        if !self.skipping {
            take(Line::Whole(without_return(&self.carry)));
        }
        self.skipping = false;
        self.carry.clear();
        self.carry.shrink_to(Self::KEEP);
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chunks: &[&[u8]], expected: &[&str]) {
        let mut lines = Lines::default();
        let mut seen = Vec::new();
        let mut take = |line: Line<'_>| match line {
            Line::Whole(line) => seen.push(String::from_utf8_lossy(line).into_owned()),
            Line::TooLong => seen.push("TOO LONG".to_owned()),
        };
        for chunk in chunks {
            lines.push(chunk, &mut take);
        }
        lines.finish(&mut take);
        assert_eq!(seen, expected);
        assert!(lines.carry.capacity() <= Lines::KEEP);
    }

    #[test]
    fn cuts_lines() {
        check(&[], &[]);
        check(&[b"a\nb\n"], &["a", "b"]);
        check(&[b"a\r\n\r\n\nb"], &["a", "", "", "b"]);
        check(&[b"a", b"b\nc", b"", b"d"], &["ab", "cd"]);
        check(&[b"a\r", b"\nb\r"], &["a", "b"]);
        check(&[b"\0\n\xff\n"], &["\0", "\u{fffd}"]);
    }

    #[test]
    fn drops_what_is_over_the_limit_and_goes_on() {
        let whole = vec![b'x'; Lines::MAX];
        let over = vec![b'x'; Lines::MAX + 1];
        let text = String::from_utf8_lossy(&whole).into_owned();
        check(&[&whole, b"\nok\n"], &[&text, "ok"]);
        check(&[&over, b"\nok\n"], &["TOO LONG", "ok"]);
        check(&[&whole, b"x", b"yyy", b"y\nok"], &["TOO LONG", "ok"]);
        check(&[&[&over[..], b"\nok\n"].concat()], &["TOO LONG", "ok"]);
    }
}

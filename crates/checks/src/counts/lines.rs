//! Bytes of a terminal as lines of text: escape sequences removed, overwritten text dropped.

/// Of a longer line, this much is read.
const MAX_LINE_LEN: usize = 64 * 1024;

/// Cuts bytes into lines.
#[derive(Default)]
pub(super) struct LineSplitter {
    line: Vec<u8>,
}

impl LineSplitter {
    /// Gives every line that is complete to `take`.
    pub(super) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(&str)) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, is_whole) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            let room = MAX_LINE_LEN.saturating_sub(self.line.len());
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if is_whole {
                take(&plain(&self.line));
                self.line.clear();
            }
        }
    }

    /// Gives what is left without a line feed to `take`.
    pub(super) fn finish(&mut self, mut take: impl FnMut(&str)) {
        if !self.line.is_empty() {
            take(&plain(&self.line));
            self.line.clear();
        }
    }
}

/// A line as a reader sees it: what a carriage return or a jump to the first column overwrites is gone.
pub(super) fn plain(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut text = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0x1b => {
                let (length, returns) = escape(after);
                if returns {
                    text.clear();
                }
                rest = &after[length..];
            }
            b'\r' => text.clear(),
            0x08 => {
                text.pop();
            }
            byte if byte < 0x20 && byte != b'\t' => {}
            byte => text.push(byte),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// How long the escape sequence is that follows `ESC`, and whether it moves the cursor to the first column.
fn escape(after: &[u8]) -> (usize, bool) {
    match after.first() {
        Some(b'[') => {
            let end = after.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte));
            let Some(end) = end else { return (after.len(), false) };
            let sequence = &after[1..=end + 1];
            let returns = matches!(sequence, b"G" | b"1G" | b"H" | b"2J");
            (end + 2, returns)
        }
        // An operating system command: a title or a link, up to BEL or ESC \.
        Some(b']') => {
            let end = after.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
            let Some(end) = end else { return (after.len(), false) };
            (if after[end] == 0x1b { (end + 2).min(after.len()) } else { end + 1 }, false)
        }
        Some(b'(' | b')' | b'*' | b'+' | b'#' | b'%') => (after.len().min(2), false),
        Some(_) => (1, false),
        None => (0, false),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LineSplitter, MAX_LINE_LEN, plain};

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(plain(line.as_bytes()), expected);
    }

    #[test]
    fn escape_sequences_are_removed() {
        check("\x1b[1m\x1b[92m  Finished\x1b[0m ok", "  Finished ok");
        check("test a ... \x1b[32mok\x1b(B\x1b[m", "test a ... ok");
        check("\x1b]8;;https://x\x07link\x1b]8;;\x1b\\ after", "link after");
        check("\x1b]0;title", "");
        check("\x1b[3", "");
        check("\x1b", "");
        check("a\tb", "a\tb");
        check("bell\x07", "bell");
    }

    #[test]
    fn overwritten_text_is_gone() {
        check("   good 1/2\r ✓ good", " ✓ good");
        check("\x1b[1G   good\x1b[K\x1b[77G1/2\x1b[2G\x1b[1G ✓ good\x1b[K", " ✓ good");
        check("windows\r", "windows");
        check("ab\x08c", "ac");
    }

    #[test]
    fn a_long_line_is_cut_and_the_next_one_is_whole() {
        let mut splitter = LineSplitter::default();
        let mut lines = Vec::new();
        splitter.feed(&vec![b'x'; MAX_LINE_LEN + 10], |line| lines.push(line.to_owned()));
        splitter.feed(b"\nnext\nlast", |line| lines.push(line.to_owned()));
        splitter.finish(|line| lines.push(line.to_owned()));
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [MAX_LINE_LEN, 4, 4]);
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_plain_form(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let text = plain(&bytes);
            prop_assert!(!text.contains('\x1b'));
        }

        #[test]
        fn where_bytes_are_cut_makes_no_difference(
            text in "[a-z \n\u{1b}\\[0-9m]{0,80}", cut in 0_usize..80,
        ) {
            let bytes = text.as_bytes();
            let cut = cut.min(bytes.len());
            let collect = |pieces: &[&[u8]]| {
                let (mut splitter, mut lines) = (LineSplitter::default(), Vec::new());
                for piece in pieces {
                    splitter.feed(piece, |line| lines.push(line.to_owned()));
                }
                splitter.finish(|line| lines.push(line.to_owned()));
                lines
            };
            prop_assert_eq!(collect(&[bytes]), collect(&[&bytes[..cut], &bytes[cut..]]));
        }
    }
}

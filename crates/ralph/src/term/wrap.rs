//! Breaks long lines between words, as wide as the terminal is. What is meant to be copied (a command, a path) stays whole.

use super::fit::columns;
use ralph_core::escapes::without_escapes;

/// How commands begin that messages name at the end of a line, after a colon: a program, and what it may be told to do.
const COMMANDS: [(&str, &str); 2] = [
    ("git", "add commit config diff init log revert stash status"),
    (
        "ralph",
        "accept build bus clean demo doctor guard init job judge logs plan plugin prompt reject report resume run \
         sandbox schema session status stop stories task watch",
    ),
];

/// Behind so much a word that is too long for any line need not begin another.
const MAX_LABEL: usize = 8;

/// How much further than its first line a paragraph goes on.
const HANGING: usize = 2;

/// The text with no line wider than that, except where one word is. Where a line goes on it is indented: as far as its last
/// column, as far as the text behind its mark, or a little more than its first line.
pub(crate) fn wrap(text: &str, room: usize) -> String {
    let (body, end) = text.strip_suffix('\n').map_or((text, ""), |body| (body, "\n"));
    let lines: Vec<String> = body.split('\n').map(|line| wrapped(line, room)).collect();
    lines.join("\n") + end
}

/// How wide a text with colours is.
fn shown(text: &str) -> usize {
    columns(&without_escapes(text))
}

fn wrapped(line: &str, room: usize) -> String {
    if line.len() <= room || shown(line) <= room {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start_matches(' ').len();
    let pieces = pieces(&line[indent..]);
    let hanging = " ".repeat(hang(&pieces, indent, room / 2));
    let (mut out, mut column) = (" ".repeat(indent), indent);
    // Where the words of the present line begin.
    let mut start = indent;
    for Piece { gap, text } in &pieces {
        let width = shown(text);
        // What fits into no line stays behind its label.
        let is_first = !out.contains('\n');
        let is_label = is_first && room < hanging.len() + width && column < start + MAX_LABEL;
        if start < column && room < column + gap + width && !is_label {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&hanging);
            (column, start) = (hanging.len(), hanging.len());
        } else {
            out.push_str(&" ".repeat(*gap));
            column += gap;
        }
        out.push_str(text);
        column += width;
    }
    out
}

/// Something that is not broken, and the spaces before it.
struct Piece<'a> {
    gap: usize,
    text: &'a str,
}

/// The words of a line; what stands in backticks is one, and so is a command at the end.
fn pieces(line: &str) -> Vec<Piece<'_>> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        rest = &rest[gap..];
        let follows_colon = pieces.last().is_none_or(|last| without_escapes(last.text).ends_with(':'));
        let end = if follows_colon && is_command(rest) { rest.len() } else { word_end(rest) };
        let (text, after) = rest.split_at(end);
        pieces.push(Piece { gap, text });
        rest = after;
    }
    pieces
}

/// Whether everything from here on is to be typed.
fn is_command(text: &str) -> bool {
    let mut words = text.split(' ');
    let (program, first) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    COMMANDS.iter().any(|(name, commands)| *name == program && commands.split(' ').any(|it| it == first))
}

/// Where the next word ends: at a space that is not between backticks.
fn word_end(text: &str) -> usize {
    let mut is_quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            // Only where another one closes it.
            '`' => is_quoted = !is_quoted && text[at + 1..].contains('`'),
            ' ' if !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

/// How far the lines after the first are indented, at most.
fn hang(pieces: &[Piece<'_>], indent: usize, at_most: usize) -> usize {
    let (mut column, mut last) = (indent, None);
    for Piece { gap, text } in pieces {
        column += gap;
        if at_most < column {
            break;
        }
        last = if 2 <= *gap { Some(column) } else { last };
        column += shown(text);
    }
    let is_mark = |text: &str| !without_escapes(text).chars().any(char::is_alphanumeric);
    let behind_mark = match pieces {
        [mark, text, ..] if is_mark(mark.text) => shown(mark.text) + text.gap,
        _ => HANGING,
    };
    last.unwrap_or(indent + behind_mark).min(at_most)
}

/// Breaks a text that comes in pieces of any size, as [`wrap`] does. The last word is kept back until it is whole.
#[derive(Debug, Default)]
pub(crate) struct Flowing {
    column: usize,
    gap: usize,
    word: String,
}

impl Flowing {
    /// The next piece, as far as it is whole.
    pub(crate) fn push(&mut self, text: &str, room: usize) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '\n' => {
                    self.flush_word(room, &mut out);
                    out.push('\n');
                    (self.column, self.gap) = (0, 0);
                }
                ' ' => {
                    self.flush_word(room, &mut out);
                    self.gap += 1;
                }
                _ => self.word.push(c),
            }
        }
        // Most texts end with a full stop, and then so does the word.
        if self.word.ends_with(['.', '!', '?', ':', ')', '`', '>']) {
            self.flush_word(room, &mut out);
        }
        out
    }

    /// What was kept back; what follows begins a line.
    pub(crate) fn end(&mut self, room: usize) -> String {
        let mut out = String::new();
        self.flush_word(room, &mut out);
        *self = Self::default();
        out
    }

    fn flush_word(&mut self, room: usize, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let width = columns(&self.word);
        if 0 < self.column && room < self.column + self.gap + width {
            out.push('\n');
            self.column = 0;
        } else {
            out.extend(std::iter::repeat_n(' ', self.gap));
            self.column += self.gap;
        }
        out.push_str(&self.word);
        self.column += width;
        (self.gap, self.word) = (0, String::new());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, room: usize, expected: &str) {
        assert_eq!(wrap(text, room), expected);
    }

    #[test]
    fn lines_break_between_words() {
        check("one two\n", 20, "one two\n");
        check("one two three four", 10, "one two\n  three\n  four");
        check("  - one two three", 12, "  - one two\n    three");
        check("✅ done and done", 9, "✅ done\n   and\n   done");
        check("a  b   cdef ghij", 10, "a  b\n   cdef\n   ghij");
        check("  run    do one thing", 18, "  run    do one\n         thing");
        check("\u{1b}[33mwarning:\u{1b}[0m one two", 12, "\u{1b}[33mwarning:\u{1b}[0m one\n  two");
        check("first line is long\nsecond", 12, "first line\n  is long\nsecond");
    }

    #[test]
    fn what_is_copied_stays_whole() {
        check("see /a/very/long/path/indeed", 10, "see /a/very/long/path/indeed");
        check("look here: /a/very/long/path/indeed", 12, "look here:\n  /a/very/long/path/indeed");
        check("  in /a/path", 11, "  in\n    /a/path");
        check("/a/very/long/path/indeed x", 10, "/a/very/long/path/indeed\n  x");
        check("try `ralph stop x` now", 16, "try\n  `ralph stop x`\n  now");
        check("one ` two three", 9, "one ` two\n  three");
        check("continue with: ralph resume 1 -n 3", 22, "continue with:\n  ralph resume 1 -n 3");
        check("  ralph run -p x --quiet", 10, "  ralph run -p x --quiet");
        check("warning: ralph is good", 16, "warning: ralph\n  is good");
    }

    #[test]
    fn a_text_in_pieces_is_broken_alike() {
        let mut flowing = Flowing::default();
        let mut out: String =
            ["One tw", "o thr", "ee four.", " Five"].map(|it| flowing.push(it, 10)).concat();
        assert_eq!(out, "One two\nthree\nfour.");
        out += &flowing.end(10);
        assert_eq!(out, "One two\nthree\nfour. Five");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_word_is_lost(text in "[a-z `:-]{0,80}", room in 8_usize..40) {
            let broken = wrap(&text, room);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&broken), words(&text));
            for line in broken.lines() {
                let text = line.trim_start();
                let last = pieces(text).last().map_or(0, |piece| piece.text.len());
                let is_one = text[..text.len() - last].trim_end().len() <= MAX_LABEL;
                prop_assert!(is_one || columns(line) <= room, "{:?}", line);
            }
        }

        #[test]
        fn pieces_do_not_matter(text in "[a-z .\n]{0,60}", cut in 0_usize..60, room in 4_usize..20) {
            let mut whole = Flowing::default();
            let expected = whole.push(&text, room) + &whole.end(room);
            let (one, other) = text.split_at(cut.min(text.len()));
            // A full stop at the end of a piece ends its word.
            prop_assume!(!one.ends_with('.'));
            let mut cut = Flowing::default();
            prop_assert_eq!(cut.push(one, room) + &cut.push(other, room) + &cut.end(room), expected);
        }
    }
}

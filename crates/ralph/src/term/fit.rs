//! Makes text fit into columns. Wide characters count twice, and a doubt is settled for the wider.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

use super::printable;

/// Makes the character before it an emoji, which is wide.
const EMOJI_SELECTOR: char = '\u{fe0f}';
/// Stands for what was cut.
const CUT: char = '…';

/// How many columns a text takes. Joined emoji count one by one, since many terminals show them so.
pub(crate) fn columns(text: &str) -> usize {
    let mut before = 0;
    text.chars().map(|c| step(c, &mut before)).sum()
}

/// The text, or its beginning and `…` where it has more columns than that.
pub(crate) fn fit(text: &str, room: usize) -> Cow<'_, str> {
    if text.len() <= room && text.is_ascii() {
        return text.into();
    }
    let (mut used, mut before, mut end) = (0, 0, 0);
    for (at, c) in text.char_indices() {
        used += step(c, &mut before);
        if room < used {
            return if room == 0 { "".into() } else { format!("{}{CUT}", &text[..end]).into() };
        }
        if used < room {
            end = at + c.len_utf8();
        }
    }
    text.into()
}

/// The text of an agent as one line: nothing in it moves the cursor, and every character has its columns.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    match printable(text) {
        safe if safe.contains(['\n', '\t']) => safe.trim().replace('\n', " ").replace('\t', "    ").into(),
        safe => safe,
    }
}

/// Parts with separators between them, on as many lines as the columns demand; the first line is `used`
/// columns wide already, the others begin with `indent` spaces. A single part is never broken.
pub(crate) fn flow(parts: &[String], separator: &str, used: usize, indent: usize, room: usize) -> String {
    // A comma stays with what is before it; a dot between two spaces is not needed where a line ends.
    let at_break = if separator.starts_with(' ') { "" } else { separator.trim_end() };
    let (mut text, mut column) = (String::new(), used);
    for (number, part) in (1..).zip(parts) {
        let after = if number == parts.len() { 0 } else { columns(at_break) };
        let width = columns(part);
        if number == 1 {
            column += width;
        } else if room < column + columns(separator) + width + after {
            text.push_str(at_break);
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent + width;
        } else {
            text.push_str(separator);
            column += columns(separator) + width;
        }
        text.push_str(part);
    }
    text
}

/// How many more columns a character takes after the one before it, which was so wide.
fn step(c: char, before: &mut usize) -> usize {
    if c == EMOJI_SELECTOR {
        return std::mem::replace(before, 2) % 2;
    }
    *before = c.width().unwrap_or(0);
    *before
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        for (text, expected) in
            [("", 0), ("abc", 3), ("größe", 5), ("日本", 4), ("✅", 2), ("⏸️", 2), ("e\u{301}", 1), ("👩‍💻", 4)]
        {
            assert_eq!(columns(text), expected, "{text}");
        }
    }

    #[track_caller]
    fn check(text: &str, room: usize, expected: &str) {
        assert_eq!(fit(text, room), expected, "{text:?} in {room}");
    }

    #[test]
    fn long_text_is_cut() {
        check("abc", 3, "abc");
        check("abcd", 3, "ab…");
        check("abcd", 1, "…");
        check("abcd", 0, "");
        check("日本語", 6, "日本語");
        check("日本語", 5, "日本…");
        check("日本語", 4, "日…");
        check("größer", 6, "größer");
        check("größer", 5, "größ…");
    }

    #[test]
    fn parts_flow() {
        let parts = ["one", "two", "three"].map(str::to_owned);
        assert_eq!(flow(&parts, " · ", 0, 2, 80), "one · two · three");
        assert_eq!(flow(&parts, " · ", 0, 2, 10), "one · two\n  three");
        assert_eq!(flow(&parts, ", ", 5, 2, 8), "one,\n  two,\n  three");
        assert_eq!(flow(&[], ", ", 5, 2, 8), "");
    }

    #[test]
    fn an_agent_has_one_line() {
        assert_eq!(one_line("a\n\tb\u{1b}[2J\n"), "a     b");
    }

    proptest! {
        #[test]
        fn what_fits_is_never_too_wide(text in "\\PC{0,40}", room in 0_usize..40) {
            let fitted = fit(&text, room);
            prop_assert!(columns(&fitted) <= room);
            prop_assert_eq!(fitted == text.as_str(), columns(&text) <= room);
        }
    }
}

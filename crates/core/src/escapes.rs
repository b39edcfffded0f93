//! Takes the escape sequences of terminals out of text, whole: colours, cursor moves, window titles, character sets.
//!
//! Invariant: nothing is taken that no terminal would have taken for a part of a sequence, and a sequence without an end takes no more than the rest of
//! its line.

use std::borrow::Cow;

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';

/// The text without its escape sequences.
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    // The eight-bit forms are two bytes that begin with C2, which is also in front of many a letter: worth a closer look.
    if memchr::memchr2(0x1b, 0xc2, text.as_bytes()).is_none() || !text.contains(begins) {
        return text.into();
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(begins) {
        plain.push_str(&rest[..at]);
        rest = after(&rest[at..]);
    }
    plain.push_str(rest);
    plain.into()
}

/// Whether a character turns the direction of reading or ends a line unseen, so that a text shows something else than it says.
pub fn is_deceptive(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// What is shown instead of such a character: `‹U+202E›`.
pub fn mark(deceptive: char) -> String {
    format!("‹U+{:04X}›", u32::from(deceptive))
}

/// Whether a sequence begins here: ESC, or one of the eight-bit introducers.
fn begins(c: char) -> bool {
    matches!(c, ESCAPE | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}' | '\u{9e}' | '\u{9f}')
}

/// What follows the sequence at the beginning of `text`.
fn after(text: &str) -> &str {
    let mut chars = text.chars();
    let introducer = match chars.next() {
        Some(ESCAPE) => chars.next(),
        Some('\u{9b}') => Some('['),
        Some(_) => Some(']'),
        None => None,
    };
    match introducer {
        Some('[') => control(chars.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => string(chars.as_str()),
        // A character set and the like: more of the same kind, then one that ends it.
        Some(' '..='/') => ended_by(chars.as_str().trim_start_matches(|c| matches!(c, ' '..='/')), |c| {
            matches!(c, '0'..='~')
        }),
        Some('0'..='~') => chars.as_str(),
        // Nothing that a terminal knows: only the ESC goes.
        Some(_) | None => text.strip_prefix(ESCAPE).unwrap_or_default(),
    }
}

/// What follows the parameters of a control sequence and the letter that ends it.
fn control(text: &str) -> &str {
    let text = text.trim_start_matches(|c| matches!(c, '0'..='?'));
    ended_by(text.trim_start_matches(|c| matches!(c, ' '..='/')), |c| matches!(c, '@'..='~'))
}

fn ended_by(text: &str, ends: impl Fn(char) -> bool) -> &str {
    text.strip_prefix(ends).unwrap_or(text)
}

/// What follows a string: a title, a link, an image.
fn string(text: &str) -> &str {
    let Some(end) = text.find([BELL, '\u{9c}', ESCAPE, '\n']) else { return "" };
    let rest = &text[end..];
    match rest.chars().next() {
        Some(ESCAPE) => rest.strip_prefix("\u{1b}\\").unwrap_or(rest),
        Some('\n') | None => rest,
        Some(end) => &rest[end.len_utf8()..],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sequences_go_whole() {
        for (text, expected) in [
            ("", ""),
            ("größe § 1\t\n", "größe § 1\t\n"),
            ("\u{1b}[1;31merror\u{1b}[0m: no", "error: no"),
            ("a\u{1b}[2Jb\u{1b}[?25lc\u{1b}[38:2:1:2:3md", "abcd"),
            ("\u{9b}31mred\u{9b}m", "red"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "alink"),
            ("\u{9d}0;title\u{9c}a", "a"),
            ("\u{1b}(Ba\u{1b})0b\u{1b}#8c\u{1b}%Gd", "abcd"),
            ("\u{1b}7a\u{1b}8\u{1b}=b\u{1b}>\u{1b}Mc", "abc"),
            ("\u{1b}Pq#0;2\u{1b}\\a\u{1b}_G\u{1b}\\b", "ab"),
            // Without an end: no more than the line.
            ("\u{1b}]0;title\nnext", "\nnext"),
            ("\u{1b}]0;title", ""),
            ("a\u{1b}[31", "a"),
            ("a\u{1b}[3é", "aé"),
            ("a\u{1b}", "a"),
            ("a\u{1b}\nb", "a\nb"),
            ("a\u{1b}é", "aé"),
            ("\u{1b}\u{1b}[31mx", "x"),
        ] {
            assert_eq!(without_escapes(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_turns_a_text_around_is_named() {
        for c in ['\u{202e}', '\u{2028}', '\u{2066}', '\u{200f}', '\u{61c}'] {
            assert!(is_deceptive(c), "{}", mark(c));
        }
        for c in ['a', '—', '\u{200b}', '\u{2030}', 'ش'] {
            assert!(!is_deceptive(c), "{}", mark(c));
        }
        assert_eq!((mark('\u{202e}').as_str(), mark('\u{61c}').as_str()), ("‹U+202E›", "‹U+061C›"));
    }

    #[test]
    fn text_without_sequences_is_not_copied() {
        for text in ["", "plain", "größe § 1"] {
            assert!(matches!(without_escapes(text), Cow::Borrowed(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_begins_a_sequence_afterwards_and_lines_stay(text in "(\\PC|[\u{1b}\u{9b}\u{7}\n\\[\\]();0-9mPB]){0,60}") {
            let plain = without_escapes(&text);
            prop_assert!(!plain.contains(begins), "{plain:?}");
            prop_assert_eq!(plain.matches('\n').count(), text.matches('\n').count());
            prop_assert_eq!(without_escapes(&plain), plain.as_ref());
        }
    }
}

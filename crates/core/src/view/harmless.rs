//! Makes text that an agent may have written fit to be shown anywhere.

use crate::{
    escapes::{is_deceptive, mark, without_escapes},
    key_mask::masked,
};

/// No line that is shown is longer, in characters: what is cut is in the record.
const MAX_LINE_LEN: usize = 2000;

/// The text as one line that changes nothing but itself: no keys, no escape sequences, no control characters, what turns the
/// direction of reading as a mark, and not longer than a screen can make use of.
pub fn harmless(text: &str) -> String {
    let cut = cut(text.trim_matches(['\n', '\r']).trim_end(), 2 * MAX_LINE_LEN);
    let mut line = String::with_capacity(cut.len());
    for (length, c) in without_escapes(&masked(cut)).chars().filter(|c| *c != '\r').enumerate() {
        match c {
            _ if MAX_LINE_LEN <= length => {
                line.push('…');
                break;
            }
            '\n' => line.push(' '),
            '\t' => line.push_str("    "),
            _ if is_deceptive(c) => line.push_str(&mark(c)),
            _ if c.is_control() => line.push('\u{fffd}'),
            _ => line.push(c),
        }
    }
    line
}

/// The beginning of a text, at most so many characters: nothing behind them is looked at.
fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    text.char_indices().nth(max).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(harmless(text), expected, "{text:?}");
    }

    #[test]
    fn nothing_in_a_line_does_anything() {
        check("", "");
        check("\n  größe “x” 😀 \n", "  größe “x” 😀");
        check("a\u{1b}[2Jb\u{1b}]0;title\u{7}c", "abc");
        check("one\r\ntwo\tthree", "one two    three");
        check("a\0b\u{7f}c", "a\u{fffd}b\u{fffd}c");
        check("a\u{202e}b", "a‹U+202E›b");
        check(&format!("x ghp_{}", "a1".repeat(18)), "x ghp_***");
    }

    #[test]
    fn a_line_has_an_end() {
        let long = harmless(&"é".repeat(10 * MAX_LINE_LEN));
        assert_eq!(long.chars().count(), MAX_LINE_LEN + 1);
        assert!(long.ends_with('…'));
        assert_eq!(harmless(&"é".repeat(MAX_LINE_LEN)).chars().count(), MAX_LINE_LEN);
        // What is not shown does not count, as far as it is looked at.
        let coloured = format!("{}{}", "\u{1b}[0m".repeat(100), "x".repeat(MAX_LINE_LEN));
        assert_eq!(harmless(&coloured), "x".repeat(MAX_LINE_LEN));
    }

    proptest! {
        #[test]
        fn no_control_character_is_left(text in any::<String>()) {
            let line = harmless(&text);
            prop_assert!(!line.chars().any(|c| c.is_control() || is_deceptive(c)), "{:?}", line);
        }
    }
}

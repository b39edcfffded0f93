//! JSON values that stay as they stand in the line until the caller looks at them.
//!
//! Invariant: a value of an unexpected type is never an error, and a long text is never unescaped further
//! than it is needed.

use memchr::memchr_iter;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Excerpt, summary};

/// One JSON value, unread.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(transparent)]
pub struct Raw<'a>(#[serde(borrow)] &'a RawValue);

impl<'a> Raw<'a> {
    /// Returns the value as `T`, if it is one.
    pub fn read<T: Deserialize<'a>>(self) -> Option<T> {
        serde_json::from_str(self.0.get()).ok()
    }

    /// Returns a name or an identifier: a text without escapes.
    pub fn word(self) -> Option<&'a str> {
        self.quoted().filter(|inner| !inner.contains('\\'))
    }

    /// Returns a text, whole.
    pub fn text(self) -> Option<String> {
        self.quoted().map(|inner| unescape(inner, usize::MAX).0)
    }

    /// Returns the first line of a text, or the beginning of another value, in a few words.
    pub(super) fn short(self) -> String {
        let inner = self.quoted().map(|inner| unescape(inner, 4 * summary::MAX).0);
        summary::short(inner.as_deref().unwrap_or(self.0.get()))
    }

    /// Returns the beginning of a text or of a list of text blocks, and counts the rest.
    pub(super) fn excerpt(self) -> Excerpt {
        if let Some(inner) = self.quoted() {
            return excerpt(inner);
        }
        let Some(blocks) = self.read::<Vec<TextBlock<'_>>>() else { return Excerpt::of(self.0.get()) };
        let mut whole = Excerpt::default();
        for part in blocks.iter().filter_map(|block| block.text).map(Raw::excerpt) {
            let room = Excerpt::MAX - whole.text.len();
            whole.text.push_str(&part.text[..part.text.floor_char_boundary(room)]);
            whole.lines += part.lines;
            whole.chars += part.chars;
        }
        whole
    }

    /// Returns what stands between the quotation marks of a text.
    fn quoted(self) -> Option<&'a str> {
        self.0.get().strip_prefix('"')?.strip_suffix('"')
    }
}

/// Returns a name or an identifier; nothing is the empty one.
pub fn word(raw: Option<Raw<'_>>) -> &str {
    raw.and_then(Raw::word).unwrap_or_default()
}

#[derive(Deserialize)]
struct TextBlock<'a> {
    #[serde(borrow)]
    text: Option<Raw<'a>>,
}

fn excerpt(inner: &str) -> Excerpt {
    let (text, kept) = unescape(inner, Excerpt::MAX);
    let (lines, chars) = (memchr_iter(b'\n', text.as_bytes()).count(), text.chars().count());
    let (more_lines, more_chars, is_open) = count(&inner[kept..], !text.is_empty() && !text.ends_with('\n'));
    Excerpt { text, lines: lines + more_lines + usize::from(is_open), chars: chars + more_chars }
}

/// Counts the line breaks and characters of what is not kept; says whether the last line has begun.
fn count(inner: &str, mut is_open: bool) -> (usize, usize, bool) {
    let (mut lines, mut chars, mut from) = (0, inner.chars().count(), 0);
    while let Some(plain) = backslash(&inner.as_bytes()[from..]) {
        let at = from + plain;
        // Nearly all escapes are one character after the backslash, and only line breaks matter.
        let (char, length) = match inner.as_bytes().get(at + 1) {
            Some(b'n') => ('\n', 2),
            Some(b'u') | None => escape(&inner[at..]),
            Some(_) => ('\\', 2),
        };
        from = at + length;
        chars -= length - 1;
        is_open = char != '\n';
        lines += usize::from(!is_open);
    }
    (lines, chars, is_open || from < inner.len())
}

/// Returns at most `limit` bytes of the text that a JSON string stands for, cut at a character; and how much of
/// the string that was.
fn unescape(inner: &str, limit: usize) -> (String, usize) {
    let mut text = String::with_capacity(inner.len().min(limit));
    let mut from = 0;
    while let Some(plain) = backslash(&inner.as_bytes()[from..]) {
        if limit - text.len() < plain {
            break;
        }
        let at = from + plain;
        text.push_str(&inner[from..at]);
        let (char, length) = escape(&inner[at..]);
        if limit - text.len() < char.len_utf8() {
            return (text, at);
        }
        text.push(char);
        from = at + length;
    }
    let rest = &inner[from..];
    let end = rest.floor_char_boundary(limit - text.len());
    text.push_str(&rest[..end]);
    (text, from + end)
}

/// Where the first backslash is. Escapes are a few words apart, so that a search which is made for long texts would
/// mostly prepare itself; and what that asks the processor first takes a hook longer than all the rest of its reading.
#[inline]
fn backslash(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let (words, rest) = bytes.as_chunks::<8>();
    for (word, at) in words.iter().zip((0..).step_by(8)) {
        // A byte that is a backslash becomes zero, and only a zero byte, or one above it, borrows from its highest bit.
        let other = u64::from_le_bytes(*word) ^ (ONES * u64::from(b'\\'));
        let found = other.wrapping_sub(ONES) & !other & HIGH;
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
    }
    rest.iter().position(|byte| *byte == b'\\').map(|at| bytes.len() - rest.len() + at)
}

/// Reads the escape at the beginning of `text`: what it stands for and its length. Half of a surrogate
/// pair, which JavaScript agents print when they cut a text, stands for the replacement character.
#[inline]
fn escape(text: &str) -> (char, usize) {
    let simple = match text.as_bytes().get(1) {
        Some(b'u') => return unicode_escape(text),
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(&other) => char::from(other),
        None => return (char::REPLACEMENT_CHARACTER, 1),
    };
    (simple, 2)
}

fn unicode_escape(text: &str) -> (char, usize) {
    let unit = |at: usize| text.get(at..at + 4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    let Some(first) = unit(2) else { return (char::REPLACEMENT_CHARACTER, 2) };
    let second = if text.get(6..8) == Some("\\u") { unit(8) } else { None };
    let units = [first, second.unwrap_or_default()];
    match char::decode_utf16(units).next() {
        Some(Ok(char)) => (char, 6 * char.len_utf16()),
        Some(Err(_)) | None => (char::REPLACEMENT_CHARACTER, 6),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let raw: Raw<'_> = serde_json::from_str(json).expect("valid JSON");
        assert_eq!(raw.text().as_deref(), Some(expected));
        assert_eq!(raw.excerpt(), Excerpt::of(expected));
    }

    #[test]
    fn reads_texts() {
        check(r#""""#, "");
        check(r#""a\nb\n""#, "a\nb\n");
        check(r#""\\\"\/\b\f\r\t""#, "\\\"/\u{8}\u{c}\r\t");
        check(r#""\u00e9\u20ac\ud83d\ude00""#, "é€😀");
        check(r#""é€😀""#, "é€😀");
        check(r#""\ud83d""#, "\u{fffd}");
        check(r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}");
        check(r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀");
    }

    #[test]
    fn reads_lists_of_blocks() {
        let json = r#"[{"type":"text","text":"a\nb"},{"type":"image"},{"type":"text","text":"é"}]"#;
        let raw: Raw<'_> = serde_json::from_str(json).expect("valid JSON");
        assert_eq!(raw.excerpt(), Excerpt { text: "a\nbé".to_owned(), lines: 3, chars: 4 });
    }

    proptest! {
        #[test]
        fn finds_the_first_backslash(bytes in prop::collection::vec(prop_oneof![Just(b'\\'), Just(b'\\' + 1), any::<u8>()], 0..40)) {
            prop_assert_eq!(backslash(&bytes), bytes.iter().position(|byte| *byte == b'\\'));
        }

        #[test]
        fn agrees_with_serde_json(text in any::<String>(), repeat in 1_usize..2_000) {
            let text = text.repeat(repeat);
            check(&serde_json::to_string(&text).expect("text"), &text);
        }
    }
}

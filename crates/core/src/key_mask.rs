//! Takes keys out of what agents and programs print: those whose shape says that they are keys.
//!
//! Invariant: what is masked keeps its beginning, so that a person sees which key it was, and never the part that opens anything; text
//! without such a shape is not copied. Nothing that JSON needs is taken, so a stream of events stays one.

mod shapes;

use std::{borrow::Cow, sync::LazyLock};

use aho_corasick::packed::{MatchKind, Searcher};
use memchr::memmem;

use shapes::{Rest, SHAPES, Shape};

/// What stands for the secret part of a key.
const MASK: &[u8] = b"***";
/// The longest beginning of a key.
const MAX_BEGIN_LEN: usize = 24;
/// As much is remembered of what came before: the longest escape.
const MAX_BEFORE_LEN: usize = 16;
/// The longest key that is recognised where it comes in two pieces.
const MAX_HELD_LEN: usize = 16 * 1024;

/// The text without keys.
pub fn masked(text: &str) -> Cow<'_, str> {
    match masked_bytes(text.as_bytes()) {
        Cow::Borrowed(_) => text.into(),
        // Keys are ASCII, so only whole characters go.
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    }
}

/// The bytes without keys.
pub fn masked_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    let mut shown: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(Found::Key { secret, end }) = next(&[], bytes, at, Ending::Last) {
        let shown = shown.get_or_insert_with(|| Vec::with_capacity(bytes.len()));
        shown.extend_from_slice(&bytes[at..secret]);
        shown.extend_from_slice(MASK);
        at = end;
    }
    match shown {
        None => bytes.into(),
        Some(mut shown) => {
            shown.extend_from_slice(&bytes[at..]);
            shown.into()
        }
    }
}

/// Takes keys out of a stream, also where they come in pieces.
#[derive(Default)]
pub struct KeyMask {
    /// The beginning of what may become a key.
    held: Vec<u8>,
    /// The last bytes before that: whether a word goes on.
    before: Vec<u8>,
    has_masked: bool,
}

impl KeyMask {
    /// Takes the next bytes; returns those that can be shown.
    pub fn push(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        let mut all = if self.held.is_empty() {
            bytes
        } else {
            let mut all = std::mem::take(&mut self.held);
            all.extend_from_slice(&bytes);
            all
        };
        let mut shown: Option<Vec<u8>> = None;
        let mut at = 0;
        while let Some(found) = next(&self.before, &all, at, Ending::More) {
            match found {
                Found::Key { secret, end } => {
                    self.has_masked = true;
                    let shown = shown.get_or_insert_with(|| Vec::with_capacity(all.len()));
                    shown.extend_from_slice(&all[at..secret]);
                    shown.extend_from_slice(MASK);
                    at = end;
                }
                Found::Beginning { start } => {
                    self.held = all.split_off(start);
                    break;
                }
            }
        }
        self.before.extend_from_slice(&all[all.len().saturating_sub(MAX_BEFORE_LEN)..]);
        self.before.drain(..self.before.len().saturating_sub(MAX_BEFORE_LEN));
        match shown {
            None => all,
            Some(mut shown) => {
                shown.extend_from_slice(&all[at..]);
                shown
            }
        }
    }

    /// What is left when nothing more comes.
    pub fn finish(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        // As if it had come in one piece, but for what was shown already.
        let length = self.before.len();
        let all = [std::mem::take(&mut self.before), held].concat();
        let mut shown = Vec::new();
        let mut at = length;
        while let Some(Found::Key { secret, end }) = next(&[], &all, at, Ending::Last) {
            self.has_masked = true;
            shown.extend_from_slice(&all[at..secret]);
            shown.extend_from_slice(MASK);
            at = end;
        }
        shown.extend_from_slice(&all[at..]);
        shown
    }

    /// Whether anything was masked so far.
    pub fn has_masked(&self) -> bool {
        self.has_masked
    }
}

/// Whether more bytes follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    More,
    Last,
}

enum Found {
    /// From here to there no one may see it.
    Key { secret: usize, end: usize },
    /// What begins here may be a key once more has come.
    Beginning { start: usize },
}

/// The next key that begins at or after `from`.
fn next(before: &[u8], bytes: &[u8], from: usize, ending: Ending) -> Option<Found> {
    let mut at = from;
    while let Some((start, shape)) = begin(bytes, at) {
        if !shape.is_alone || stands_alone(before, bytes, start) {
            let secret = start + shape.begin.len();
            match shape.rest.read(&bytes[secret..]) {
                Some(end) if secret + end.at == bytes.len() && !end.is_closed && ending == Ending::More => {
                    if bytes.len() - start < MAX_HELD_LEN {
                        return Some(Found::Beginning { start });
                    }
                    if end.is_key {
                        return Some(Found::Key { secret: secret + end.from, end: secret + end.at });
                    }
                }
                Some(end) if end.is_key => {
                    return Some(Found::Key { secret: secret + end.from, end: secret + end.at });
                }
                Some(_) | None => {}
            }
        }
        at = start + 1;
    }
    if ending == Ending::Last {
        return None;
    }
    // A beginning may be cut itself.
    let tail = bytes.len().saturating_sub(MAX_BEGIN_LEN).max(at);
    let is_cut = |start: &usize| {
        let cut = &bytes[*start..];
        SHAPES.iter().any(|shape| {
            cut.len() < shape.begin.len()
                && shape.begin.as_bytes().starts_with(cut)
                && (!shape.is_alone || stands_alone(before, bytes, *start))
        })
    };
    (tail..bytes.len()).find(is_cut).map(|start| Found::Beginning { start })
}

/// Where the next key may begin, and which.
fn begin(bytes: &[u8], from: usize) -> Option<(usize, &'static Shape)> {
    // One pass for all beginnings, many bytes at a time, where the processor can.
    static ALL: LazyLock<Option<Searcher>> = LazyLock::new(|| {
        let mut builder = aho_corasick::packed::Config::new().match_kind(MatchKind::LeftmostFirst).builder();
        builder.extend(SHAPES.iter().map(|shape| shape.begin));
        builder.build()
    });
    let rest = bytes.get(from..)?;
    match &*ALL {
        Some(searcher) => {
            let found = searcher.find(rest)?;
            Some((from + found.start(), &SHAPES[found.pattern().as_usize()]))
        }
        None => SHAPES
            .iter()
            .filter_map(|shape| Some((from + memmem::find(rest, shape.begin.as_bytes())?, shape)))
            .min_by_key(|(start, _)| *start),
    }
}

/// Whether no word goes on here: what is before is no letter, or one that belongs to an escape.
fn stands_alone(before: &[u8], bytes: &[u8], start: usize) -> bool {
    let near;
    let before = if before.is_empty() || MAX_BEFORE_LEN <= start {
        &bytes[..start]
    } else {
        near = [before, &bytes[..start]].concat();
        &near
    };
    let Some(last) = before.last() else { return true };
    let back = |count: usize| before.len().checked_sub(count).map(|at| before[at]);
    let is_escape = b"nrtbf".contains(last) && back(2) == Some(b'\\');
    let is_unicode = back(6) == Some(b'\\') && back(5) == Some(b'u');
    let is_percent = back(3) == Some(b'%');
    let is_colour = || {
        let digits = before[..before.len() - 1].iter().rev().skip_while(|byte| b"0123456789;".contains(byte));
        *last == b'm' && digits.into_iter().next() == Some(&b'[')
    };
    !last.is_ascii_alphanumeric() || is_escape || is_unicode || is_percent || is_colour()
}

/// Where the rest of a key ends.
struct End {
    /// From here on no one may see it.
    from: usize,
    at: usize,
    is_key: bool,
    /// Whatever comes later, it ends here.
    is_closed: bool,
}

impl Rest {
    /// Reads what follows the beginning; nothing if it can be no key.
    fn read(&self, bytes: &[u8]) -> Option<End> {
        match self {
            Self::Token { letters, least, needs } => {
                let at = bytes.iter().position(|byte| !letters(*byte)).unwrap_or(bytes.len());
                let is_key = *least <= at && needs(&bytes[..at]);
                Some(End { from: 0, at, is_key, is_closed: false })
            }
            Self::Exact { letters, length } => {
                let at = bytes.iter().position(|byte| !letters(*byte)).unwrap_or(bytes.len());
                Some(End { from: 0, at, is_key: at == *length, is_closed: *length < at })
            }
            Self::Value { letters, least } => {
                let is_between = |byte: &u8| b" \t\"'=:\\>".contains(byte);
                let from = bytes.iter().position(|byte| !is_between(byte)).unwrap_or(bytes.len());
                let length =
                    bytes[from..].iter().position(|byte| !letters(*byte)).unwrap_or(bytes.len() - from);
                let is_key = 0 < from && *least <= length;
                Some(End { from, at: from + length, is_key, is_closed: false })
            }
            Self::Armor => armor(bytes),
        }
    }
}

/// What follows `-----BEGIN `, if it is a private key: its body.
fn armor(bytes: &[u8]) -> Option<End> {
    const KIND: &[u8] = b"PRIVATE KEY";
    const MAX_KIND_LEN: usize = 48;
    const DASHES: &[u8] = b"-----";
    let is_kind = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b' ';
    let kind = bytes.iter().take(MAX_KIND_LEN).take_while(|byte| is_kind(byte)).count();
    let cut = |at: usize| Some(End { from: at, at, is_key: false, is_closed: false });
    if kind == bytes.len() {
        return cut(kind);
    }
    let dashes = bytes[kind..].iter().take(DASHES.len()).take_while(|byte| **byte == b'-').count();
    if dashes < DASHES.len() {
        return if kind + dashes == bytes.len() { cut(bytes.len()) } else { None };
    }
    let from = kind + dashes;
    memmem::find(&bytes[..kind], KIND)?;
    let body = &bytes[from..];
    let is_body =
        |byte: &u8| byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\:,-".contains(byte);
    let end = memmem::find(body, b"-----END");
    let room = end.unwrap_or(body.len()).min(MAX_HELD_LEN);
    let length = body[..room].iter().position(|byte| !is_body(byte)).unwrap_or(room);
    let is_closed = end == Some(length) || length < body.len();
    Some(End { from, at: from + length, is_key: 16 <= length, is_closed })
}

#[cfg(test)]
mod tests;

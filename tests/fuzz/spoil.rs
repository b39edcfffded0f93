//! Ways to spoil bytes that were good. Most of them leave the rest as it was, so that it is still read.

use proptest::prelude::*;
use serde_json::{Value, json};

/// One way. Places are parts of the whole, from 0 to 65535.
#[derive(Clone, Debug)]
pub(crate) enum Spoil {
    /// Turns one bit over.
    Flip(u16, u8),
    /// Ends here.
    Cut(u16),
    /// Leaves out a part.
    Remove(u16, u16),
    /// Puts a part of it in once more.
    Repeat(u16, u16),
    /// Goes on as another line does.
    Splice(u16, u16),
    /// Puts something in.
    Insert(u16, usize),
    /// Puts another value in the place of the nth of a line of JSON.
    Swap(u16, u16, usize),
    /// Takes away the nth member or element of a line of JSON.
    Lose(u16, u16),
}

/// What no one expects.
const INSERTS: [&[u8]; 17] = [
    b"\0",
    b"\xff\xfe",
    b"\xc3",
    b"\xf0\x9f",
    b"\r",
    b"\n",
    b"\x1b[2J",
    b"\"",
    b"\\",
    b"{",
    b"]",
    b"\\ud800",
    b"\\u0000",
    b"1e999",
    b"-0",
    b"99999999999999999999999",
    "\u{202e}\u{1f600}\u{200d}".as_bytes(),
];

/// Any of the ways.
pub(crate) fn spoils() -> impl Strategy<Value = Spoil> {
    let at = any::<u16>;
    prop_oneof![
        1 => (at(), 0..8_u8).prop_map(|(at, bit)| Spoil::Flip(at, bit)),
        1 => at().prop_map(Spoil::Cut),
        1 => (at(), 0..40_u16).prop_map(|(at, length)| Spoil::Remove(at, length)),
        1 => (at(), 0..400_u16).prop_map(|(at, length)| Spoil::Repeat(at, length)),
        1 => (at(), at()).prop_map(|(at, from)| Spoil::Splice(at, from)),
        1 => (at(), 0..INSERTS.len()).prop_map(|(at, which)| Spoil::Insert(at, which)),
        4 => (at(), at(), 0..VALUES).prop_map(|(line, at, which)| Spoil::Swap(line, at, which)),
        2 => (at(), at()).prop_map(|(line, at)| Spoil::Lose(line, at)),
    ]
}

impl Spoil {
    /// Spoils the bytes; `other` is another line of the kind.
    pub(crate) fn on(&self, mut bytes: Vec<u8>, other: &[u8]) -> Vec<u8> {
        let place = |at: u16, length: usize| usize::from(at) * length / usize::from(u16::MAX);
        let length = bytes.len();
        let (at, to) = match self {
            Self::Remove(at, count) | Self::Repeat(at, count) => {
                let at = place(*at, length);
                (at, (at + usize::from(*count)).min(length))
            }
            Self::Flip(at, _) | Self::Cut(at) | Self::Splice(at, _) | Self::Insert(at, _) => {
                (place(*at, length), length)
            }
            Self::Swap(..) | Self::Lose(..) => (0, 0),
        };
        match self {
            Self::Flip(_, bit) => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Cut(_) => bytes.truncate(at),
            Self::Remove(..) => drop(bytes.drain(at..to)),
            Self::Repeat(..) => {
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
            Self::Splice(_, from) => {
                bytes.truncate(at);
                bytes.extend_from_slice(&other[place(*from, other.len())..]);
            }
            Self::Insert(_, which) => drop(bytes.splice(at..at, INSERTS[*which].iter().copied())),
            Self::Swap(line, at, which) => {
                let value = value(*which);
                return edit(&bytes, *line, *at, &mut |place| *place = value.clone());
            }
            Self::Lose(line, at) => {
                return edit(&bytes, *line, *at, &mut |place| match place {
                    Value::Object(members) => {
                        if let Some(key) = members.keys().next().cloned() {
                            members.remove(&key);
                        }
                    }
                    Value::Array(items) => drop(items.pop()),
                    other => *other = Value::Null,
                });
            }
        }
        bytes
    }
}

/// How many values there are to put in.
const VALUES: usize = 14;

fn value(which: usize) -> Value {
    match which {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1),
        3 => json!(u64::MAX),
        4 => json!(1e308),
        5 => json!(""),
        6 => json!("x".repeat(10_000)),
        7 => json!("\u{0}\u{1b}]0;title\u{7}\n\u{1f468}\u{200d}\u{1f469}"),
        8 => json!([]),
        9 => json!([null, {"type": "text", "text": 1}]),
        10 => json!({}),
        11 => json!({"type": {"type": []}, "id": 7, "content": {}}),
        12 => json!(i64::MIN),
        _ => (0..100).fold(json!(1), |inner, _| json!([inner])),
    }
}

/// Changes the nth value of the nth line; lines that are no JSON stay.
fn edit(bytes: &[u8], line: u16, at: u16, change: &mut dyn FnMut(&mut Value)) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    // Settings are one value over many lines.
    if let Ok(mut whole) = serde_json::from_slice::<Value>(bytes) {
        let mut left = usize::from(at) % values(&whole);
        visit(&mut whole, &mut left, change);
        return whole.to_string().into_bytes();
    }
    let count = lines.len();
    let line = &mut lines[usize::from(line) % count];
    if let Ok(mut value) = serde_json::from_slice::<Value>(line) {
        let mut left = usize::from(at) % values(&value);
        visit(&mut value, &mut left, change);
        *line = value.to_string().into_bytes();
    }
    lines.join(&b'\n')
}

fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(members) => members.values().map(values).sum(),
        _ => 0,
    }
}

/// Goes through all values in order; returns whether the one that was looked for was found.
fn visit(value: &mut Value, left: &mut usize, change: &mut dyn FnMut(&mut Value)) -> bool {
    if *left == 0 {
        change(value);
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| visit(item, left, change)),
        Value::Object(members) => members.values_mut().any(|member| visit(member, left, change)),
        _ => false,
    }
}

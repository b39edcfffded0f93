//! What the terminal can show: colour, emoji, width.

pub(crate) mod fit;
pub(crate) mod full_screen;
pub(crate) mod wrap;

use std::{
    borrow::Cow,
    env,
    io::{IsTerminal, stderr, stdout},
};

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use ralph_core::{
    escapes::{is_deceptive, mark, without_escapes},
    key_mask::masked,
};
use serde::Serialize;

/// The styles of ralph's output; all empty without colour.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Palette {
    pub(crate) good: Style,
    pub(crate) bad: Style,
    pub(crate) warn: Style,
    pub(crate) accent: Style,
    pub(crate) quiet: Style,
    pub(crate) strong: Style,
}

impl Palette {
    /// The styles for a stream.
    pub(crate) fn of(when: ColorWhen, stream: &impl anstream::stream::RawStream) -> Self {
        if !when.is_on(stream) {
            return Self::default();
        }
        Self {
            good: AnsiColor::Green.on_default(),
            bad: AnsiColor::Red.on_default(),
            warn: AnsiColor::Yellow.on_default(),
            accent: AnsiColor::Cyan.on_default(),
            quiet: Style::new().dimmed(),
            strong: Style::new().bold(),
        }
    }
}

/// How wide the output is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Width {
    /// As wide as the terminal behind this stream is at the moment.
    Of(Stream),
    /// Always the same.
    Fixed(usize),
}

/// A stream that may be a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Out,
    Err,
}

impl Width {
    /// Wide enough for every line that ralph itself makes.
    const NO_TERMINAL: usize = 120;
    /// Below this nothing fits anyway.
    const NARROWEST: usize = 20;

    /// How wide a stream is; fixed when it is not a terminal.
    pub(crate) fn of(stream: Stream) -> Self {
        if is_terminal(stream) { Self::Of(stream) } else { Self::Fixed(Self::NO_TERMINAL) }
    }

    /// Where lines are to be broken: a file keeps them whole, no matter who reads it.
    pub(crate) fn room(self) -> Option<usize> {
        matches!(self, Self::Of(_)).then(|| self.columns())
    }

    /// The number of columns now; a terminal may have been resized.
    pub(crate) fn columns(self) -> usize {
        let size = match self {
            Self::Fixed(columns) => return columns,
            Self::Of(Stream::Out) => rustix::termios::tcgetwinsize(stdout()),
            Self::Of(Stream::Err) => rustix::termios::tcgetwinsize(stderr()),
        };
        // A terminal that does not know its size (a serial line) says 0.
        let columns = size.map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { 80 } else { columns.max(Self::NARROWEST) }
    }
}

/// Whether a person looks at the stream.
pub(crate) fn is_terminal(stream: Stream) -> bool {
    match stream {
        Stream::Out => stdout().is_terminal(),
        Stream::Err => stderr().is_terminal(),
    }
}

/// Whether the terminal understands how to erase a line.
pub(crate) fn can_erase(stream: Stream) -> bool {
    is_terminal(stream) && env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Whether the locale can show more than ASCII. Where no locale is set at all (containers, services), what
/// shows ralph's output is taken to be of this century.
pub(crate) fn shows_unicode() -> bool {
    let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
    set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).is_none_or(|locale| is_utf8(&locale))
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// Text of an agent as it may be shown: no keys, no sequences that colour it, move the cursor or rename the window, no other control
/// characters, and what turns the direction of reading as a mark.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    match masked(text) {
        Cow::Borrowed(text) => harmless(text),
        Cow::Owned(text) => harmless(&text).into_owned().into(),
    }
}

fn harmless(text: &str) -> Cow<'_, str> {
    let is_control = |c: char| c.is_control() && c != '\n' && c != '\t';
    let is_harmful = |c: char| is_control(c) || is_deceptive(c);
    // Control characters are below the space, DEL, or two bytes that begin with C2; the deceptive ones begin with D8 or E2.
    // Whole blocks are checked without a way out in between, because then the compiler can compare many bytes at once.
    let is_suspect = |byte: &u8| {
        (*byte < b' ' && *byte != b'\n' && *byte != b'\t') || matches!(*byte, 0x7f | 0xc2 | 0xd8 | 0xe2)
    };
    let has_suspect = |block: &[u8]| block.iter().fold(false, |found, byte| found | is_suspect(byte));
    if text.as_bytes().chunks(256).any(has_suspect) && text.chars().any(is_harmful) {
        let mut shown = String::with_capacity(text.len());
        for c in without_escapes(text).chars().filter(|c| *c != '\r') {
            match c {
                _ if is_deceptive(c) => shown.push_str(&mark(c)),
                _ if is_control(c) => shown.push('\u{fffd}'),
                _ => shown.push(c),
            }
        }
        shown.into()
    } else {
        text.into()
    }
}

/// When there is colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

impl ColorWhen {
    /// Every choice with the name that settings use.
    pub(crate) const NAMES: [(&str, Self); 3] =
        [("auto", Self::Auto), ("always", Self::Always), ("never", Self::Never)];

    /// Whether there is colour on a stream.
    pub(crate) fn is_on(self, stream: &impl anstream::stream::RawStream) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        for padding in [0, 200, 253, 254, 255, 256, 1000] {
            let padding = "x".repeat(padding);
            assert_eq!(printable(&format!("{padding}{text}")), format!("{padding}{expected}"));
        }
    }

    #[test]
    fn a_locale_names_its_characters() {
        for (locale, expected) in
            [("C.UTF-8", true), ("de_DE.utf8", true), ("C", false), ("POSIX", false), ("de_DE@euro", false)]
        {
            assert_eq!(is_utf8(locale), expected, "{locale}");
        }
    }

    #[test]
    fn control_characters_are_replaced() {
        check("a\u{202e}b — c\u{2028}d", "a‹U+202E›b — c‹U+2028›d");
        check("", "");
        check("größe\t“x”\n§ 1 😀", "größe\t“x”\n§ 1 😀");
        check("a\u{1b}[2Jb\u{1b}(B", "ab");
        check("a\u{1b}]0;title\u{7}b", "ab");
        check("a\0b\u{7f}c", "a\u{fffd}b\u{fffd}c");
        check("\u{9b}31mred", "red");
        check("one\r\ntwo\u{7}", "one\ntwo\u{fffd}");
        check(&format!(" ghp_{}\u{7}", "a1".repeat(18)), " ghp_***\u{fffd}");
    }
}

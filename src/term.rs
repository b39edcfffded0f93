//! What the terminal can show: colour, emoji, width.

use std::io::{IsTerminal, stderr};

use anstyle::{AnsiColor, Style};

use crate::settings::ColorWhen;

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
        let colored = match when {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never,
        };
        if !colored {
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

/// How many columns standard error has; 100 when it is not a terminal.
pub(crate) fn width() -> usize {
    let size = stderr().is_terminal().then(|| rustix::termios::tcgetwinsize(stderr()).ok()).flatten();
    size.map_or(100, |size| usize::from(size.ws_col)).max(20)
}

/// Text of an agent as it may be shown: no control sequences that move the cursor or rename the window.
pub(crate) fn printable(text: &str) -> std::borrow::Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && c != '\n' && c != '\t';
    // Control characters are below the space, DEL, or two bytes that begin with C2. Whole blocks are checked
    // without a way out in between, because then the compiler can compare many bytes at once.
    let is_suspect =
        |byte: &u8| (*byte < b' ' && *byte != b'\n' && *byte != b'\t') || *byte == 0x7f || *byte == 0xc2;
    let has_suspect = |block: &[u8]| block.iter().fold(false, |found, byte| found | is_suspect(byte));
    if text.as_bytes().chunks(256).any(has_suspect) && text.chars().any(is_harmful) {
        text.chars()
            .filter(|c| *c != '\r')
            .map(|c| if is_harmful(c) { '\u{fffd}' } else { c })
            .collect::<String>()
            .into()
    } else {
        text.into()
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
    fn control_characters_are_replaced() {
        check("", "");
        check("größe\t“x”\n§ 1 😀", "größe\t“x”\n§ 1 😀");
        check("a\u{1b}[2Jb", "a\u{fffd}[2Jb");
        check("a\0b\u{7f}c", "a\u{fffd}b\u{fffd}c");
        check("\u{9b}31m", "\u{fffd}31m");
        check("one\r\ntwo\u{7}", "one\ntwo\u{fffd}");
    }
}

//! How a person wants to see a run.

use jiff::tz::TimeZone;

use crate::term::{Palette, Width};

/// What a person wants to see.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct ReportStyle {
    pub(crate) palette: Palette,
    pub(crate) marks: Marks,
    pub(crate) width: Width,
    /// The agent's own stream.
    pub(crate) stream: bool,
    pub(crate) verbose: bool,
    /// Only what is wrong.
    pub(crate) quiet: bool,
    /// A line at the bottom that says what happens at the moment.
    pub(crate) live: bool,
    /// The end of the run on standard output.
    pub(crate) summary: bool,
    /// The time before each line, in this zone.
    pub(crate) timestamps: Option<TimeZone>,
    /// Lines of a tool's output.
    pub(crate) max_lines: usize,
    /// Characters of a tool's output.
    pub(crate) max_chars: usize,
}

impl ReportStyle {
    /// For a log: everything the agent does, without colour.
    pub(crate) fn of_a_file() -> Self {
        Self {
            palette: Palette::default(),
            marks: Marks::EMOJI,
            width: Width::Fixed(120),
            stream: true,
            verbose: false,
            quiet: false,
            live: false,
            summary: false,
            timestamps: None,
            max_lines: 20,
            max_chars: 2000,
        }
    }
}

/// The signs before a line and in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub(crate) tool: &'static str,
    pub(crate) good: &'static str,
    pub(crate) bad: &'static str,
    pub(crate) warning: &'static str,
    pub(crate) output: &'static str,
    pub(crate) todo: &'static str,
    pub(crate) active: &'static str,
    pub(crate) pending: &'static str,
    pub(crate) progress: &'static str,
    /// Points back to what a line belongs to.
    pub(crate) arrow: &'static str,
    /// Between facts.
    pub(crate) dot: &'static str,
    /// Many of them are a rule.
    pub(crate) rule: &'static str,
    /// Something goes on.
    pub(crate) running: &'static str,
}

impl Marks {
    /// With pictures.
    pub(crate) const EMOJI: Self = Self {
        tool: "⏺",
        good: "✅",
        bad: "❌",
        warning: "⚠️",
        output: "⎿ ",
        todo: "📋",
        active: "🔄",
        pending: "⏸️",
        progress: "📊",
        arrow: "←",
        dot: " · ",
        rule: "─",
        running: "●",
    };
    /// For people who do not like them.
    pub(crate) const PLAIN: Self = Self {
        tool: "*",
        good: "[OK]",
        bad: "[ERR]",
        warning: "[WARN]",
        output: "|",
        todo: "[TODO]",
        active: "[>]",
        pending: "[ ]",
        progress: "[=]",
        ..Self::EMOJI
    };
    /// For terminals that know no others.
    pub(crate) const ASCII: Self = Self { arrow: "<-", dot: " - ", rule: "-", running: "*", ..Self::PLAIN };

    /// The signs that the settings ask for, or those that the locale can show.
    pub(crate) fn of(emoji: Option<bool>) -> Self {
        match emoji {
            Some(true) => Self::EMOJI,
            Some(false) if crate::term::shows_unicode() => Self::PLAIN,
            None if crate::term::shows_unicode() => Self::EMOJI,
            Some(false) | None => Self::ASCII,
        }
    }
}

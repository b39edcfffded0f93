//! How a person wants to see a run.

use crate::term::Palette;

/// What a person wants to see.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(crate) struct Look {
    pub(crate) palette: Palette,
    pub(crate) marks: Marks,
    /// The agent's own stream.
    pub(crate) stream: bool,
    pub(crate) verbose: bool,
    /// The end of the run on standard output.
    pub(crate) summary: bool,
    /// The time before each line.
    pub(crate) timestamps: bool,
    /// Lines of a tool's output.
    pub(crate) max_lines: usize,
    /// Characters of a tool's output.
    pub(crate) max_chars: usize,
}

/// The signs before a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Marks {
    pub(super) tool: &'static str,
    pub(super) good: &'static str,
    pub(super) bad: &'static str,
    pub(super) output: &'static str,
    pub(super) todo: &'static str,
    pub(super) active: &'static str,
    pub(super) pending: &'static str,
    pub(super) progress: &'static str,
}

impl Marks {
    /// With pictures.
    pub(crate) const EMOJI: Self = Self {
        tool: "⏺",
        good: "✅",
        bad: "❌",
        output: "⎿ ",
        todo: "📋",
        active: "🔄",
        pending: "⏸️",
        progress: "📊",
    };
    /// For terminals and logs without them.
    pub(crate) const PLAIN: Self = Self {
        tool: "*",
        good: "[OK]",
        bad: "[ERR]",
        output: "|",
        todo: "[TODO]",
        active: "[>]",
        pending: "[ ]",
        progress: "[=]",
    };
}

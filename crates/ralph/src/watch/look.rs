//! Colours and signs of the screen. Everything can be told apart without colour, and without more than ASCII.

use ralph_core::view::{GateDot, Standing, TaskState, TurnMark};
use ratatui::style::{Color, Modifier, Style};

/// How the screen looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) good: Style,
    pub(super) bad: Style,
    pub(super) warn: Style,
    pub(super) accent: Style,
    pub(super) quiet: Style,
    pub(super) strong: Style,
    /// What is selected, or asks for something.
    pub(super) marked: Style,
    pub(super) signs: Signs,
}

/// The signs that terminals can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    pub(super) running: &'static str,
    pub(super) needs: &'static str,
    pub(super) good: &'static str,
    pub(super) bad: &'static str,
    pub(super) judge: &'static str,
    pub(super) partly: &'static str,
    pub(super) none: &'static str,
    pub(super) rule: &'static str,
    pub(super) dot: &'static str,
    pub(super) here: &'static str,
    pub(super) bar: &'static str,
}

impl Signs {
    const UNICODE: Self = Self {
        running: "●",
        needs: "▲",
        good: "✓",
        bad: "✗",
        judge: "◆",
        partly: "◐",
        none: "·",
        rule: "─",
        dot: " · ",
        here: "▸",
        bar: "█",
    };

    const ASCII: Self = Self {
        running: "*",
        needs: "!",
        good: "+",
        bad: "x",
        judge: "#",
        partly: "o",
        none: ".",
        rule: "-",
        dot: " - ",
        here: ">",
        bar: "=",
    };
}

impl Look {
    /// With or without colour, with or without more than ASCII.
    pub(super) fn new(is_coloured: bool, is_unicode: bool) -> Self {
        let style = |color: Color| if is_coloured { Style::new().fg(color) } else { Style::new() };
        let strong = Style::new().add_modifier(Modifier::BOLD);
        Self {
            good: style(Color::Green),
            bad: style(Color::Red),
            warn: style(Color::Yellow),
            accent: style(Color::Cyan),
            quiet: Style::new().add_modifier(Modifier::DIM),
            strong,
            marked: Style::new().add_modifier(Modifier::REVERSED),
            signs: if is_unicode { Signs::UNICODE } else { Signs::ASCII },
        }
    }

    /// The sign of a run that stands so.
    pub(super) fn standing(&self, standing: Standing) -> (&'static str, Style) {
        match standing {
            Standing::Running => (self.signs.running, self.accent),
            Standing::Paused => (self.signs.partly, self.warn),
            Standing::Complete => (self.signs.good, self.good),
            Standing::Findings | Standing::Stopped | Standing::Killed | Standing::Limit => {
                (self.signs.needs, self.warn)
            }
            Standing::Interrupted => (self.signs.none, self.quiet),
            Standing::Unready | Standing::GaveUp => (self.signs.bad, self.bad),
        }
    }

    /// What a gate said.
    pub(super) fn dot(&self, dot: GateDot) -> (&'static str, Style) {
        match dot {
            GateDot::Unchecked => (self.signs.none, self.quiet),
            GateDot::Running => (self.signs.partly, self.accent),
            GateDot::Passed => (self.signs.running, self.good),
            GateDot::Failed => (self.signs.bad, self.bad),
            GateDot::FailedInJudge => (self.signs.judge, self.bad),
        }
    }

    /// How bad it is what a gate said: the worst of several is shown for all.
    pub(super) fn severity(dot: GateDot) -> u8 {
        match dot {
            GateDot::Unchecked => 0,
            GateDot::Passed => 1,
            GateDot::Running => 2,
            GateDot::Failed => 3,
            GateDot::FailedInJudge => 4,
        }
    }

    /// How far a story is.
    pub(super) fn task(&self, state: TaskState) -> (&'static str, Style) {
        match state {
            TaskState::Open => (self.signs.none, self.quiet),
            TaskState::InReview => (self.signs.partly, self.accent),
            TaskState::SentBack => (self.signs.bad, self.bad),
            TaskState::Done => (self.signs.good, self.good),
            TaskState::ForPerson => (self.signs.needs, self.warn),
        }
    }

    /// How a turn went.
    pub(super) fn turn(&self, mark: TurnMark) -> (&'static str, Style) {
        match mark {
            TurnMark::Open => (self.signs.running, self.accent),
            TurnMark::Finished => (self.signs.good, self.good),
            TurnMark::Paused => (self.signs.needs, self.warn),
            TurnMark::Failed => (self.signs.bad, self.bad),
            TurnMark::Ended => (self.signs.none, self.quiet),
        }
    }
}

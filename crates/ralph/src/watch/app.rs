//! What is on the screen, and what a key does to it. Values in, values out: the loop around it reads and draws.

pub(super) mod keys;

use jiff::Timestamp;
use ralph_core::view::{ShownRun, Standing};

use crate::live::Overview;

/// What is shown of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tab {
    #[default]
    Now,
    Gates,
    Tasks,
    Diff,
    Spend,
    Findings,
}

impl Tab {
    /// All, in the order of their keys.
    pub(super) const ALL: [Self; 6] =
        [Self::Now, Self::Gates, Self::Tasks, Self::Diff, Self::Spend, Self::Findings];

    /// The one that many further.
    fn stepped(self, by: usize) -> Self {
        let at = Self::ALL.iter().position(|it| *it == self).unwrap_or(0);
        Self::ALL[(at + by) % Self::ALL.len()]
    }
}

/// Where keys go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum InputMode {
    /// Every key is a command.
    #[default]
    Keys,
    /// The keys are shown.
    Help,
    /// A text is typed.
    Typing(Question, String),
    /// A person is asked before something is done.
    Asking(RunAct),
    /// The run was started for this screen: what becomes of it?
    Leaving,
}

/// What a text is typed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Search,
    Filter,
    Say,
    Reject,
}

/// What is done to a run, by the command of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunAct {
    Stop,
    Resume,
    Pause,
    Accept,
    Reject(String),
    Say(String),
}

impl RunAct {
    /// What would be typed for it.
    pub(super) fn args(&self, id: &str) -> Vec<String> {
        let words: Vec<&str> = match self {
            Self::Stop => vec!["stop", id],
            Self::Resume => vec!["resume", id],
            Self::Pause => vec!["pause", id],
            Self::Accept => vec!["accept", id],
            Self::Reject(why) => vec!["reject", id, why],
            Self::Say(text) => vec!["say", id, text],
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// What a person is asked before it is done.
    pub(super) fn question(&self) -> String {
        match self {
            Self::Stop => "stop the run after the running operation?".to_owned(),
            Self::Resume => "resume the run in the background? it costs what its turns cost".to_owned(),
            Self::Pause => "pause the run after its turn?".to_owned(),
            Self::Accept => "accept the findings and take the work as it is?".to_owned(),
            Self::Reject(why) => format!("send the work back: “{why}”?"),
            Self::Say(text) => format!("tell the agent: “{text}”?"),
        }
    }

    /// Whether it makes sense for a run that stands so.
    pub(super) fn fits(&self, standing: Standing) -> bool {
        match self {
            Self::Pause => standing == Standing::Running,
            Self::Stop | Self::Say(_) => matches!(standing, Standing::Running | Standing::Paused),
            Self::Resume => {
                standing == Standing::Paused || (standing.can_go_on() && standing != Standing::Findings)
            }
            Self::Accept | Self::Reject(_) => standing == Standing::Findings,
        }
    }
}

/// What the loop around has to do after a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Leave the screen.
    Quit,
    /// Call ralph with these words and say what it answers.
    Call(Vec<String>),
    /// The same, and it goes on without this screen.
    Start(Vec<String>),
    /// Show the run of this id.
    Open(String),
    /// Show the text without frames, for the terminal's own selection.
    Plain,
    /// Have the terminal report the mouse, or not.
    Mouse(bool),
}

/// What the difference is that a run has made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Diff {
    /// No one has asked.
    #[default]
    Unknown,
    /// It is being put together.
    Loading,
    /// Its lines, or why there are none.
    Lines(Vec<String>),
}

/// Everything that is shown.
#[derive(Default)]
pub(super) struct App {
    /// The run that is looked at.
    pub(super) run: Option<ShownRun>,
    pub(super) overview: Overview,
    /// Whether the list of runs is in front, where there is no room beside it.
    pub(super) is_list: bool,
    /// The run that is selected in the list, by its id.
    pub(super) selected: Option<String>,
    pub(super) tab: Tab,
    /// How far the tab is scrolled: from its end in the stream, from its beginning elsewhere.
    pub(super) scroll: usize,
    pub(super) mode: InputMode,
    pub(super) search: String,
    pub(super) filter: String,
    /// The line of the stream that the search is at, by its number.
    pub(super) found: Option<u64>,
    /// What was said last about a key, and whether it is bad news.
    pub(super) message: Option<(String, bool)>,
    pub(super) diff: Diff,
    pub(super) has_mouse: bool,
    /// Whether the run was started for this screen.
    pub(super) is_own: bool,
    pub(super) now: Timestamp,
    /// How many rows the body had when it was drawn last.
    pub(super) page: usize,
    pub(super) columns: usize,
}

impl App {
    /// Shows this moment of the run.
    pub(super) fn show(&mut self, run: ShownRun) {
        let is_other = self.run.as_ref().is_none_or(|known| known.id != run.id);
        if is_other {
            (self.scroll, self.found, self.diff) = (0, None, Diff::Unknown);
            self.selected = Some(run.id.clone());
        } else if 0 < self.scroll && self.tab == Tab::Now {
            // Who scrolls back stays where they are while more is said.
            let last = |run: &ShownRun| run.stream.last().map_or(0, |line| line.number);
            let more = self.run.as_ref().map_or(0, |known| last(&run).saturating_sub(last(known)));
            self.scroll = self.scroll.saturating_add(usize::try_from(more).unwrap_or(0));
        }
        self.run = Some(run);
    }

    /// Shows these runs. The selection stays with its run.
    pub(super) fn list(&mut self, overview: Overview) {
        self.overview = overview;
        let is_there = |id: &String| self.overview.runs.iter().any(|run| run.id == *id);
        if !self.selected.as_ref().is_some_and(is_there) {
            self.selected = self.overview.runs.first().map(|run| run.id.clone());
        }
    }

    /// Where in the list the selection is.
    pub(super) fn selection(&self) -> usize {
        let is_selected = |run: &ShownRun| self.selected.as_ref() == Some(&run.id);
        self.overview.runs.iter().position(is_selected).unwrap_or(0)
    }

    /// The lines of the stream that the filter lets through, oldest first.
    pub(super) fn stream(&self) -> Vec<&ralph_core::view::ShownLine> {
        let wanted = self.filter.to_lowercase();
        let lines = self.run.iter().flat_map(|run| &run.stream);
        lines.filter(|line| wanted.is_empty() || line.text.to_lowercase().contains(&wanted)).collect()
    }

    /// Whether a screen of this width shows the list beside the run.
    pub(super) fn has_sidebar(&self) -> bool {
        120 <= self.columns && 1 < self.overview.runs.len() + self.overview.fleets.len()
    }
}

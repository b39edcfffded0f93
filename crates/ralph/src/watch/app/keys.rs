//! What each key does.

use ralph_core::view::Standing;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseEvent, MouseEventKind};

use super::{App, Effect, InputMode, Question, RunAct, Tab};

/// As far as the wheel of a mouse scrolls.
const WHEEL_STEP: usize = 3;
/// As long as a text may be that is typed, in characters.
const MAX_TYPED_LEN: usize = 2000;

/// Every key with what it does, as the help shows it.
pub(in crate::watch) const KEYS: [(&str, &str); 19] = [
    ("1 … 6, Tab", "now, guardrails, stories or queue, diff, spend, findings"),
    ("↑ ↓, j k", "scroll a line"),
    ("PgUp PgDn, Space", "scroll a page"),
    ("Home End, g G", "the beginning; the end, which follows the run"),
    ("l", "the list of runs and lanes, and back"),
    ("Enter", "open the run that is selected in the list"),
    ("/", "search in the stream; n next match, N the one before"),
    ("f", "only lines of the stream with a text; Esc shows all"),
    ("c", "plain text without frames, to select and copy"),
    ("m", "the mouse wheel scrolls, or selects text again"),
    ("s", "stop the run after the running operation (asks)"),
    ("p", "pause the run after its turn"),
    ("r", "resume the run in the background (asks)"),
    ("y", "say something to the agent: a note for its next turn"),
    ("a", "accept the findings (asks)"),
    ("x", "reject the findings, with a reason"),
    ("Ctrl-L", "draw the screen again"),
    ("?", "these keys"),
    ("q, Ctrl-C", "leave; the run continues"),
];

impl App {
    /// Takes in a key; returns what is to be done about it.
    pub(in crate::watch) fn key(&mut self, key: KeyEvent) -> Option<Effect> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return self.leave();
        }
        if is_control {
            return None;
        }
        match std::mem::take(&mut self.mode) {
            InputMode::Keys => {
                self.message = None;
                self.command(key.code)
            }
            InputMode::Help => None,
            InputMode::Typing(question, text) => self.typed(question, text, key.code),
            InputMode::Asking(act) => match key.code {
                KeyCode::Char('y' | 'Y') | KeyCode::Enter => self.act(&act),
                _ => {
                    self.message = Some(("nothing was done".to_owned(), false));
                    None
                }
            },
            InputMode::Leaving => match key.code {
                KeyCode::Char('q') | KeyCode::Enter => Some(Effect::Quit),
                KeyCode::Char('s') => {
                    self.mode = InputMode::Asking(RunAct::Stop);
                    None
                }
                _ => None,
            },
        }
    }

    /// Takes in what the mouse did.
    pub(in crate::watch) fn mouse(&mut self, mouse: MouseEvent) {
        match mouse.kind {
            MouseEventKind::ScrollUp => self.scroll(Step::Back(WHEEL_STEP)),
            MouseEventKind::ScrollDown => self.scroll(Step::On(WHEEL_STEP)),
            _ => {}
        }
    }

    fn leave(&mut self) -> Option<Effect> {
        let is_running = self.run.as_ref().is_some_and(|run| RunAct::Stop.fits(run.standing));
        if self.is_own && is_running && self.mode != InputMode::Leaving {
            self.mode = InputMode::Leaving;
            return None;
        }
        Some(Effect::Quit)
    }

    fn command(&mut self, key: KeyCode) -> Option<Effect> {
        match key {
            KeyCode::Char('q') => return self.leave(),
            KeyCode::Char('?') | KeyCode::F(1) => self.mode = InputMode::Help,
            KeyCode::Char(digit @ '1'..='6') => self.turn_to(Tab::ALL[digit as usize - '1' as usize]),
            KeyCode::Tab | KeyCode::Right => self.turn_to(self.tab.stepped(1)),
            KeyCode::BackTab | KeyCode::Left => self.turn_to(self.tab.stepped(Tab::ALL.len() - 1)),
            KeyCode::Up | KeyCode::Char('k') => self.scroll(Step::Back(1)),
            KeyCode::Down | KeyCode::Char('j') => self.scroll(Step::On(1)),
            KeyCode::PageUp => self.scroll(Step::Back(self.page.max(2) - 1)),
            KeyCode::PageDown | KeyCode::Char(' ') => self.scroll(Step::On(self.page.max(2) - 1)),
            KeyCode::Home | KeyCode::Char('g') => self.scroll(Step::First),
            KeyCode::End | KeyCode::Char('G') => self.scroll(Step::Last),
            KeyCode::Char('l') => self.is_list = !self.is_list,
            KeyCode::Enter if self.is_list => {
                self.is_list = false;
                return self.selected.clone().map(Effect::Open);
            }
            KeyCode::Char('/') => self.ask(Question::Search),
            KeyCode::Char('f') => self.ask(Question::Filter),
            KeyCode::Char('n') => self.find(Direction::Down),
            KeyCode::Char('N') => self.find(Direction::Up),
            KeyCode::Char('c') => return Some(Effect::Plain),
            KeyCode::Char('m') => {
                self.has_mouse = !self.has_mouse;
                return Some(Effect::Mouse(self.has_mouse));
            }
            KeyCode::Char('s') => self.want(RunAct::Stop),
            KeyCode::Char('r') => self.want(RunAct::Resume),
            KeyCode::Char('a') => self.want(RunAct::Accept),
            KeyCode::Char('p') if self.allows(&RunAct::Pause) => return self.act(&RunAct::Pause),
            KeyCode::Char('y') if self.allows(&RunAct::Say(String::new())) => self.ask(Question::Say),
            KeyCode::Char('x') if self.allows(&RunAct::Reject(String::new())) => self.ask(Question::Reject),
            KeyCode::Esc => self.clear(),
            _ => {}
        }
        None
    }

    fn turn_to(&mut self, tab: Tab) {
        (self.tab, self.scroll, self.is_list) = (tab, 0, false);
    }

    fn ask(&mut self, question: Question) {
        self.mode = InputMode::Typing(question, String::new());
    }

    fn clear(&mut self) {
        self.filter.clear();
        self.search.clear();
        (self.found, self.scroll, self.is_list) = (None, 0, false);
    }

    /// Whether that can be done to the run; says why not.
    fn allows(&mut self, act: &RunAct) -> bool {
        let Some(run) = &self.run else { return false };
        let fits = act.fits(run.standing);
        if !fits {
            let word = act.args(&run.id)[0].clone();
            self.message = Some((format!("{word} does not fit: the run is {}", run.standing.word()), true));
        }
        fits
    }

    fn want(&mut self, act: RunAct) {
        if self.allows(&act) {
            self.mode = InputMode::Asking(act);
        }
    }

    fn act(&mut self, act: &RunAct) -> Option<Effect> {
        let run = self.run.as_ref()?;
        let args = act.args(&run.id);
        // A paused run has its process, which goes on by itself.
        let begins = *act == RunAct::Resume && run.standing != Standing::Paused;
        Some(if begins { Effect::Start(args) } else { Effect::Call(args) })
    }

    fn typed(&mut self, question: Question, mut text: String, key: KeyCode) -> Option<Effect> {
        match key {
            KeyCode::Esc => return None,
            KeyCode::Enter => return self.answered(question, text.trim()),
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(c) if text.chars().count() < MAX_TYPED_LEN => text.push(c),
            _ => {}
        }
        self.mode = InputMode::Typing(question, text);
        None
    }

    fn answered(&mut self, question: Question, text: &str) -> Option<Effect> {
        match question {
            Question::Search => {
                (self.search, self.found) = (text.to_owned(), None);
                self.turn_to(Tab::Now);
                self.find(Direction::Up);
                None
            }
            Question::Filter => {
                text.clone_into(&mut self.filter);
                self.turn_to(Tab::Now);
                None
            }
            Question::Say | Question::Reject if text.is_empty() => None,
            Question::Say => self.act(&RunAct::Say(text.to_owned())),
            Question::Reject => {
                self.mode = InputMode::Asking(RunAct::Reject(text.to_owned()));
                None
            }
        }
    }

    fn scroll(&mut self, step: Step) {
        if self.is_list {
            return self.select(step);
        }
        // The stream is counted from its end: 0 follows.
        let step = if self.tab == Tab::Now { step.reversed() } else { step };
        self.scroll = match step {
            Step::Back(rows) => self.scroll.saturating_sub(rows),
            Step::On(rows) => self.scroll.saturating_add(rows),
            Step::First => 0,
            Step::Last => usize::MAX,
        };
    }

    fn select(&mut self, step: Step) {
        let last = self.overview.runs.len().saturating_sub(1);
        let at = match step {
            Step::Back(rows) => self.selection().saturating_sub(rows),
            Step::On(rows) => self.selection().saturating_add(rows).min(last),
            Step::First => 0,
            Step::Last => last,
        };
        self.selected = self.overview.runs.get(at).map(|run| run.id.clone());
    }

    /// Goes to the next line of the stream that has what is searched for.
    fn find(&mut self, direction: Direction) {
        if self.search.is_empty() {
            return;
        }
        let wanted = self.search.to_lowercase();
        let lines = self.stream();
        let has_it = |at: &usize| lines[*at].text.to_lowercase().contains(&wanted);
        let from = self.found.and_then(|number| lines.iter().position(|line| line.number == number));
        let found = match direction {
            Direction::Up => (0..from.unwrap_or(lines.len())).rev().find(has_it),
            Direction::Down => (from.map_or(0, |at| at + 1)..lines.len()).find(has_it),
        };
        match found {
            Some(at) => {
                let (number, below) = (lines[at].number, lines.len() - 1 - at);
                (self.found, self.scroll) = (Some(number), below.saturating_sub(self.page / 2));
            }
            None => self.message = Some((format!("no more “{}”", self.search), false)),
        }
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

#[derive(Clone, Copy)]
enum Step {
    Back(usize),
    On(usize),
    First,
    Last,
}

impl Step {
    fn reversed(self) -> Self {
        match self {
            Self::Back(rows) => Self::On(rows),
            Self::On(rows) => Self::Back(rows),
            Self::First => Self::Last,
            Self::Last => Self::First,
        }
    }
}

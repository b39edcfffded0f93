//! Takes in what an agent prints during a turn.

use std::{borrow::Cow, collections::HashMap};

use ralph_agents::{
    Adapter, AgentEvent, Parser, Usage,
    turn::{HookedTool, Tally},
};
use ralph_core::{
    claim::{Claim, Scanner, echo::Echo},
    engine::{budget::is_metered, outcome::Exhausted},
};
use ralph_sys::process::Control;

use super::{
    last_lines::LastLines,
    ledger::Ledger,
    requests::{self, Wish},
};
use crate::journal::run_dir::RunDir;

/// As much of an answer is kept, in bytes.
const MAX_WORDS_LEN: usize = 256 * 1024;

/// Takes in what an agent prints during a turn.
pub(super) struct Listener {
    parser: Box<dyn Parser>,
    adapter: &'static dyn Adapter,
    /// Tool calls on their way that a hook comes before, with the tools' names.
    hooked: HashMap<String, String>,
    pub(super) structured: bool,
    pub(super) tally: Tally,
    pub(super) scanner: Scanner,
    /// For agents that do not mark which words are theirs.
    echo: Option<Echo>,
    /// The end of its own words, where they are an answer.
    pub(super) words: Option<String>,
    /// What they answer.
    pub(super) question: String,
    /// The end of what it said to people: on standard error, or as text among its events.
    last_lines: LastLines,
    /// Its last result was heard before the stream ended, and nothing was used after it.
    pub(super) has_result: bool,
    /// The budget that the turn has used up.
    pub(super) over: Option<Exhausted>,
    /// A person wants to be heard first: the turn has to end.
    pub(super) is_cut_short: bool,
}

impl Listener {
    pub(super) fn new(adapter: &'static dyn Adapter, claims: &[Claim], prompt: &str) -> Self {
        Self {
            parser: adapter.parser(),
            adapter,
            hooked: HashMap::new(),
            structured: adapter.is_structured(),
            tally: Tally::default(),
            scanner: Scanner::new(claims),
            echo: (!adapter.is_structured()).then(|| Echo::of(prompt)),
            words: None,
            question: String::new(),
            last_lines: LastLines::default(),
            has_result: false,
            over: None,
            is_cut_short: false,
        }
    }

    /// Keeps the agent's own words: they answer this.
    pub(super) fn answering(mut self, question: &str) -> Self {
        (self.words, self.question) = (Some(String::new()), question.to_owned());
        self
    }

    /// Takes the next bytes of standard error and shows the lines that they complete.
    pub(super) fn on_complaint(&mut self, bytes: &[u8], show: &mut dyn FnMut(&str)) -> Control {
        self.last_lines.push(bytes, show);
        Control::Noise
    }

    /// Takes the next bytes of standard output and shows the events in them.
    pub(super) fn on_output(&mut self, bytes: &[u8], show: &mut dyn FnMut(&AgentEvent)) -> Control {
        let mut heard = Control::Something;
        let Self { parser, adapter, hooked, tally, scanner, echo, words, last_lines, .. } = self;
        parser.push(bytes, &mut |event| {
            take(tally, scanner, echo, words, &event);
            last_lines.take(&event);
            tally.hooked_tools.extend(passed_hook(*adapter, hooked, &event));
            if matches!(event, AgentEvent::Result(_)) {
                heard = Control::Result;
            }
            show(&event);
        });
        let has_begun = !self.structured || 0 < self.tally.recognised;
        if has_begun { heard } else { Control::Noise }
    }

    /// Time has passed: a person may have asked for something.
    pub(super) fn time_passed(&mut self, ledger: &mut Ledger, dir: &RunDir) -> Control {
        ledger.tick();
        self.is_cut_short |= requests::take(ledger, dir) == Wish::HearNow;
        if self.is_cut_short { Control::Enough } else { Control::Something }
    }

    /// Begins to count anew: another turn of the same process.
    pub(super) fn renew(&mut self, claims: &[Claim]) -> Tally {
        self.scanner = Scanner::new(claims);
        std::mem::take(&mut self.tally)
    }

    /// The stream has ended.
    pub(super) fn finish(&mut self, show: &mut dyn FnMut(&AgentEvent)) {
        self.has_result = 0 < self.tally.results && !is_metered(&self.running());
        let Self { parser, tally, scanner, echo, words, last_lines, .. } = self;
        parser.finish(&mut |event| {
            last_lines.take(&event);
            take(tally, scanner, echo, words, &event);
            show(&event);
        });
        if let Some(echo) = echo {
            let rest = echo.finish();
            hear(words, &rest, true);
            scanner.push(&rest, true);
        }
    }

    /// Whether the agent came to the end of what it had to say. A stream of events has a result then; what is cut off
    /// before it may lack the word that takes a claim back.
    pub(super) fn is_whole(&self) -> bool {
        !self.structured || 0 < self.tally.results
    }

    /// What was used since the last result, as far as the stream says it.
    pub(super) fn running(&self) -> Usage {
        self.parser.running()
    }

    /// The last lines of what it said to people.
    pub(super) fn last_lines(&self) -> Vec<String> {
        self.last_lines.lines()
    }
}

/// The tool call that has ended well, if a hook comes before it.
fn passed_hook(
    adapter: &dyn Adapter,
    running: &mut HashMap<String, String>,
    event: &AgentEvent,
) -> Option<HookedTool> {
    match event {
        AgentEvent::ToolStart { id, name, .. } if adapter.is_hooked(id, name) => {
            running.insert(id.clone(), name.clone());
            None
        }
        AgentEvent::ToolEnd { id, ok, .. } => {
            running.remove(id).filter(|_| *ok).map(|name| HookedTool { id: id.clone(), name })
        }
        _ => None,
    }
}

/// Keeps the end of what an agent says, where that is an answer.
fn hear(words: &mut Option<String>, text: &str, joins: bool) {
    let Some(words) = words else { return };
    if !joins {
        words.push('\n');
    }
    words.push_str(text);
    if 2 * MAX_WORDS_LEN < words.len() {
        words.drain(..words.floor_char_boundary(words.len() - MAX_WORDS_LEN));
    }
}

/// Only the agent's own words can claim anything.
fn take(
    tally: &mut Tally,
    scanner: &mut Scanner,
    echo: &mut Option<Echo>,
    words: &mut Option<String>,
    event: &AgentEvent,
) {
    tally.take(event);
    match event {
        AgentEvent::Text { text, joins } => {
            let own = match echo {
                Some(echo) => Cow::Owned(echo.strip(text)),
                None => Cow::Borrowed(text.as_str()),
            };
            hear(words, &own, *joins);
            scanner.push(&own, *joins);
        }
        AgentEvent::Result(result) => {
            if let Some(text) = &result.text {
                hear(words, text, false);
                scanner.push(text, false);
            }
        }
        AgentEvent::Started { .. }
        | AgentEvent::Subagent { .. }
        | AgentEvent::Judged
        | AgentEvent::ToolStart { .. }
        | AgentEvent::ToolEnd { .. }
        | AgentEvent::Todo { .. }
        | AgentEvent::Progress { .. }
        | AgentEvent::Limit(_)
        | AgentEvent::Stray { .. }
        | AgentEvent::Unknown { .. } => {}
    }
}

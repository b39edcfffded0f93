//! Takes in what an agent prints during a turn.

use std::collections::HashMap;

use ralph_agents::{
    Adapter, AgentEvent, Parser, Usage,
    turn::{HookedTool, Tally},
};
use ralph_core::{
    claim::{Claim, Scanner, echo::Echo},
    engine::{budget::is_metered, outcome::Exhausted},
};
use ralph_sys::process::Control;

use super::last_lines::LastLines;

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
    /// The end of what it said to people: on standard error, or as text among its events.
    last_lines: LastLines,
    /// Its last result was heard before the stream ended, and nothing was used after it.
    pub(super) has_result: bool,
    /// The budget that the turn has used up.
    pub(super) over: Option<Exhausted>,
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
            last_lines: LastLines::default(),
            has_result: false,
            over: None,
        }
    }

    /// Takes the next bytes of standard error and shows the lines that they complete.
    pub(super) fn on_complaint(&mut self, bytes: &[u8], show: &mut dyn FnMut(&str)) -> Control {
        self.last_lines.push(bytes, show);
        Control::Noise
    }

    /// Takes the next bytes of standard output and shows the events in them.
    pub(super) fn on_output(&mut self, bytes: &[u8], show: &mut dyn FnMut(&AgentEvent)) -> Control {
        let mut heard = Control::Something;
        let Self { parser, adapter, hooked, tally, scanner, echo, last_lines, .. } = self;
        parser.push(bytes, &mut |event| {
            take(tally, scanner, echo, &event);
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

    /// Begins to count anew: another turn of the same process.
    pub(super) fn renew(&mut self, claims: &[Claim]) -> Tally {
        self.scanner = Scanner::new(claims);
        std::mem::take(&mut self.tally)
    }

    /// The stream has ended.
    pub(super) fn finish(&mut self, show: &mut dyn FnMut(&AgentEvent)) {
        self.has_result = 0 < self.tally.results && !is_metered(&self.running());
        let Self { parser, tally, scanner, echo, last_lines, .. } = self;
        parser.finish(&mut |event| {
            last_lines.take(&event);
            take(tally, scanner, echo, &event);
            show(&event);
        });
        if let Some(echo) = echo {
            scanner.push(&echo.finish(), true);
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

/// Only the agent's own words can claim anything.
fn take(tally: &mut Tally, scanner: &mut Scanner, echo: &mut Option<Echo>, event: &AgentEvent) {
    tally.take(event);
    match event {
        AgentEvent::Text { text, joins } => match echo {
            Some(echo) => scanner.push(&echo.strip(text), *joins),
            None => scanner.push(text, *joins),
        },
        AgentEvent::Result(result) => {
            if let Some(text) = &result.text {
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

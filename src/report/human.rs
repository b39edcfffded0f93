//! What a person sees of a run: talk on standard error, the summary on standard output.

mod events;
mod stream;

use std::{
    collections::HashMap,
    io::{BufWriter, Write},
    time::Duration,
};

use super::{Reporter, look::Look};
use crate::{
    agent::AgentEvent,
    duration::format_duration,
    engine::{
        State,
        event::{Event, Why},
        plan::{Gate, Plan},
    },
    journal::Entry,
    term::{self, Palette, printable},
};

/// Shows a run to a person.
pub(crate) struct Human {
    look: Look,
    out: BufWriter<Box<dyn Write>>,
    width: usize,
    /// The time of the lines that come next.
    now: jiff::Zoned,
    /// Names of the tools that are running, by id.
    tools: HashMap<String, String>,
    tool_count: u64,
    tool_errors: u64,
    /// The last text did not end its line.
    in_line: bool,
    /// The run's id.
    run: String,
    has_gates: bool,
    /// What the run does with processes that a turn leaves behind.
    keeps_leftovers: bool,
}

impl Human {
    /// Shows a run on `out`.
    pub(crate) fn new(look: Look, out: Box<dyn Write>) -> Self {
        Self {
            look,
            out: BufWriter::with_capacity(64 * 1024, out),
            width: term::width(),
            now: if look.timestamps { jiff::Zoned::now() } else { jiff::Zoned::default() },
            tools: HashMap::new(),
            tool_count: 0,
            tool_errors: 0,
            in_line: false,
            run: String::new(),
            has_gates: true,
            keeps_leftovers: false,
        }
    }

    /// A whole line, on a line of its own. Errors are dropped: a reader that has gone does not end the run.
    fn line(&mut self, text: &str) {
        self.end_line();
        self.stamp();
        let _ = writeln!(self.out, "{text}");
    }

    fn stamp(&mut self) {
        if self.look.timestamps {
            let Palette { quiet, .. } = self.look.palette;
            let _ = write!(self.out, "{quiet}[{}]{quiet:#} ", self.now.strftime("%H:%M:%S"));
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.in_line) {
            let _ = writeln!(self.out);
        }
    }
}

impl Reporter for Human {
    fn event(&mut self, plan: &Plan, state: &State, entry: &Entry) {
        let Palette { warn, quiet, .. } = self.look.palette;
        match &entry.event {
            Event::RunStarted(started) => self.started(started),
            Event::RunResumed { .. } => {
                let (iteration, _) = state.position();
                self.line(&format!("Resumed at iteration {iteration} of {}.", plan.limits.iterations));
            }
            Event::TurnStarted(turn) => self.iteration(plan, turn.iteration, turn.attempt),
            Event::TurnEnded(turn) => self.turn_ended(turn),
            Event::GateEnded(ended) => {
                if let Some(gate) = plan.gates.get(ended.gate) {
                    self.gate_ended(gate, ended);
                }
            }
            Event::CommitEnded(end) => self.committed(end),
            Event::WaitStarted { until_ms, why } => {
                let left =
                    Duration::from_millis(u64::try_from(until_ms - entry.at.as_millisecond()).unwrap_or(0));
                let left = format_duration(left);
                match why {
                    Why::Rest => {}
                    Why::Retry => self.line(&format!("{quiet}Trying again in {left}.{quiet:#}")),
                    Why::UsageLimit => {
                        self.line(&format!("{warn}The usage limit is reached: waiting {left}.{warn:#}"));
                    }
                }
            }
            Event::StopRequested => self.line(&format!("{warn}Received signal, shutting down...{warn:#} The running operation finishes; a second signal ends it.")),
            Event::Warned { text } => self.line(&format!("{warn}warning:{warn:#} {}", printable(text))),
            Event::RunEnded { outcome, .. } => self.ended(plan, state, outcome),
            Event::Looked(_)
            | Event::MessageAsked { .. }
            | Event::CommitStarted { .. }
            | Event::WaitEnded { .. }
            | Event::Unknown => {}
        }
        self.flush();
    }

    fn agent(&mut self, event: &AgentEvent) {
        if !self.look.stream {
            return;
        }
        let Palette { quiet, accent, .. } = self.look.palette;
        match event {
            AgentEvent::Text { text, joins } => self.text(text, *joins),
            AgentEvent::ToolStart { id, name, summary, parent } => {
                self.tool_count += 1;
                self.tools.insert(id.clone(), name.clone());
                let indent = if parent.is_some() { "  " } else { "" };
                let room = self.width.saturating_sub(name.len() + indent.len() + 4);
                let first = printable(summary.lines().next().unwrap_or_default())
                    .chars()
                    .take(room)
                    .collect::<String>();
                self.line(&format!("{indent}{} {accent}{name}{accent:#}({first})", self.look.marks.tool));
            }
            AgentEvent::ToolEnd { id, ok, output } => self.tool_ended(id, *ok, output),
            AgentEvent::Todo { items } => self.todo(items),
            AgentEvent::Result(result) => self.result(result),
            AgentEvent::Progress { text } => {
                let line: String =
                    printable(text.lines().next().unwrap_or_default()).chars().take(self.width - 2).collect();
                self.line(&format!("{quiet}{line}{quiet:#}"));
            }
            AgentEvent::Started { model, .. } => {
                if let Some(model) = model {
                    self.line(&format!("{quiet}{model}{quiet:#}"));
                }
            }
            AgentEvent::Limit(limit) => {
                if limit.refused {
                    self.line(&format!(
                        "{quiet}The service refuses requests: the usage limit is reached.{quiet:#}"
                    ));
                }
            }
            AgentEvent::Unknown { what } => self.detail(&format!("not understood: {what}")),
        }
    }

    fn gate_started(&mut self, gate: &Gate) {
        self.detail(&format!("Running guardrail: {}", gate.check.name()));
    }

    fn detail(&mut self, text: &str) {
        if self.look.verbose {
            let Palette { quiet, .. } = self.look.palette;
            self.line(&format!("{quiet}[ralph] {}{quiet:#}", printable(text)));
        }
    }

    fn flush(&mut self) {
        if self.look.timestamps {
            self.now = jiff::Zoned::now();
        }
        let _ = self.out.flush();
    }
}

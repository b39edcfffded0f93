//! What a person sees of a run: talk on standard error, the summary on standard output.

mod events;
mod examined;
mod gates;
mod guard;
mod live;
mod opinions;
mod person;
mod sandbox;
mod stories;
mod stream;
mod tools;
mod verbose;

#[cfg(test)]
pub(crate) mod tests;

use std::{io::Write, time::Duration};

use jiff::Timestamp;
use ralph_agents::AgentEvent;
use ralph_core::{
    duration::format_duration,
    engine::{
        Run,
        entry::Entry,
        event::{Event, Why},
        memory::{Memory, Waiting, left_at},
    },
    restart_messages,
};

use super::{
    Reporter,
    screen::{Screen, between},
    style::ReportStyle,
    summary,
};
use crate::term::{
    Palette,
    fit::{fit, one_line},
    printable,
};
use live::Live;
use tools::Tools;

/// Shows a run to a person.
pub(crate) struct Human {
    look: ReportStyle,
    screen: Screen,
    /// Where the end of the run goes.
    data: Box<dyn Write>,
    tools: Tools,
    live: Live,
    /// Until when a usage limit is waited for, in milliseconds since 1970, and when that was said last.
    limited: Option<(i64, Timestamp)>,
}

/// How often a user without a status line is told that the wait goes on.
const REMINDER_INTERVAL: Duration = Duration::from_mins(15);

impl Human {
    /// Shows a run on `out`, and its end on `data`.
    pub(crate) fn new(look: ReportStyle, out: Box<dyn Write>, data: Box<dyn Write>) -> Self {
        Self {
            screen: Screen::new(out, look.width, look.palette, look.timestamps.clone()),
            look,
            data,
            tools: Tools::default(),
            live: Live::default(),
            limited: None,
        }
    }

    /// A whole line, on a line of its own.
    fn line(&mut self, text: &str) {
        if !self.look.quiet {
            self.screen.line(text);
        }
    }

    /// A line that also a user sees who wants to see nothing but problems.
    fn alert(&mut self, text: &str) {
        self.screen.line(text);
    }
}

impl Human {
    /// Takes notice of a usage limit that is waited for, also by an earlier process.
    fn notice_wait(&mut self, memory: &Memory, at: Timestamp) {
        self.limited = match memory.waiting {
            Some(Waiting { until_ms, why: Why::UsageLimit, .. }) => match self.limited {
                Some((same, said)) if same == until_ms => Some((same, said)),
                _ => Some((until_ms, at)),
            },
            Some(Waiting { why: Why::Rest | Why::Retry, .. }) | None => None,
        };
    }

    /// A status line counts down by itself; a log says now and then that the wait goes on.
    fn still_waiting(&mut self, at: Timestamp) {
        let Some((until_ms, said)) = self.limited else { return };
        let left = u64::try_from(until_ms - at.as_millisecond()).unwrap_or(0);
        if self.look.live || left == 0 || between(said, at) < REMINDER_INTERVAL {
            return;
        }
        self.limited = Some((until_ms, at));
        let Palette { quiet, .. } = self.look.palette;
        let left = format_duration(Duration::from_secs(left.div_ceil(1000)));
        self.line(&format!("{quiet}Still waiting for the usage limit: {left} left.{quiet:#}"));
    }

    fn wait_started(&mut self, left: Duration, why: Why) {
        let Palette { warn, quiet, .. } = self.look.palette;
        let left = format_duration(left);
        match why {
            Why::Rest => {}
            Why::Retry => self.line(&format!("{quiet}Trying again in {left}.{quiet:#}")),
            Why::UsageLimit => {
                self.alert(&format!("{warn}The usage limit is reached: waiting {left}.{warn:#}"));
            }
        }
    }
}

impl Reporter for Human {
    #[expect(clippy::too_many_lines, reason = "one arm for each thing that happens")]
    fn event(&mut self, run: &Run, entry: &Entry) {
        let Run { plan, state, memory, .. } = run;
        self.screen.moment(entry.at);
        let Palette { warn, quiet, .. } = self.look.palette;
        self.explain(run, entry);
        self.notice_wait(memory, entry.at);
        match &entry.event {
            Event::RunStarted(started) => self.started(started),
            Event::RunResumed { .. } => {
                let (iteration, _) = state.position();
                self.line(&format!("Resumed at iteration {iteration} of {}.", plan.limits.max_iterations));
            }
            Event::TurnStarted(turn) => self.iteration(&run.started.setup, plan, turn),
            Event::TurnEnded(turn) => {
                self.turn_ended(run, turn);
                if let Some(note) = restart_messages::of_turn(plan, state, turn) {
                    self.line(&format!("{quiet}{}{quiet:#}", printable(&note.text)));
                }
            }
            Event::BaselineStarted { gate } => {
                if let Some(gate) = plan.gates.get(*gate) {
                    self.baseline_started(gate);
                }
            }
            Event::GateStarted { gate } => {
                if let Some(gate) = plan.gates.get(*gate) {
                    self.gate_started(gate);
                }
            }
            Event::GateEnded(ended) => {
                if let Some(gate) = plan.gates.get(ended.gate) {
                    self.gate_ended(gate, ended);
                }
            }
            Event::JudgeReady(ready) => self.judge_ready(ready),
            Event::JudgeFailed { why, .. } => {
                self.alert(&format!("{warn}warning:{warn:#} no clean clone decides: {}", printable(why)));
            }
            Event::JudgeGateEnded(ended) => self.judge_gate_ended(run, ended),
            Event::Examined(examined) => self.examined(run, examined),
            Event::PutBack(put_back) => self.put_back(put_back),
            Event::OpinionStarted(started) => self.opinion_started(run, started),
            Event::OpinionEnded(ended) => self.opinion_ended(ended),
            Event::LookForgone { why } => self.look_forgone(why),
            Event::TasksJudged(judged) => self.tasks_judged(judged),
            Event::BaselineEnded(ended) => {
                if let Some(gate) = plan.gates.get(ended.gate) {
                    self.baseline_ended(gate, ended);
                }
            }
            Event::CommitEnded(end) => self.committed(run, end),
            Event::WaitStarted { until_ms, why } => self.wait_started(left_at(*until_ms, entry.at), *why),
            Event::StopRequested => self.alert(&format!("{warn}Received signal, shutting down...{warn:#} The running operation finishes; a second signal ends it.")),
            Event::NoteSaid(said) => self.note_said(said),
            Event::NoteWithdrawn { note, .. } => self.line(&format!("{quiet}Note {note} is withdrawn.{quiet:#}")),
            Event::PauseRequested { .. } => self.pause_requested(run),
            Event::PauseStarted => self.pause_started(run),
            Event::PauseEnded { .. } => self.line("The run continues."),
            Event::Warned { text, .. } => self.warning(text),
            Event::Sandboxed { level, uncovered, withheld } => self.sandboxed(*level, uncovered, withheld),
            Event::Contacted { hosts } => self.contacted(hosts),
            Event::RunsLater { files } => self.runs_later(files),
            Event::ToolCallsJudged { calls } => self.tool_calls_judged(calls),
            Event::StoryHandedOver { story, reason } => self.warning(&summary::handed_over(story, reason)),
            Event::ClaimPutAside { file, to } => {
                if let Some(text) = summary::put_aside(file, to.as_deref()) {
                    self.warning(&text);
                }
            }
            Event::ChildrenOutlived { children, kept } => self.warning(&summary::outlived(children, *kept)),
            Event::RunEnded { outcome, .. } => self.ended(run, outcome),
            Event::EditsTaken(taken) => self.edits_taken(taken),
            Event::BaseMoved(moved) => self.base_moved(moved),
            Event::Found { findings } => self.found(findings),
            Event::RecordRepaired { lost, lines } => self.warning(&summary::repaired(lost.len(), *lines)),
            Event::PullRequest(made) => self.line(&printable(&made.line())),
            Event::Accepted { why } => self.accepted(why.as_deref()),
            Event::Rejected { why } => self.line(&format!("A person sent the work back: {}", printable(why))),
            Event::Looked(_)
            | Event::JudgeStarted { .. }
            | Event::JudgeGateStarted { .. }
            | Event::BaseTaken { .. }
            | Event::FilesLeft { .. }
            | Event::ExamineStarted
            | Event::OldCheckStarted { .. }
            | Event::OldCheckEnded(_)
            | Event::BiteStarted { .. }
            | Event::BiteEnded(_)
            | Event::TimeSpent { .. }
            | Event::Delivered
            | Event::OutsideLooked(_)
            | Event::FilesChanged { .. }
            | Event::ReviewsCounted(_)
            | Event::WorkCounted(_)
            | Event::MessageAsked { .. }
            | Event::CommitStarted { .. }
            | Event::WaitEnded { .. }
            | Event::Unknown => {}
        }
        if self.look.live {
            self.live.event(run, entry);
        }
        self.flush();
    }

    fn agent(&mut self, event: &AgentEvent) {
        if self.look.live {
            self.live.agent(event, self.screen.now());
        }
        if let AgentEvent::Stray { text } = event {
            return self.stray(text);
        }
        if !self.look.stream || self.look.quiet {
            return;
        }
        let Palette { quiet, .. } = self.look.palette;
        let room = self.screen.columns();
        if !matches!(event, AgentEvent::ToolStart { .. } | AgentEvent::ToolEnd { .. } | AgentEvent::Judged) {
            self.tools.interrupted();
        }
        match event {
            AgentEvent::Text { text, joins } => self.text(text, *joins),
            AgentEvent::ToolStart { id, name, summary, parent } => {
                self.tool_started(id, name, summary, parent.as_deref());
            }
            AgentEvent::ToolEnd { id, ok, output } => self.tool_ended(id, *ok, output),
            AgentEvent::Todo { items } => self.todo(items),
            AgentEvent::Subagent { text } => {
                self.line(&format!("  {quiet}{}{quiet:#}", fit(&one_line(text), room.saturating_sub(2))));
            }
            AgentEvent::Progress { text } => {
                let text = one_line(text.lines().next().unwrap_or_default());
                self.line(&format!("{quiet}{}{quiet:#}", fit(&text, room)));
            }
            AgentEvent::Started { model, .. } => {
                if let Some(model) = model {
                    self.line(&format!("{quiet}{}{quiet:#}", fit(&one_line(model), room)));
                }
            }
            AgentEvent::Limit(limit) => {
                if limit.refused {
                    self.line(&format!(
                        "{quiet}The service refuses requests: the usage limit is reached.{quiet:#}"
                    ));
                }
            }
            // What it used stands in the line that ends the turn.
            AgentEvent::Result(_) | AgentEvent::Judged | AgentEvent::Stray { .. } => {}
            AgentEvent::Unknown { what } => self.detail(&format!("not understood: {what}")),
        }
    }

    fn detail(&mut self, text: &str) {
        if self.look.verbose {
            let Palette { quiet, .. } = self.look.palette;
            self.line(&format!("{quiet}[ralph] {}{quiet:#}", printable(text)));
        }
    }

    fn wants_details(&self) -> bool {
        self.look.verbose
    }

    fn moment(&mut self, at: Timestamp) {
        self.screen.moment(at);
        self.still_waiting(at);
    }

    fn flush(&mut self) {
        let status = if self.look.live { self.live.text(self.screen.now(), &self.look.marks) } else { None };
        self.screen.flush(status.as_deref());
    }
}

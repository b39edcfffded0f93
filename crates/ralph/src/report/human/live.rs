//! The status line: where the run is, what it has cost, and what happens at the moment.

use std::time::Duration;

use jiff::Timestamp;
use ralph_agents::AgentEvent;
use ralph_core::{
    duration::format_duration,
    engine::{
        Run,
        entry::Entry,
        event::{Event, Why},
    },
};

use crate::{
    report::{screen::between, style::Marks, summary},
    term::fit::{fit, one_line},
};

/// What one thing may take of the line.
const MAX_PART_WIDTH: usize = 80;

/// The facts of the status line.
#[derive(Default)]
pub(super) struct Live {
    started: Option<Timestamp>,
    position: (u32, u32),
    of: u32,
    /// Of the turns that ended.
    cost: Option<f64>,
    /// Of the turn that runs, as far as the agent has said.
    turn_cost: Option<f64>,
    doing: Doing,
    since: Timestamp,
    stopping: bool,
    pausing: bool,
}

/// What happens at the moment.
#[derive(Default)]
enum Doing {
    /// Nothing that takes long.
    #[default]
    Nothing,
    Starting,
    Thinking,
    Writing,
    Tool {
        id: String,
        what: String,
    },
    Checking(String),
    Committing,
    Waiting {
        until_ms: i64,
        why: Why,
    },
    /// A person paused it.
    Paused,
    Over,
}

impl Live {
    /// Takes in what was recorded.
    pub(super) fn event(&mut self, Run { plan, state, memory, .. }: &Run, entry: &Entry) {
        (self.started, self.stopping) = (Some(memory.began), state.is_stopping());
        self.pausing = state.is_pausing();
        (self.position, self.of) = (state.position(), plan.limits.max_iterations);
        self.cost = state.spent().usage.cost_usd;
        let doing = match &entry.event {
            Event::TurnStarted(_) | Event::OpinionStarted(_) => {
                self.turn_cost = None;
                Doing::Starting
            }
            Event::TurnEnded(_) | Event::OpinionEnded(_) => {
                self.turn_cost = None;
                Doing::Nothing
            }
            Event::JudgeStarted { .. } => Doing::Checking("preparing the judge".to_owned()),
            Event::ExamineStarted => Doing::Checking("comparing the checks".to_owned()),
            Event::BaselineStarted { gate }
            | Event::GateStarted { gate }
            | Event::OldCheckStarted { gate }
            | Event::BiteStarted { gate }
            | Event::JudgeGateStarted { gate } => match plan.gates.get(*gate) {
                Some(gate) => Doing::Checking(fit(&one_line(gate.check.name()), MAX_PART_WIDTH).into_owned()),
                None => Doing::Nothing,
            },
            Event::CommitStarted { .. } | Event::MessageAsked { .. } => Doing::Committing,
            Event::WaitStarted { until_ms, why } => Doing::Waiting { until_ms: *until_ms, why: *why },
            Event::PauseStarted => Doing::Paused,
            Event::RunEnded { .. } => Doing::Over,
            Event::StopRequested
            | Event::NoteSaid(_)
            | Event::NoteWithdrawn { .. }
            | Event::PauseRequested { .. }
            | Event::Sandboxed { .. }
            | Event::Contacted { .. }
            | Event::RunsLater { .. }
            | Event::ToolCallsJudged { .. }
            | Event::ClaimPutAside { .. }
            | Event::ChildrenOutlived { .. }
            | Event::StoryHandedOver { .. }
            | Event::Warned { .. }
            | Event::EditsTaken(_)
            | Event::Found { .. }
            | Event::RecordRepaired { .. }
            | Event::Accepted { .. }
            | Event::Rejected { .. }
            | Event::FilesChanged { .. }
            | Event::ReviewsCounted(_)
            | Event::WorkCounted(_)
            | Event::PullRequest(_)
            | Event::Unknown => return,
            Event::RunStarted(_)
            | Event::RunResumed { .. }
            | Event::PauseEnded { .. }
            | Event::Looked(_)
            | Event::TasksJudged(_)
            | Event::BaselineEnded(_)
            | Event::GateEnded(_)
            | Event::JudgeReady(_)
            | Event::JudgeFailed { .. }
            | Event::JudgeGateEnded(_)
            | Event::BaseTaken { .. }
            | Event::FilesLeft { .. }
            | Event::BaseMoved(_)
            | Event::OldCheckEnded(_)
            | Event::BiteEnded(_)
            | Event::TimeSpent { .. }
            | Event::Examined(_)
            | Event::PutBack(_)
            | Event::LookForgone { .. }
            | Event::Delivered
            | Event::OutsideLooked(_)
            | Event::CommitEnded(_)
            | Event::WaitEnded { .. } => Doing::Nothing,
        };
        self.now_doing(doing, entry.at);
    }

    /// Takes in what the agent does.
    pub(super) fn agent(&mut self, event: &AgentEvent, now: Timestamp) {
        match event {
            AgentEvent::Text { .. } => {
                if !matches!(self.doing, Doing::Writing) {
                    self.now_doing(Doing::Writing, now);
                }
            }
            AgentEvent::ToolStart { id, name, summary, .. } => {
                let what = format!("{}({})", one_line(name), one_line(summary));
                self.now_doing(
                    Doing::Tool { id: id.clone(), what: fit(&what, MAX_PART_WIDTH).into_owned() },
                    now,
                );
            }
            AgentEvent::ToolEnd { id: ended, .. } => {
                if matches!(&self.doing, Doing::Tool { id, .. } if id == ended) {
                    self.now_doing(Doing::Thinking, now);
                }
            }
            AgentEvent::Result(result) => {
                if let Some(cost) = result.usage.cost_usd {
                    self.turn_cost = Some(self.turn_cost.unwrap_or(0.0) + cost);
                }
                self.now_doing(Doing::Nothing, now);
            }
            AgentEvent::Started { .. } => self.now_doing(Doing::Thinking, now),
            AgentEvent::Todo { .. }
            | AgentEvent::Subagent { .. }
            | AgentEvent::Judged
            | AgentEvent::Progress { .. }
            | AgentEvent::Limit(_)
            | AgentEvent::Stray { .. }
            | AgentEvent::Unknown { .. } => {}
        }
    }

    /// The line; nothing before a run begins and after it has ended.
    pub(super) fn text(&self, now: Timestamp, marks: &Marks) -> Option<String> {
        let (iteration, attempt) = self.position;
        let mut place = format!("{} iteration {iteration} of {}", marks.running, self.of);
        if 1 < attempt {
            place = format!("{place}, attempt {attempt}");
        }
        let mut parts = vec![place, whole_seconds(between(self.started?, now))];
        if let Some(cost) = summary::sum(self.cost, self.turn_cost) {
            parts.push(format!("${cost:.2}"));
        }
        if self.pausing && !matches!(self.doing, Doing::Paused) {
            parts.push("pausing after this".to_owned());
        }
        if self.stopping {
            parts.push("stopping after this, Ctrl-C again ends it".to_owned());
        }
        let took = whole_seconds(between(self.since, now));
        parts.extend(match &self.doing {
            Doing::Nothing => None,
            Doing::Over => return None,
            Doing::Paused => Some(format!("paused {took}")),
            Doing::Starting => Some(format!("starting the agent {took}")),
            Doing::Thinking => Some(format!("thinking {took}")),
            Doing::Writing => Some(format!("writing {took}")),
            Doing::Tool { what, .. } => Some(format!("{what} {took}")),
            Doing::Checking(name) => Some(format!("checking {name} {took}")),
            Doing::Committing => Some(format!("committing {took}")),
            Doing::Waiting { until_ms, why } => {
                let left =
                    u64::try_from(until_ms.saturating_sub(now.as_millisecond())).unwrap_or(0).div_ceil(1000);
                let left = format_duration(Duration::from_secs(left));
                Some(match why {
                    Why::Rest => format!("resting, {left} left"),
                    Why::Retry => format!("trying again in {left}"),
                    Why::UsageLimit => format!("waiting for the usage limit, {left} left"),
                })
            }
        });
        Some(parts.join(marks.dot))
    }

    fn now_doing(&mut self, doing: Doing, now: Timestamp) {
        (self.doing, self.since) = (doing, now);
    }
}

fn whole_seconds(duration: Duration) -> String {
    format_duration(Duration::from_secs(duration.as_secs()))
}

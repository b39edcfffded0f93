//! The turns of a run in order, each with what the gates said after it.

use jiff::Timestamp;
use ralph_agents::Usage;
use serde::Serialize;

use super::harmless;
use crate::{
    engine::{
        commit::CommitEnd,
        entry::Entry,
        event::{Event, GateEnded, Turn, TurnEnd, TurnEnded},
        plan::Plan,
    },
    stories::Mode,
};

/// What a gate said after a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum GateDot {
    /// It was not checked.
    #[default]
    Unchecked,
    /// It is being checked.
    Running,
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It passed in the working tree and failed in a clean clone.
    FailedInJudge,
}

/// How a turn went, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TurnMark {
    /// It has no end yet.
    #[default]
    Open,
    /// The agent did what it does.
    Finished,
    /// The agent waits for a person or for another process.
    Paused,
    /// The agent failed, or its turn may not count.
    Failed,
    /// A person or a budget ended it, or ralph died while it ran.
    Ended,
}

/// One turn and what was made of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownTurn {
    /// What the user counts, from 1.
    pub iteration: u32,
    /// Tries of the same iteration, from 1.
    pub attempt: u32,
    /// When it began.
    pub at: Timestamp,
    /// What kind of work it is, where the loop has several.
    pub mode: Option<&'static str>,
    /// The story or task it is about.
    pub task: Option<String>,
    /// Who has it, by name, where there are several.
    pub agent: Option<String>,
    /// How it went.
    pub mark: TurnMark,
    /// What went wrong with the agent itself.
    pub problem: Option<String>,
    /// How long the agent worked.
    pub ms: u64,
    /// What the turn used, the question for a commit message included.
    pub usage: Usage,
    /// Tool calls.
    pub tools: u64,
    /// Whether the agent said that the work is done.
    pub claimed: bool,
    /// Whether ralph committed what it did.
    pub committed: bool,
    /// What each gate said, in the order of [`ShownRun::gates`](super::ShownRun::gates); may be shorter.
    pub gates: Vec<GateDot>,
}

impl ShownTurn {
    fn started(turn: &Turn, at: Timestamp) -> Self {
        Self {
            iteration: turn.iteration,
            attempt: turn.attempt,
            at,
            mode: (turn.mode != Mode::Work).then(|| turn.mode.name()),
            task: turn.story.as_deref().or(turn.task.as_deref()).map(harmless),
            agent: turn.agent.as_deref().map(harmless),
            mark: TurnMark::Open,
            problem: None,
            ms: 0,
            usage: Usage::default(),
            tools: 0,
            claimed: false,
            committed: false,
            gates: Vec::new(),
        }
    }

    fn end(&mut self, ended: &TurnEnded) {
        (self.ms, self.usage, self.tools, self.claimed) = (ended.ms, ended.usage, ended.tools, ended.claimed);
        (self.mark, self.problem) = (mark(&ended.end), ended.end.problem().map(|problem| harmless(&problem)));
    }

    fn dot(&mut self, gate: usize) -> &mut GateDot {
        if self.gates.len() <= gate {
            self.gates.resize(gate + 1, GateDot::Unchecked);
        }
        &mut self.gates[gate]
    }

    /// Whether a gate refused the work.
    pub fn is_refused(&self) -> bool {
        self.gates.iter().any(|dot| matches!(dot, GateDot::Failed | GateDot::FailedInJudge))
    }
}

fn mark(end: &TurnEnd) -> TurnMark {
    match end {
        TurnEnd::Finished => TurnMark::Finished,
        TurnEnd::Paused { .. } => TurnMark::Paused,
        TurnEnd::Failed(_) | TurnEnd::Tampered { .. } | TurnEnd::Unguarded { .. } => TurnMark::Failed,
        TurnEnd::OverBudget { .. } | TurnEnd::Interrupted | TurnEnd::Abandoned => TurnMark::Ended,
    }
}

/// All turns of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Turns {
    pub(super) rows: Vec<ShownTurn>,
    /// Every gate that was checked or is in the rules, by name: a person may change them between two processes of a run.
    pub(super) gates: Vec<String>,
}

impl Turns {
    /// Takes in what was recorded, under these rules.
    pub(super) fn apply(&mut self, plan: &Plan, entry: &Entry) {
        match &entry.event {
            Event::RunStarted(_) | Event::EditsTaken(_) => {
                for gate in 0..plan.gates.len() {
                    self.column(plan, gate);
                }
            }
            Event::TurnStarted(turn) => self.rows.push(ShownTurn::started(turn, entry.at)),
            Event::TurnEnded(ended) => self.last(|row| row.end(ended)),
            Event::GateStarted { gate } => self.set(plan, *gate, |_| GateDot::Running),
            Event::GateEnded(ended) => self.set(plan, ended.gate, |_| of(ended)),
            Event::JudgeGateEnded(judged) if judged.ended.failure.is_some() => {
                self.set(plan, judged.ended.gate, |_| GateDot::FailedInJudge);
            }
            // A gate that is checked only there.
            Event::JudgeGateEnded(judged) => self.set(plan, judged.ended.gate, |dot| match dot {
                GateDot::Unchecked | GateDot::Running => GateDot::Passed,
                known => known,
            }),
            Event::MessageAsked { usage, .. } => self.last(|row| row.usage.add(*usage)),
            Event::CommitEnded(CommitEnd::Made { .. }) => self.last(|row| row.committed = true),
            // What was being checked when a process ended is checked again, or not at all.
            Event::RunResumed { .. } | Event::RunEnded { .. } => self.last(|row| {
                let running = row.gates.iter_mut().filter(|dot| **dot == GateDot::Running);
                running.for_each(|dot| *dot = GateDot::Unchecked);
            }),
            _ => {}
        }
    }

    fn last(&mut self, change: impl FnOnce(&mut ShownTurn)) {
        if let Some(row) = self.rows.last_mut() {
            change(row);
        }
    }

    fn set(&mut self, plan: &Plan, gate: usize, next: impl FnOnce(GateDot) -> GateDot) {
        let Some(column) = self.column(plan, gate) else { return };
        self.last(|row| {
            let dot = row.dot(column);
            *dot = next(*dot);
        });
    }

    /// Where a gate of the rules stands among all that there were.
    fn column(&mut self, plan: &Plan, gate: usize) -> Option<usize> {
        let name = plan.gates.get(gate)?.check.name();
        let known = self.gates.iter().position(|it| it == name);
        Some(known.unwrap_or_else(|| {
            self.gates.push(name.to_owned());
            self.gates.len() - 1
        }))
    }
}

fn of(ended: &GateEnded) -> GateDot {
    if ended.failure.is_none() { GateDot::Passed } else { GateDot::Failed }
}

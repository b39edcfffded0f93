//! What happened in a run, turn by turn, as the report tells it.

use jiff::Timestamp;
use ralph_agents::Usage;
use ralph_core::{
    containment::{contact::Contact, level::Level, run_later::explained},
    engine::{
        commit::CommitEnd,
        entry::Entry,
        event::{CUT_OFF, Event, Turn, TurnEnd, TurnEnded},
        outcome::Outcome,
        plan::CommitRule,
        stop::Stop,
    },
    gate_failure::GateFailure,
    view::Standing,
};

use super::refused::Refusal;
use crate::{
    journal::Folded,
    report::summary::{beyond, handed_over, outlived},
};

/// One turn and what was made of it.
#[derive(Clone, Debug)]
pub(super) struct TurnRow {
    pub(super) turn: Turn,
    pub(super) at: Timestamp,
    pub(super) ms: u64,
    pub(super) usage: Usage,
    pub(super) tools: u64,
    pub(super) claimed: bool,
    /// What went wrong with the agent itself.
    pub(super) problem: Option<String>,
    pub(super) gates: Vec<Checked>,
}

/// What a gate said after a turn.
#[derive(Clone, Debug)]
pub(super) struct Checked {
    pub(super) gate: usize,
    pub(super) failure: Option<GateFailure>,
    pub(super) log: String,
}

impl TurnRow {
    /// Whether a gate refused the work.
    pub(super) fn is_refused(&self) -> bool {
        self.gates.iter().any(|checked| checked.failure.is_some())
    }
}

/// The whole run.
#[derive(Debug, Default)]
pub(super) struct Recap {
    pub(super) turns: Vec<TurnRow>,
    pub(super) warnings: Vec<String>,
    /// What the agent cannot do, and why.
    pub(super) blocks: Vec<String>,
    pub(super) leftovers: Vec<String>,
    /// What the agent said last to people when it failed last.
    pub(super) last_lines: Vec<String>,
    pub(super) refusals: Vec<Refusal>,
    /// What contains the run.
    pub(super) sandbox: Option<Level>,
    /// How long it waited for quotas and between iterations.
    pub(super) waited_ms: u64,
    pub(super) resumes: u32,
    pub(super) failed_commits: u32,
    preset: String,
    /// A turn without a change is a failure here.
    needs_changes: bool,
    /// The last turn has not come to its end.
    is_open: bool,
}

impl Recap {
    /// Reads a record.
    pub(super) fn of(folded: &Folded, standing: Standing) -> Self {
        let needs_changes = folded.run.plan.commit == CommitRule::Required;
        let preset = folded.run.plan.preset.clone();
        let mut story = Self { preset, needs_changes, ..Self::default() };
        for entry in &folded.entries {
            story.take(entry);
        }
        if let Some(told) = story.turns.last_mut().filter(|_| story.is_open && standing == Standing::Killed) {
            told.problem = Some(CUT_OFF.to_owned());
        }
        story
    }

    fn take(&mut self, entry: &Entry) {
        match &entry.event {
            Event::TurnStarted(turn) => {
                self.turns.push(started(turn, entry.at));
                self.is_open = true;
            }
            Event::TurnEnded(ended) => self.end_turn(ended),
            Event::GateEnded(ended) => {
                if let Some(told) = self.turns.last_mut() {
                    let (gate, log) = (ended.gate, ended.log.clone());
                    told.gates.push(Checked { gate, failure: ended.failure.clone(), log });
                }
            }
            Event::CommitEnded(CommitEnd::Nothing) if self.needs_changes => {
                if let Some(told) = self.turns.last_mut().filter(|told| !told.claimed) {
                    told.problem = Some("it changed nothing".to_owned());
                }
            }
            // The turns add up to what the run has used.
            Event::OpinionEnded(ended) => {
                if let Some(told) = self.turns.last_mut() {
                    told.usage.add(ended.usage);
                }
            }
            Event::MessageAsked { usage, .. } => {
                if let Some(told) = self.turns.last_mut() {
                    told.usage.add(*usage);
                }
            }
            Event::CommitEnded(end) if !end.beyond().is_empty() => {
                self.warnings.extend(beyond(&self.preset, end.beyond()));
            }
            Event::CommitEnded(CommitEnd::Failed { .. }) => self.failed_commits += 1,
            Event::WaitEnded { ms } => self.waited_ms = self.waited_ms.saturating_add(*ms),
            Event::RunResumed { .. } => self.resumes += 1,
            Event::Sandboxed { level, .. } => self.sandbox = Some(*level),
            Event::RunsLater { files } => self.warnings.push(explained(files)),
            Event::Contacted { hosts } => {
                for Contact { host, refused } in hosts {
                    if let Some(why) = refused {
                        self.refuse("the sandbox", &format!("connect to {host}"), why);
                    }
                }
            }
            Event::ToolCallsJudged { calls } => {
                for call in calls.iter().filter(|call| call.is_refusal()) {
                    let what = format!("{} {}", call.tool, call.asked);
                    self.refuse("the guard", what.trim_end(), call.rule.as_deref().unwrap_or_default());
                }
            }
            Event::StoryHandedOver { story, reason } => self.blocks.push(handed_over(story, reason)),
            Event::RunEnded { outcome: Outcome::Stopped(Stop::Blocked { reason }), .. } => {
                self.blocks.push(format!("Blocked: {reason}"));
            }
            // Nothing was left to change.
            Event::RunEnded { outcome: Outcome::Done, .. } => {
                if let Some(told) = self.turns.last_mut() {
                    told.problem = None;
                }
            }
            Event::ChildrenOutlived { children, kept } => self.warnings.push(outlived(children, *kept)),
            Event::Warned { text, .. } if !self.warnings.contains(text) => self.warnings.push(text.clone()),
            _ => {}
        }
    }

    fn end_turn(&mut self, ended: &TurnEnded) {
        self.is_open = false;
        for leftover in &ended.leftovers {
            if !self.leftovers.contains(leftover) {
                self.leftovers.push(leftover.clone());
            }
        }
        for tool in &ended.denials {
            self.refuse("the agent's own rules", tool, "");
        }
        let Some(told) = self.turns.last_mut() else { return };
        (told.ms, told.usage, told.tools, told.claimed) = (ended.ms, ended.usage, ended.tools, ended.claimed);
        told.problem = ended.end.problem();
        if matches!(ended.end, TurnEnd::Failed(_)) {
            self.last_lines.clone_from(&ended.last_lines);
        }
    }
}

fn started(turn: &Turn, at: Timestamp) -> TurnRow {
    TurnRow {
        turn: turn.clone(),
        at,
        ms: 0,
        usage: Usage::default(),
        tools: 0,
        claimed: false,
        problem: None,
        gates: Vec::new(),
    }
}

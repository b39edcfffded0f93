//! What a person may want to know about a run beside its figures: findings, warnings, refusals.

use std::collections::VecDeque;

use serde::Serialize;

use super::harmless;
use crate::{
    engine::{Run, entry::Entry, event::Event, judgement::Judgement},
    verify::finding::Finding,
};

/// As many warnings and refusals are kept: the last ones.
const MAX_NOTICES: usize = 50;

/// Something that was done to the judgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownFinding {
    /// In one line, without a full stop.
    pub text: String,
    /// The files that it is about, each with what became of it.
    pub files: Vec<String>,
}

impl ShownFinding {
    fn of(finding: &Finding) -> Self {
        let files = finding.checks().iter().map(|check| harmless(&check.line())).collect();
        Self { text: harmless(&finding.line()), files }
    }
}

/// A tool call that the guard refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownRefusal {
    /// In which iteration; 0 before the first.
    pub iteration: u32,
    /// What was refused and by which rule.
    pub text: String,
}

/// Warnings and refusals of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Notices {
    pub(super) warnings: VecDeque<String>,
    pub(super) refusals: VecDeque<ShownRefusal>,
    /// How many tool calls were judged, and how many of them refused.
    pub(super) judged: u64,
    pub(super) refused: u64,
}

impl Notices {
    /// Takes in what was recorded in this iteration.
    pub(super) fn apply(&mut self, iteration: u32, entry: &Entry) {
        match &entry.event {
            Event::Warned { text, .. } => self.warn(text),
            Event::JudgeFailed { why, .. } => self.warn(&format!("no clean clone decides: {why}")),
            Event::StoryHandedOver { story, reason } => {
                self.warn(&format!("{story} is for a person now: {reason}"));
            }
            Event::ToolCallsJudged { calls } => {
                self.judged = self.judged.saturating_add(calls.len() as u64);
                calls.iter().filter(|call| call.is_refusal()).for_each(|call| self.refuse(iteration, call));
            }
            _ => {}
        }
    }

    fn warn(&mut self, text: &str) {
        let text = harmless(text);
        if !self.warnings.contains(&text) {
            push(&mut self.warnings, text);
        }
    }

    fn refuse(&mut self, iteration: u32, call: &Judgement) {
        self.refused = self.refused.saturating_add(1);
        push(&mut self.refusals, ShownRefusal { iteration, text: harmless(&call.refusal()) });
    }
}

fn push<T>(kept: &mut VecDeque<T>, new: T) {
    if kept.len() == MAX_NOTICES {
        kept.pop_front();
    }
    kept.push_back(new);
}

/// What was found, each once; those that a person has accepted, too.
pub(super) fn findings(run: &Run) -> Vec<ShownFinding> {
    run.state.findings().iter().map(ShownFinding::of).collect()
}

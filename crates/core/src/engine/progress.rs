//! Whether anything comes of the iterations, folded from events.
//!
//! Two things are no progress: an iteration that leaves the files, the gates' findings and the task's state as they were,
//! and a gate that fails for the same reason as before. Of both the agent is told; only the first ends a run. A commit is
//! progress, no matter who made it, and so is what others do for the task. What ralph cannot see is never held against
//! the agent: without git, only a gate that keeps failing is.

pub mod failure_signature;

use std::collections::BTreeMap;

use crate::claim::{Claim, blocked};
use crate::engine::{
    event::{GateEnded, Tree, Turn, TurnEnded, View},
    plan::Plan,
    stop::{LastFailure, Standstill},
};
use crate::prompt::finish;

/// How much of the last failing output stands in a diagnosis.
const LINES_OF_OUTPUT: usize = 8;
const CHARS_OF_LINE: usize = 200;

/// What an iteration means for the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressVerdict {
    /// It goes on as before.
    GoOn,
    /// The next turn is told this.
    Tell(String),
    /// It ends, for this reason.
    Stop(Standstill),
}

/// What the iterations have come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The iteration on its way.
    current: Found,
    /// The iteration before it.
    last: Option<Found>,
    /// Iterations in a row after which everything was as before.
    idle: u32,
    /// Gates that fail for the same reason, and for how many iterations.
    failing: BTreeMap<usize, u32>,
    /// What the next turn is told that repeats.
    told: Option<String>,
}

/// What was found in one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Found {
    before: Option<Tree>,
    after: Option<Tree>,
    view: Option<View>,
    claimed: bool,
    committed: bool,
    /// Why each gate failed; nothing where it passed.
    gates: BTreeMap<usize, Option<Failure>>,
}

/// Why a gate failed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Failure {
    signature: String,
    /// The last lines of what it printed.
    output: Vec<String>,
    log: String,
}

impl Progress {
    /// A turn begins.
    pub fn turn_started(&mut self, turn: &Turn) {
        // Of the first turn of an iteration: what an attempt did that was cut off counts, too.
        if self.current.before.is_none() {
            self.current.before.clone_from(&turn.tree);
        }
    }

    /// A turn is over.
    pub fn turn_ended(&mut self, turn: &TurnEnded) {
        self.current.after.clone_from(&turn.tree);
        self.current.view.clone_from(&turn.view);
        self.current.claimed = turn.claimed;
    }

    /// A gate was checked.
    pub fn gate_ended(&mut self, ended: &GateEnded) {
        let failure = ended.failure.as_ref().map(|failure| Failure {
            signature: ended
                .signature
                .clone()
                .unwrap_or_else(|| failure_signature::signature(&failure.output.replace(&ended.log, ""))),
            output: end_of(&failure.output),
            log: ended.log.clone(),
        });
        self.current.gates.insert(ended.gate, failure);
    }

    /// Ralph committed what was done.
    pub fn committed(&mut self) {
        self.current.committed = true;
    }

    /// An iteration is over.
    pub fn settle(&mut self, plan: &Plan, iteration: u32) -> ProgressVerdict {
        let found = std::mem::take(&mut self.current);
        let last = self.last.replace(found);
        let Some(patience) = plan.stuck_after else { return ProgressVerdict::GoOn };
        let Some(found) = &self.last else { return ProgressVerdict::GoOn };
        self.idle = if found.is_idle(last.as_ref()) { self.idle.saturating_add(1) } else { 0 };
        self.failing = found
            .gates
            .iter()
            .filter(|_| !found.has_commit())
            .filter_map(|(gate, failure)| {
                let same = last.as_ref().is_some_and(|last| last.failed_like(*gate, failure.as_ref()));
                let before = self.failing.get(gate).copied().unwrap_or(0);
                failure.as_ref().map(|_| (*gate, if same { before.saturating_add(1) } else { 1 }))
            })
            .collect();
        self.judge(plan, patience, iteration)
    }

    /// What repeats, if the next turn is told that.
    pub fn told(&self) -> Option<&str> {
        self.told.as_deref()
    }

    fn judge(&mut self, plan: &Plan, patience: u32, iteration: u32) -> ProgressVerdict {
        let patience = patience.max(1);
        let worst = self.failing.iter().max_by_key(|(_, times)| **times);
        // A check that fails has failed in the same way for at least as long as nothing moves.
        let (gate, times) = worst.map_or((None, self.idle), |(gate, times)| (Some(*gate), *times));
        if times < patience {
            self.told = None;
            return ProgressVerdict::GoOn;
        }
        let failure = self.last.as_ref().and_then(|last| last.failure(gate));
        let standstill = Standstill {
            since: iteration.saturating_add(1).saturating_sub(times),
            gate: gate.and_then(|gate| plan.gates.get(gate)).map(|gate| gate.check.name().to_owned()),
            failure: failure.map(|it| LastFailure { log: it.log.clone(), output: it.output.clone() }),
        };
        // It ends only when nothing at all moves any more: who changes files is on some way, though not on a short one.
        // Where no one sees the files, the same failure again is all that there is to see.
        let is_unseen = self.last.as_ref().is_some_and(Found::is_unseen);
        let still = if is_unseen { times } else { self.idle };
        if self.told.is_some() && patience < still {
            return ProgressVerdict::Stop(standstill);
        }
        let what = standstill.what();
        self.told = Some(what.clone());
        let is_green = self.last.as_ref().is_some_and(|last| last.failure(None).is_none());
        ProgressVerdict::Tell(if is_green {
            unfinished(&plan.claims, times)
        } else {
            escalation(&what, times, patience <= still)
        })
    }
}

impl Found {
    fn has_commit(&self) -> bool {
        let head = |tree: &Option<Tree>| tree.as_ref().map(|tree| tree.head.clone());
        let moved =
            matches!((head(&self.before), head(&self.after)), (Some(one), Some(other)) if one != other);
        self.committed || moved
    }

    /// Whether it is unknown what became of the files.
    fn is_unseen(&self) -> bool {
        self.before.is_none() || self.after.is_none()
    }

    /// Whether everything is as it was before.
    fn is_idle(&self, last: Option<&Self>) -> bool {
        let has_same_files = self.before.is_some() && self.before == self.after;
        let finds_the_same = |last: &Self| {
            let findings = |found: &Self| -> Vec<(usize, Option<String>)> {
                let signature = |it: &Option<Failure>| it.as_ref().map(|it| it.signature.clone());
                found.gates.iter().map(|(gate, it)| (*gate, signature(it))).collect()
            };
            (&last.view, last.claimed, findings(last)) == (&self.view, self.claimed, findings(self))
        };
        let is_at_work = self.view.as_ref().is_some_and(|view| !view.at_work.is_empty());
        has_same_files && !is_at_work && !self.committed && last.is_none_or(finds_the_same)
    }

    fn failed_like(&self, gate: usize, failure: Option<&Failure>) -> bool {
        let before = self.gates.get(&gate).and_then(Option::as_ref);
        matches!((before, failure), (Some(one), Some(other)) if one.signature == other.signature)
    }

    /// How this gate failed, or any.
    fn failure(&self, gate: Option<usize>) -> Option<&Failure> {
        match gate {
            Some(gate) => self.gates.get(&gate).and_then(Option::as_ref),
            None => self.gates.values().flatten().next(),
        }
    }
}

/// What the agent is told when the same check fails again and again.
fn escalation(what: &str, times: u32, ends: bool) -> String {
    let end = if ends { " If there is no progress in this iteration either, the run ends." } else { "" };
    format!(
        "There has been no progress for {times} iterations: {what}. What was tried does not help, so do not try it \
         again. Read what the checks say as if for the first time, find out by an experiment which of your \
         assumptions is wrong, and do something else. If it cannot be done without a person, say what you need.{end}"
    )
}

/// What the agent is told when every check passes, nothing changes, and it does not say that it is done.
fn unfinished(claims: &[Claim], times: u32) -> String {
    format!(
        "Every check passes, and nothing has changed for {times} iterations. If the task is done, say so: {}. If it is \
         not, continue with what is left. If you cannot continue without a person, write {} as the last line of your last \
         message. If nothing changes in this iteration either, the run ends.",
        finish::how(claims),
        blocked::marker(claims)
    )
}

/// The last lines of an output, none of them very long.
fn end_of(output: &str) -> Vec<String> {
    let lines = output.lines().map(str::trim_end);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES_OF_OUTPUT)..];
    last.iter().map(|line| line.chars().take(CHARS_OF_LINE).collect()).collect()
}

#[cfg(test)]
mod tests;

//! What is known of a fleet: the fold of its journal.

use std::collections::BTreeMap;

use super::{
    event::{FleetEntry, FleetEvent, FleetOutcome, FleetStarted},
    item::Item,
    step::ItemEntry,
};

/// What sums of dollars may be off by: a lane that has used up what was left has used up all.
const ROUNDING: f64 = 1e-6;

/// A fleet as its journal tells it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetState {
    /// What it began with; `plan` has what applies now.
    pub started: Box<FleetStarted>,
    /// The process that works on it, or did.
    pub pid: u32,
    /// The items that something happened to.
    pub items: BTreeMap<String, Item>,
    /// What every run in a lane has cost.
    pub spent: BTreeMap<String, f64>,
    /// Until when the usage limit of an account is reached, in milliseconds since 1970.
    pub limits: BTreeMap<String, i64>,
    /// What keeps anything from landing.
    pub blocked: Option<String>,
    /// Whether someone asked the fleet to stop.
    pub is_stopping: bool,
    /// How it ended, if it did.
    pub outcome: Option<FleetOutcome>,
    /// The number of the last entry.
    pub last: u64,
    /// How far the board was read: the greatest number of an entry there.
    pub seen: u64,
}

impl FleetState {
    /// The state that a journal leads to.
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a FleetEntry>) -> Self {
        let mut state = Self::default();
        entries.into_iter().for_each(|entry| state.apply(entry));
        state
    }

    /// Takes in what happened.
    pub fn apply(&mut self, entry: &FleetEntry) {
        self.last = entry.n;
        match &entry.event {
            FleetEvent::FleetStarted(started) => {
                self.started.clone_from(started);
                self.pid = started.pid;
            }
            FleetEvent::FleetResumed { pid, max_cost } => {
                (self.pid, self.started.plan.max_cost) = (*pid, *max_cost);
                (self.is_stopping, self.blocked, self.outcome) = (false, None, None);
            }
            FleetEvent::Item { item, who, board, step } => {
                let sequence = board.unwrap_or(entry.n);
                self.seen = self.seen.max(board.unwrap_or_default());
                let entry = ItemEntry { sequence, who: who.clone(), step: step.clone() };
                self.items.entry(item.clone()).or_default().apply(&entry);
            }
            FleetEvent::Spent { run, cost } => {
                // A run never gives anything back.
                let known = self.spent.entry(run.clone()).or_default();
                *known = known.max(*cost);
            }
            FleetEvent::LimitSeen { account, until_ms } => {
                let known = self.limits.entry(account.clone()).or_insert(i64::MIN);
                *known = (*known).max(*until_ms);
            }
            FleetEvent::LandingBlocked { why } => self.blocked = Some(why.clone()),
            FleetEvent::StopRequested => self.is_stopping = true,
            FleetEvent::FleetEnded { outcome, .. } => self.outcome = Some(outcome.clone()),
            FleetEvent::Unknown => {}
        }
    }

    /// An item; one that nothing happened to is in its first state.
    pub fn item(&self, id: &str) -> Item {
        self.items.get(id).cloned().unwrap_or_default()
    }

    /// Whether others work on it, on machines of their own.
    pub fn is_far(&self) -> bool {
        self.started.board.is_some()
    }

    /// What all lanes have cost so far.
    pub fn cost(&self) -> f64 {
        self.spent.values().fold(0.0, |sum, cost| sum + cost)
    }

    /// Whether the budget is used up.
    pub fn is_exhausted(&self) -> bool {
        self.started.plan.max_cost.is_some_and(|most| most <= self.cost() + ROUNDING)
    }
}

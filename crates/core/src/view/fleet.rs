//! A fleet at a moment: what became of every item, and who works on it.

use serde::Serialize;

use super::harmless;
use crate::fleet::{FleetOutcome, FleetState};

/// A fleet at a moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownFleet {
    /// Its id.
    pub id: String,
    /// How many lines of its journal this is made of.
    pub sequence: u64,
    /// The folder whose branch everything lands on.
    pub project: String,
    /// The branch.
    pub target: String,
    /// Whether a process works on it.
    pub is_running: bool,
    /// Whether it was asked to stop.
    pub is_stopping: bool,
    /// How it stands, in a word.
    pub standing: &'static str,
    /// What a person has to do with it, if anything.
    pub attention: Option<String>,
    /// What all lanes have cost, in US dollars.
    pub cost: f64,
    /// What it may cost.
    pub max_cost: Option<f64>,
    /// How many items have landed.
    pub landed: usize,
    /// The items, in the order of the plan.
    pub items: Vec<ShownItem>,
    /// How many lanes there are: `lane-1` and so on.
    pub lanes: u32,
}

/// An item of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownItem {
    /// Its name.
    pub id: String,
    /// What it is, in a line.
    pub title: String,
    /// Where it is, in a word: `open`, `waiting`, `working`, `landing`, `failed`, `refused`, `landed`, `cancelled`.
    pub phase: &'static str,
    /// What is to say about that.
    pub detail: String,
    /// The lane that works on it.
    pub lane: Option<String>,
    /// What must have landed first.
    pub after: Vec<String>,
}

impl ShownFleet {
    /// A fleet of this id as its journal tells it.
    pub fn of(id: &str, state: &FleetState, is_running: bool) -> Self {
        let plan = &state.started.plan;
        let items = plan.items.iter().map(|planned| {
            let item = state.item(&planned.id);
            let (phase, detail) = item.words();
            ShownItem {
                id: harmless(&planned.id),
                title: harmless(&planned.title),
                phase,
                detail: harmless(&detail),
                lane: item.held().map(|lease| harmless(&lease.worker)),
                after: planned.after.iter().map(|it| harmless(it)).collect(),
            }
        });
        let (standing, attention) = standing(state, is_running);
        Self {
            id: harmless(id),
            sequence: state.last,
            project: harmless(&state.started.project.to_string_lossy()),
            target: harmless(state.started.target.trim_start_matches("refs/heads/")),
            is_running,
            is_stopping: is_running && state.is_stopping,
            standing,
            attention: attention.map(|why| harmless(&why)),
            cost: state.cost(),
            max_cost: plan.max_cost,
            landed: plan.items.iter().filter(|it| state.item(&it.id).is_merged()).count(),
            items: items.collect(),
            lanes: plan.lanes,
        }
    }
}

/// How a fleet stands, and what a person has to do with it.
fn standing(state: &FleetState, is_running: bool) -> (&'static str, Option<String>) {
    let blocked = state.blocked.as_ref().map(|why| format!("nothing lands: {why}"));
    match &state.outcome {
        _ if is_running => ("running", blocked),
        None => ("killed", Some("killed; `ralph fleet resume` continues it".to_owned())),
        Some(FleetOutcome::Done) => ("complete", None),
        Some(FleetOutcome::Exhausted) => ("limit", Some("the maximum cost is reached".to_owned())),
        Some(FleetOutcome::Stopped { reasons }) => ("stopped", Some(reasons.join("; "))),
        Some(FleetOutcome::Interrupted) => ("interrupted", None),
    }
}

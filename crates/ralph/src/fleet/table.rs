//! A fleet as people and programs see it: what became of every item, and what the lanes take.

use std::fmt::Write;

use ralph_core::fleet::{FleetOutcome, FleetState};
use serde_json::{Value, json};

use super::FleetDir;
use crate::workspace::place::disk;

/// What is known of a fleet.
pub(crate) fn json(dir: &FleetDir, state: &FleetState, is_running: bool) -> Value {
    let items = state.started.plan.items.iter().map(|planned| {
        let item = state.item(&planned.id);
        let (phase, detail) = item.words();
        json!({
            "id": planned.id, "title": planned.title, "phase": phase, "detail": detail, "after": planned.after,
            "lane": item.held().map(|lease| lease.worker.clone()), "refusals": item.refusals,
            "candidate": item.candidate.map(|offer| offer.head),
        })
    });
    let items: Vec<Value> = items.collect();
    // Lanes of other machines are shown there.
    let own_lanes = if state.is_far() { 0 } else { state.started.plan.lanes };
    let lanes = (1..=own_lanes).map(|number| format!("lane-{number}"));
    let lanes = lanes.map(|name| {
        let folder = dir.lane(&name);
        let project = folder.join("tree");
        json!({"name": name, "folder": project, "disk": disk(&folder)})
    });
    let lanes: Vec<Value> = lanes.collect();
    json!({
        "fleet": dir.id(), "project": state.started.project, "target": state.started.target,
        "running": is_running, "pid": (is_running && !dir.is_mirror()).then_some(state.pid), "cost": state.cost(),
        "maxCost": state.started.plan.max_cost, "outcome": state.outcome, "blocked": state.blocked,
        "items": items, "lanes": lanes,
    })
}

/// The same for people.
pub(crate) fn text(dir: &FleetDir, state: &FleetState, is_running: bool) -> String {
    let known = json(dir, state, is_running);
    let mut text = heading(dir, state, is_running);
    let width = state.started.plan.items.iter().map(|item| item.id.chars().count()).max().unwrap_or_default();
    for planned in &state.started.plan.items {
        let item = state.item(&planned.id);
        let (phase, detail) = item.words();
        let _ = writeln!(text, "  {:width$}  {phase:9}  {detail}", planned.id);
    }
    for lane in known["lanes"].as_array().into_iter().flatten() {
        let megabytes = lane["disk"].as_u64().unwrap_or_default() / 1_000_000;
        let (name, folder) = (lane["name"].as_str(), lane["folder"].as_str());
        let _ = writeln!(
            text,
            "  {}: {megabytes} MB in {}",
            name.unwrap_or_default(),
            folder.unwrap_or_default()
        );
    }
    if let Some(why) = &state.blocked {
        let _ = writeln!(text, "Nothing lands: {why}");
    }
    text
}

/// Which fleet it is and how it stands, in a line.
pub(crate) fn heading(dir: &FleetDir, state: &FleetState, is_running: bool) -> String {
    let how = match (&state.outcome, is_running) {
        (None, _) if dir.is_mirror() => "under way on another machine".to_owned(),
        (_, true) => "running".to_owned(),
        (Some(FleetOutcome::Done), _) => "complete".to_owned(),
        (Some(FleetOutcome::Exhausted), _) => "stopped: maximum cost reached".to_owned(),
        (Some(FleetOutcome::Interrupted), _) => "interrupted".to_owned(),
        (Some(FleetOutcome::Stopped { .. }), _) => "stopped for a person".to_owned(),
        (None, false) => "killed; continue with: ralph fleet resume".to_owned(),
    };
    let target = state.started.target.trim_start_matches("refs/heads/");
    format!("Fleet {} on {target}: {how}, ${:.2}\n", dir.id(), state.cost())
}

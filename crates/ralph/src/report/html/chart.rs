//! The pictures of the report, as SVG: how long each turn took and what it cost, and what the gates said.

use std::{fmt::Write, time::Duration};

use ralph_core::{
    duration::format_duration,
    engine::{plan::Gate, roles::Because},
};

use super::{escape, recap::TurnRow};
use crate::{report::who, term::fit::fit};

/// More columns than this are drawn together: no one tells them apart, and the page stays small.
const MAX_COLUMNS: usize = 240;
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 160.0;
/// Below the bars, for the numbers of the iterations.
const FOOT: f64 = 22.0;
/// Beside the gates, for their names.
const NAMES: f64 = 180.0;
const ROW: f64 = 22.0;
/// The widest character of a label, a digit, at its size of 11 pixels.
const CHARACTER: f64 = 7.0;
/// Between two labels.
const GAP: f64 = 6.0;
/// The bands of turns that another agent than the first of its role had.
const STAND_IN: &str = "stand-in";
const STRONGER: &str = "stronger";

/// Some turns that are drawn as one column.
struct Column<'a> {
    turns: &'a [TurnRow],
}

impl Column<'_> {
    fn ms(&self) -> u64 {
        self.turns.iter().fold(0, |sum, told| sum.saturating_add(told.ms))
    }

    fn cost(&self) -> f64 {
        self.turns.iter().filter_map(|told| told.usage.cost_usd).sum()
    }

    /// The worst that happened in it.
    fn class(&self) -> &'static str {
        if self.turns.iter().any(|told| told.problem.is_some()) {
            "bad"
        } else if self.turns.iter().any(TurnRow::is_refused) {
            "warn"
        } else {
            "good"
        }
    }

    /// Who had it, where that is not the first of its role.
    fn band(&self) -> Option<(&'static str, String)> {
        let told = self.turns.iter().rev().find(|told| told.turn.because.is_some())?;
        let class = match told.turn.because.as_ref()? {
            Because::StandsIn { .. } => STAND_IN,
            Because::Escalated { .. } => STRONGER,
        };
        let who = told.turn.agent.clone().unwrap_or_default();
        Some((class, format!("{who}: {}", who::because(told.turn.because.as_ref())?)))
    }

    fn label(&self) -> String {
        match (self.turns.first(), self.turns.last()) {
            (Some(first), Some(last)) if first.turn.iteration != last.turn.iteration => {
                format!("{}–{}", first.turn.iteration, last.turn.iteration)
            }
            (Some(told), _) if 1 < told.turn.attempt => {
                format!("{}.{}", told.turn.iteration, told.turn.attempt)
            }
            (Some(told), _) => told.turn.iteration.to_string(),
            (None, _) => String::new(),
        }
    }
}

fn columns(turns: &[TurnRow]) -> Vec<Column<'_>> {
    let per_column = turns.len().div_ceil(MAX_COLUMNS).max(1);
    turns.chunks(per_column).map(|turns| Column { turns }).collect()
}

/// A bar for each turn: its height is the time, the number above it the cost.
pub(super) fn durations(turns: &[TurnRow]) -> String {
    let columns = columns(turns);
    let longest = columns.iter().map(Column::ms).max().unwrap_or(0).max(1);
    let step = step(columns.len(), WIDTH);
    let labelled = labelled(&columns, step);
    let mut svg = open("How long each turn took", WIDTH, HEIGHT + FOOT);
    let mut is_cost_shown = false;
    for (index, column) in columns.iter().enumerate() {
        let height = (share(column.ms(), longest) * (HEIGHT - 16.0)).max(1.0);
        let (x, y) = (at(index, step), HEIGHT - height);
        let took = format_duration(Duration::from_millis(column.ms()));
        let cost = if 0.0 < column.cost() { format!(", ${:.2}", column.cost()) } else { String::new() };
        let _ = write!(
            svg,
            "<rect class=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" rx=\"1\">\
             <title>Iteration {}: {took}{cost}</title></rect>",
            column.class(),
            (step * 0.8).min(48.0),
            column.label(),
        );
        if let Some((class, says)) = column.band() {
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"3\">\
                 <title>Iteration {}: {}</title></rect>",
                HEIGHT + 1.0,
                (step * 0.8).min(48.0),
                column.label(),
                escape(&says),
            );
        }
        let middle = x + (step * 0.8).min(48.0) / 2.0;
        let dollars = format!("${:.2}", column.cost());
        if width_of(&dollars) <= step && 0.0 < column.cost() {
            let _ = write!(svg, "<text x=\"{middle:.1}\" y=\"{:.1}\">{dollars}</text>", y - 4.0);
            is_cost_shown = true;
        }
        if index.is_multiple_of(labelled) {
            let (label, y) = (column.label(), HEIGHT + 15.0);
            let half = width_of(&label) / 2.0;
            // The picture ends at its edges.
            let middle = middle.clamp(half, WIDTH - half);
            let _ = write!(svg, "<text x=\"{middle:.1}\" y=\"{y:.1}\">{label}</text>");
        }
    }
    let has_cost = columns.iter().any(|column| 0.0 < column.cost());
    let cost = match (has_cost, is_cost_shown) {
        (true, true) => ", the figure above it the cost",
        (true, false) => "; point at a bar to see its cost",
        (false, _) => "",
    };
    let longest = format_duration(Duration::from_millis(longest));
    let caption = format!("The height is the time (at most {longest}){cost}.");
    let mut legend =
        vec![("good", "passed"), ("warn", "refused by a guardrail"), ("bad", "the agent failed")];
    let has = |class: &str| columns.iter().filter_map(Column::band).any(|(it, _)| it == class);
    legend.extend([(STAND_IN, "below: another agent took over")].into_iter().filter(|it| has(it.0)));
    legend.extend([(STRONGER, "below: a stronger agent works")].into_iter().filter(|it| has(it.0)));
    framed(&svg, &legend, &caption)
}

/// A row for each gate, a cell for each turn: passed, failed, not run.
pub(super) fn gates(turns: &[TurnRow], gates: &[Gate]) -> String {
    let columns = columns(turns);
    let step = step(columns.len(), WIDTH - NAMES);
    #[expect(clippy::cast_precision_loss, reason = "a plan has few gates")]
    let height = ROW * gates.len() as f64;
    let mut svg = open("What the guardrails said after each turn", WIDTH, height);
    for (row, gate) in gates.iter().enumerate() {
        let y = at(row, ROW);
        let name = fit(gate.check.name(), 26);
        let _ = write!(svg, "<text class=\"name\" x=\"0\" y=\"{:.1}\">{}</text>", y + 15.0, escape(&name));
        for (index, column) in columns.iter().enumerate() {
            let results = column.turns.iter().flat_map(|told| &told.gates).filter(|it| it.gate == row);
            let results: Vec<bool> = results.map(|checked| checked.failure.is_none()).collect();
            let (class, says) = match results.iter().all(|passed| *passed) {
                _ if results.is_empty() => ("none", "was not run"),
                true => ("good", "passed"),
                false => ("bad", "failed"),
            };
            let _ = write!(
                svg,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"16\" rx=\"2\">\
                 <title>Iteration {}: {says}</title></rect>",
                NAMES + at(index, step),
                y + 3.0,
                (step * 0.85).min(48.0),
                column.label(),
            );
        }
    }
    framed(&svg, &[("good", "passed"), ("bad", "failed"), ("none", "not run")], "")
}

/// The picture in a frame that can be scrolled on a small screen, and what its colours mean.
fn framed(svg: &str, legend: &[(&str, &str)], caption: &str) -> String {
    let legend = legend.iter().map(|(class, says)| {
        format!("<svg viewBox=\"0 0 12 12\"><rect class=\"{class}\" width=\"12\" height=\"12\" rx=\"2\"/></svg>{says}")
    });
    let legend = legend.collect::<Vec<_>>().join(" ");
    format!(
        "<div class=\"chart\">{svg}</svg></div>\n<p class=\"legend quiet\">{legend} <span class=\"caption\">{caption}</span></p>"
    )
}

fn open(label: &str, width: f64, height: f64) -> String {
    format!("<svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{label}\">")
}

#[expect(clippy::cast_precision_loss, reason = "there are at most a few hundred columns")]
fn step(columns: usize, width: f64) -> f64 {
    (width / columns.max(1) as f64).min(60.0)
}

#[expect(clippy::cast_precision_loss, reason = "there are at most a few hundred columns")]
fn at(index: usize, step: f64) -> f64 {
    index as f64 * step
}

#[expect(clippy::cast_precision_loss, reason = "a picture is not that exact")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Numbers are below every nth column only: as many as have room for the longest of them, and the first and the last half as
/// much again, because they are moved away from the edge.
fn labelled(columns: &[Column<'_>], step: f64) -> usize {
    let widest = columns.iter().map(|column| width_of(&column.label())).fold(0.0, f64::max);
    let is_enough = |every: &usize| 1.5 * widest <= at(*every, step);
    (1..columns.len().max(2)).find(is_enough).unwrap_or(columns.len().max(1))
}

/// The room that a label takes, with a gap to the next.
fn width_of(label: &str) -> f64 {
    at(label.chars().count(), CHARACTER) + GAP
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use ralph_agents::Usage;
    use ralph_core::engine::event::Turn;

    use super::*;

    fn turns(count: u32) -> Vec<TurnRow> {
        let row = |iteration| TurnRow {
            turn: Turn { iteration, attempt: 1, ..Turn::default() },
            at: Timestamp::UNIX_EPOCH,
            ms: 1000,
            usage: Usage { cost_usd: Some(12.5), ..Usage::default() },
            tools: 0,
            claimed: false,
            problem: None,
            gates: Vec::new(),
        };
        (1..=count).map(row).collect()
    }

    /// Where the labels at this height begin and end.
    fn labels(svg: &str) -> Vec<(f64, f64, String)> {
        let foot = format!("y=\"{:.1}\">", HEIGHT + 15.0);
        let texts = svg.split("<text x=\"").skip(1).filter(|text| text.contains(&foot));
        let placed = texts.map(|text| {
            let (middle, rest) = text.split_once('"').expect("a place");
            let label = rest.split(['>', '<']).nth(1).expect("a label").to_owned();
            let (middle, half): (f64, f64) =
                (middle.parse().expect("a number"), at(label.chars().count(), 3.5));
            (middle - half, middle + half, label)
        });
        placed.collect()
    }

    #[test]
    fn the_caption_speaks_of_figures_only_where_there_are_some() {
        assert!(durations(&turns(3)).contains("the figure above it the cost"));
        assert!(durations(&turns(400)).contains("point at a bar to see its cost"));
        let mut free = turns(3);
        for row in &mut free {
            row.usage = Usage::default();
        }
        assert!(!durations(&free).contains("cost"));
    }

    #[test]
    fn the_labels_of_a_long_run_do_not_run_into_each_other() {
        for count in [1, 2, 16, 20, 60, 240, 241, 999, 2400, 5000, 10_000, 100_000] {
            let labels = labels(&durations(&turns(count)));
            assert!(!labels.is_empty(), "{count}");
            assert!(count < 16 || 5 <= labels.len(), "{count}: {labels:?}");
            for (from, to, label) in &labels {
                assert!(0.0 <= *from && *to <= WIDTH, "{count}: {label} is cut off");
            }
            for pair in labels.windows(2) {
                assert!(pair[0].1 < pair[1].0, "{count}: {pair:?}");
            }
        }
    }
}

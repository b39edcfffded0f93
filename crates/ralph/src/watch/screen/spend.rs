//! What a run has used: in all, of its limits, by agent, by turn.

use std::time::Duration;

use ralph_core::view::{ShownRun, ShownTurn};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{super::look::Look, frame::short, heading, padded, right};
use crate::{report::summary, term::fit::fit};

/// The widest bar.
const MAX_BAR: usize = 40;
const LABEL: usize = 12;

/// The rows of the tab.
pub(super) fn rows<'a>(run: &ShownRun, look: &Look, width: usize) -> Vec<Line<'a>> {
    let (spend, mut rows) = (&run.spend, vec![Line::default()]);
    let limits = &spend.limits;
    let cost = summary::cost(&spend.usage).unwrap_or_else(|| "unknown".to_owned());
    let used = spend.usage.cost_usd.unwrap_or(0.0);
    rows.push(bar(
        "cost",
        &cost,
        limits.max_cost.map(|most| (format!("${most:.2}"), used / most)),
        look,
        width,
    ));
    let tokens = spend.usage.tokens();
    let most = limits.max_tokens.map(|most| (summary::short(most), share(tokens, most)));
    let said = summary::tokens(spend.usage.input, spend.usage.cached, spend.usage.output);
    rows.push(bar("tokens", &said, most, look, width));
    let most = limits.max_time_ms.map(|most| (time(most), share(spend.ms, most)));
    rows.push(bar("time", &time(spend.ms), most, look, width));
    let most = (run.max_iterations.to_string(), share(run.iteration.into(), run.max_iterations.into()));
    rows.push(bar("iterations", &run.iteration.to_string(), Some(most), look, width));
    for window in &spend.quota {
        let most = ("100 %".to_owned(), f64::from(window.used) / 100.0);
        rows.push(bar("usage limit", &format!("{} %", window.used), Some(most), look, width));
    }
    let more = [
        summary::count(spend.turns.into(), "turn"),
        summary::count(spend.tools, "tool call"),
        summary::count(spend.commits.into(), "commit"),
    ];
    rows.push(super::line(&format!("{}{}", padded("", LABEL), more.join(look.signs.dot)), look.quiet, width));
    rows.push(Line::default());
    if 1 < spend.agents.len() {
        rows.push(heading("agent", look, width));
        for agent in &spend.agents {
            let cost = summary::cost(&agent.usage).unwrap_or_default();
            let turns = summary::count(agent.turns.into(), "turn");
            let text = format!(
                "{} {} {} {}",
                padded(&agent.name, 20),
                right(&turns, 10),
                right(&time(agent.ms), 8),
                right(&cost, 9)
            );
            rows.push(super::line(&text, Style::new(), width));
        }
        rows.push(Line::default());
    }
    rows.push(heading("turn       cost    tokens     time  tools", look, width));
    let dearest = run.turns.iter().map(weight).fold(0.0, f64::max);
    rows.extend(run.turns.iter().rev().map(|turn| row(turn, dearest, look, width)));
    rows
}

/// What a turn weighs against others: its cost or, where no one says it, its tokens.
fn weight(turn: &ShownTurn) -> f64 {
    turn.usage.cost_usd.unwrap_or_else(|| share(turn.usage.tokens(), 1_000_000))
}

fn row<'a>(turn: &ShownTurn, dearest: f64, look: &Look, width: usize) -> Line<'a> {
    let cost = summary::cost(&turn.usage).unwrap_or_default();
    let text = format!(
        "{}{}{}{}{}  ",
        padded(&turn.iteration.to_string(), 6),
        right(&cost, 9),
        right(&summary::short(turn.usage.tokens()), 10),
        right(&time(turn.ms), 9),
        right(&turn.tools.to_string(), 7),
    );
    let room = width.saturating_sub(43).min(MAX_BAR);
    let part = if 0.0 < dearest { weight(turn) / dearest } else { 0.0 };
    Line::from(vec![
        Span::raw(fit(&text, width).into_owned()),
        Span::styled(look.signs.bar.repeat(filled(part, room)), look.accent),
    ])
}

/// A figure, and how much of its limit it is.
fn bar<'a>(label: &str, used: &str, limit: Option<(String, f64)>, look: &Look, width: usize) -> Line<'a> {
    let label = Span::styled(padded(label, LABEL), look.quiet);
    let Some((most, part)) = limit else {
        return Line::from(vec![label, Span::raw(fit(used, width.saturating_sub(LABEL)).into_owned())]);
    };
    let used = format!("{used} of {most}  ");
    let room = width.saturating_sub(LABEL + 36).min(MAX_BAR);
    let full = filled(part, room);
    let style = if part < 0.8 { look.accent } else { look.warn };
    Line::from(vec![
        label,
        Span::raw(padded(&used, 34.min(width.saturating_sub(LABEL)))),
        Span::styled(look.signs.bar.repeat(full), style),
        Span::styled(look.signs.none.repeat(room - full), look.quiet),
    ])
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a part of a few columns"
)]
fn filled(part: f64, room: usize) -> usize {
    if part.is_finite() { ((part.clamp(0.0, 1.0) * room as f64).round() as usize).min(room) } else { 0 }
}

#[expect(clippy::cast_precision_loss, reason = "a bar is not exact")]
fn share(used: u64, most: u64) -> f64 {
    used as f64 / most.max(1) as f64
}

fn time(ms: u64) -> String {
    short(Duration::from_millis(ms))
}

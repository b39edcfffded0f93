//! All runs: those that need a person first, then those at work, then the newest.

use ralph_core::view::{Attention, ShownRun};
use ratatui::{
    layout::Rect,
    style::Style,
    text::{Line, Span},
};

use super::{
    super::{app::App, look::Look},
    frame::{short, since},
    heading, padded, right,
    tasks::queue,
};
use crate::{
    report::summary,
    term::fit::{columns, fit},
};

/// Room for the dots of a run in a list.
const DOTS: usize = 10;

/// The list on a screen of its own.
pub(super) fn wide<'a>(app: &App, look: &Look, area: Rect) -> Vec<Line<'a>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let mut rows = Vec::new();
    for fleet in &app.overview.fleets {
        rows.extend(queue(fleet, look, width));
        rows.push(Line::default());
    }
    rows.truncate(height / 2);
    if app.overview.runs.is_empty() {
        rows.push(super::line("no runs yet; start one: ralph run \"...\"", look.quiet, width));
        return rows;
    }
    rows.push(heading(
        &format!(
            "  {} {} {} {}    cost     age  what",
            padded("state", 12),
            padded("project", 16),
            right("iteration", 9),
            padded("guardrails", DOTS)
        ),
        look,
        width,
    ));
    let room = height.saturating_sub(rows.len()).max(1);
    let first = app.selection().saturating_sub(room.saturating_sub(1));
    let runs = app.overview.runs.iter().enumerate().skip(first).take(room);
    rows.extend(runs.map(|(at, run)| row(app, run, at == app.selection(), look, width)));
    rows
}

fn row<'a>(app: &App, run: &ShownRun, is_selected: bool, look: &Look, width: usize) -> Line<'a> {
    let (sign, style) = look.standing(run.standing);
    let iterations = format!("{}/{}", run.iteration, run.max_iterations);
    let cost = summary::cost(&run.spend.usage).unwrap_or_default();
    let mut spans = vec![
        Span::styled(format!("{sign} "), style),
        Span::styled(padded(run.standing.word(), 12), style),
        Span::styled(format!(" {} ", padded(&place(run), 16)), look.strong),
        Span::raw(format!("{} ", right(&iterations, 9))),
    ];
    spans.extend(dots(run, look));
    spans.push(Span::styled(format!("{} {}  ", right(&cost, 8), right(&age(app, run), 7)), look.quiet));
    let used: usize = spans.iter().map(|span| columns(&span.content)).sum();
    let (text, style) = match &run.attention {
        Some(attention) => (attention.words(), look.warn),
        None => (run.asked.clone().unwrap_or_default(), Style::new()),
    };
    spans.push(Span::styled(padded(&text, width.saturating_sub(used)), style));
    let line = Line::from(spans);
    if is_selected { line.patch_style(look.marked) } else { line }
}

/// The list beside a run.
pub(super) fn narrow<'a>(app: &App, look: &Look, area: Rect) -> Vec<Line<'a>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let needs = app.overview.runs.iter().filter(|run| run.attention.is_some()).count();
    let title = match needs {
        0 => format!("{} runs", app.overview.runs.len()),
        some => format!("{} runs, {some} need you", app.overview.runs.len()),
    };
    let mut rows = vec![super::line(&title, look.strong, width), Line::default()];
    for fleet in &app.overview.fleets {
        let text = format!("fleet {}: {} of {} landed", fleet.standing, fleet.landed, fleet.items.len());
        rows.push(super::line(&text, look.accent, width));
    }
    rows.truncate(height);
    let room = height.saturating_sub(rows.len()) / 2;
    let is_open = |run: &ShownRun| app.run.as_ref().is_some_and(|open| open.id == run.id);
    let at = app.overview.runs.iter().position(is_open).unwrap_or(0);
    let first = at.saturating_sub(room.saturating_sub(1));
    for run in app.overview.runs.iter().skip(first).take(room) {
        rows.extend(entry(app, run, is_open(run), look, width));
    }
    rows
}

/// Two lines: which run and how it stands, then what it is about.
fn entry<'a>(app: &App, run: &ShownRun, is_open: bool, look: &Look, width: usize) -> [Line<'a>; 2] {
    let (sign, style) = look.standing(run.standing);
    let name = if is_open { look.marked } else { look.strong };
    let age = age(app, run);
    let iterations = format!("{}/{}", run.iteration, run.max_iterations);
    let room = width.saturating_sub(2 + columns(&iterations) + columns(&age) + 3);
    let first = Line::from(vec![
        Span::styled(format!("{sign} "), style),
        Span::styled(padded(&place(run), room), name),
        Span::styled(format!(" {iterations} {age}"), look.quiet),
    ]);
    let text = run.attention.as_ref().map(Attention::words).or_else(|| run.asked.clone()).unwrap_or_default();
    let style = if run.attention.is_some() { look.warn } else { look.quiet };
    let room = width.saturating_sub(2 + DOTS + 1);
    let mut second = vec![Span::raw("  "), Span::styled(padded(&text, room), style), Span::raw(" ")];
    second.extend(dots(run, look));
    [first, Line::from(second)]
}

/// The last turns: the worst that a guardrail said after each.
fn dots<'a>(run: &ShownRun, look: &Look) -> Vec<Span<'a>> {
    let turns = &run.turns[run.turns.len().saturating_sub(DOTS)..];
    let mut spans = vec![Span::raw(" ".repeat(DOTS - turns.len()))];
    spans.extend(turns.iter().map(|turn| {
        let worst = turn.gates.iter().copied().max_by_key(|dot| Look::severity(*dot)).unwrap_or_default();
        let (sign, style) = look.dot(worst);
        Span::styled(sign, style)
    }));
    spans
}

/// The folder that a run works in; a lane is named after its clone.
fn place(run: &ShownRun) -> String {
    let mut parts = run.project.rsplit('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some("tree"), Some(lane)) => lane.to_owned(),
        (Some(folder), _) => folder.to_owned(),
        (None, _) => run.project.clone(),
    }
}

fn age(app: &App, run: &ShownRun) -> String {
    fit(&short(since(run.started_at, app.now)), 7).into_owned()
}

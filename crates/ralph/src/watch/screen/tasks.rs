//! The stories of a list, the tasks of a plan, or the queue of a fleet.

use ralph_core::view::{ShownFleet, ShownItem, ShownRun, ShownTask};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{super::app::App, super::look::Look, padded};
use crate::term::fit::{columns, fit};

/// The rows of the tab.
pub(super) fn rows<'a>(app: &App, run: &ShownRun, look: &Look, width: usize) -> Vec<Line<'a>> {
    let mut rows = vec![Line::default()];
    if !run.tasks.is_empty() {
        let name = |task: &ShownTask| task.id.as_ref().map_or(0, |id| columns(id));
        let widest = run.tasks.iter().map(name).max().unwrap_or(0).min(20);
        rows.extend(run.tasks.iter().map(|task| story(task, widest, look, width)));
        return rows;
    }
    for fleet in &app.overview.fleets {
        rows.extend(queue(fleet, look, width));
        rows.push(Line::default());
    }
    if app.overview.fleets.is_empty() {
        let text = match run.plan_tasks {
            Some((tasks, open)) => format!("{open} of {tasks} tasks of the plan are open"),
            None => "this loop has no list of stories: its task is its prompt".to_owned(),
        };
        rows.push(super::line(&text, look.quiet, width));
    }
    rows
}

fn story<'a>(task: &ShownTask, widest: usize, look: &Look, width: usize) -> Line<'a> {
    let (sign, style) = look.task(task.state);
    let here = if task.is_current { look.signs.here } else { " " };
    let title = if task.is_current { look.strong } else { Style::new() };
    let id = task.id.as_deref().map(|id| format!("{}  ", padded(id, widest))).unwrap_or_default();
    let reviews = if task.reviews < 2 { String::new() } else { format!(" ({} reviews)", task.reviews) };
    let word = format!("{}{reviews}", task.state.word());
    let room = width.saturating_sub(6 + columns(&id) + columns(&word));
    Line::from(vec![
        Span::styled(format!("{here} "), look.accent),
        Span::styled(format!("{sign} "), style),
        Span::styled(id, look.quiet),
        Span::styled(padded(&task.title, room), title),
        Span::styled(format!("  {word}"), style),
    ])
}

/// A fleet with its items, in the order of its plan.
pub(super) fn queue<'a>(fleet: &ShownFleet, look: &Look, width: usize) -> Vec<Line<'a>> {
    let style = match fleet.standing {
        "running" => look.accent,
        "complete" => look.good,
        _ => look.warn,
    };
    let dot = look.signs.dot;
    let head = format!(
        "fleet on {}{dot}{}{dot}{} of {} landed{dot}${:.2}",
        fleet.target,
        fleet.standing,
        fleet.landed,
        fleet.items.len(),
        fleet.cost
    );
    let mut rows = vec![super::line(&head, style.patch(look.strong), width)];
    rows.extend(
        fleet
            .attention
            .as_ref()
            .map(|why| super::line(&format!("{} needs you: {why}", look.signs.needs), look.warn, width)),
    );
    let widest = fleet.items.iter().map(|item| columns(&item.id)).max().unwrap_or(0).min(24);
    rows.extend(fleet.items.iter().map(|item| queued(item, widest, look, width)));
    rows
}

fn queued<'a>(item: &ShownItem, widest: usize, look: &Look, width: usize) -> Line<'a> {
    let signs = look.signs;
    let (sign, style) = match item.phase {
        "landed" => (signs.good, look.good),
        "failed" | "refused" => (signs.bad, look.bad),
        "working" => (signs.running, look.accent),
        "landing" => (signs.partly, look.accent),
        _ => (signs.none, look.quiet),
    };
    let waits = if item.phase == "open" && !item.after.is_empty() {
        format!("after {}", item.after.join(", "))
    } else {
        item.detail.clone()
    };
    let text = if waits.is_empty() { item.title.clone() } else { format!("{}  {waits}", item.title) };
    let room = width.saturating_sub(widest + 16);
    Line::from(vec![
        Span::styled(format!("  {sign} "), style),
        Span::raw(format!("{}  ", padded(&item.id, widest))),
        Span::styled(padded(item.phase, 10), style),
        Span::styled(fit(&text, room).into_owned(), look.quiet),
    ])
}

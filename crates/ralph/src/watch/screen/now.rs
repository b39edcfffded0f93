//! What happens at the moment: what the agent does, what the guardrails said last, and the end of its stream.

use ralph_core::view::{GateDot, LineKind, ShownLine, ShownRun};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{
    super::{app::App, look::Look},
    frame::{short, since},
};
use crate::term::{
    fit::{columns, fit},
    wrap::wrap,
};

/// The rows of the tab; what is not followed stays where it is.
pub(super) fn rows<'a>(app: &mut App, look: &Look, width: usize, height: usize) -> Vec<Line<'a>> {
    let mut rows: Vec<Line<'a>> = Vec::new();
    if let Some(run) = &app.run {
        rows.extend(doing(app, run, look, width));
        rows.extend(gates(run, look, width));
        if !rows.is_empty() {
            rows.push(Line::default());
        }
    }
    rows.truncate(height);
    let room = height - rows.len();
    let lines = app.stream();
    let scroll = app.scroll.min(lines.len().saturating_sub(1));
    let is_back = 0 < scroll;
    let room = room.saturating_sub(usize::from(is_back || !app.filter.is_empty()));
    rows.extend(stream(app, &lines[..lines.len() - scroll], look, width, room));
    if is_back || !app.filter.is_empty() {
        rows.push(position(app, scroll, lines.len(), look, width));
    }
    app.scroll = scroll;
    rows
}

/// What is done, and for how long.
fn doing<'a>(app: &App, run: &ShownRun, look: &Look, width: usize) -> Option<Line<'a>> {
    let doing = run.doing.as_ref()?;
    let time = short(since(run.turn_since.unwrap_or(run.last_at), app.now));
    let text = fit(doing, width.saturating_sub(columns(&time) + 4)).into_owned();
    Some(Line::from(vec![
        Span::styled(format!("{} ", look.signs.here), look.accent),
        Span::styled(text, look.strong),
        Span::styled(format!("  {time}"), look.quiet),
    ]))
}

/// The guardrails with what each said last, in one line.
fn gates<'a>(run: &ShownRun, look: &Look, width: usize) -> Option<Line<'a>> {
    let checked = run.gates.iter().filter(|gate| gate.last != GateDot::Unchecked);
    let (mut spans, mut used) = (Vec::new(), 0);
    for gate in checked {
        let (sign, style) = look.dot(gate.last);
        let name = fit(&gate.name, 28).into_owned();
        let length = columns(&name) + 4;
        if width < used + length {
            break;
        }
        used += length;
        spans.extend([Span::styled(format!("{sign} "), style), Span::raw(format!("{name}  "))]);
    }
    (!spans.is_empty()).then(|| Line::from(spans))
}

/// As many rows as there is room for, made from the last lines upwards.
fn stream<'a>(app: &App, lines: &[&ShownLine], look: &Look, width: usize, room: usize) -> Vec<Line<'a>> {
    if lines.is_empty() {
        let text = if app.filter.is_empty() { "the agent has said nothing yet" } else { "no such line" };
        return vec![super::line(text, look.quiet, width); usize::from(0 < room)];
    }
    let mut rows: Vec<Line<'a>> = Vec::new();
    for line in lines.iter().rev() {
        let (sign, style) = shown_as(line.kind, look);
        let is_found = !app.search.is_empty() && app.found == Some(line.number);
        let style = if is_found { style.patch(look.marked) } else { style };
        if line.kind == LineKind::Turn {
            let text = fit(&line.text, width.saturating_sub(4)).into_owned();
            let rule = look.signs.rule.repeat(width.saturating_sub(columns(&text) + 4));
            rows.push(Line::styled(format!("{0}{0} {text} {rule}", look.signs.rule), look.quiet));
        } else {
            let text = wrap(&line.text, width.saturating_sub(2).max(8));
            for (number, part) in text.lines().enumerate().collect::<Vec<_>>().into_iter().rev() {
                let sign = if number == 0 { sign } else { "  " };
                let part = fit(part, width.saturating_sub(2)).into_owned();
                rows.push(Line::from(vec![Span::styled(sign, look.quiet), Span::styled(part, style)]));
            }
        }
        if room <= rows.len() {
            break;
        }
    }
    rows.truncate(room);
    rows.reverse();
    rows
}

fn shown_as(kind: LineKind, look: &Look) -> (&'static str, Style) {
    match kind {
        LineKind::Text => ("  ", Style::new()),
        LineKind::Tool => ("> ", look.accent),
        LineKind::ToolFailed => ("x ", look.bad),
        LineKind::Todo | LineKind::Note | LineKind::Turn => ("  ", look.quiet),
    }
}

/// Where in the stream one is.
fn position<'a>(app: &App, scroll: usize, lines: usize, look: &Look, width: usize) -> Line<'a> {
    let mut parts = Vec::new();
    if 0 < scroll {
        parts.push(format!("{scroll} of {lines} lines below; End follows"));
    }
    if !app.filter.is_empty() {
        parts.push(format!("only lines with “{}”; Esc shows all", app.filter));
    }
    super::line(&parts.join(look.signs.dot), look.warn, width)
}

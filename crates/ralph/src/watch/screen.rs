//! Draws what is shown. The important thing comes first: what needs a person, then what happens, then figures.

mod findings;
mod frame;
mod gates;
mod list;
mod now;
mod spend;
mod tasks;
#[cfg(test)]
mod tests;

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

use super::{
    app::{App, Diff, InputMode, Tab, keys::KEYS},
    look::Look,
};
use crate::term::fit::{columns, fit};

/// Below this there is no room for a frame: only the most important line is shown.
const MIN_ROWS: u16 = 5;
const MIN_COLUMNS: u16 = 20;
/// The list beside a run.
const SIDEBAR: u16 = 40;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App, look: &Look) {
    let area = frame.area();
    app.columns = usize::from(area.width);
    if area.height < MIN_ROWS || area.width < MIN_COLUMNS {
        let text = frame::tiny(app, look, app.columns);
        return frame.render_widget(Paragraph::new(text), area);
    }
    let footer = Rect { y: area.bottom() - 1, height: 1, ..area };
    let whole = Rect { height: area.height - 1, ..area };
    if app.has_sidebar() && !app.is_list {
        let side = Rect { width: SIDEBAR, ..whole };
        let rest = Rect { x: side.right() + 2, width: whole.width - SIDEBAR - 2, ..whole };
        frame.render_widget(Paragraph::new(list::narrow(app, look, side)), side);
        run(frame, app, look, rest);
    } else if app.is_list || app.run.is_none() {
        app.page = usize::from(whole.height);
        frame.render_widget(Paragraph::new(list::wide(app, look, whole)), whole);
    } else {
        run(frame, app, look, whole);
    }
    frame.render_widget(Paragraph::new(frame::footer(app, look, usize::from(footer.width))), footer);
    if app.mode == InputMode::Help {
        help(frame, look, whole);
    }
}

/// One run.
fn run(frame: &mut Frame<'_>, app: &mut App, look: &Look, area: Rect) {
    let width = usize::from(area.width);
    let mut head = frame::head(app, look, width);
    head.truncate(usize::from(area.height) - 1);
    let height = u16::try_from(head.len()).unwrap_or(area.height);
    frame.render_widget(Paragraph::new(head), Rect { height, ..area });
    let body = Rect { y: area.y + height, height: area.height - height, ..area };
    app.page = usize::from(body.height);
    frame.render_widget(Paragraph::new(self::body(app, look, width, usize::from(body.height))), body);
}

/// The rows of the tab that is in front.
fn body<'a>(app: &mut App, look: &Look, width: usize, height: usize) -> Vec<Line<'a>> {
    let Some(run) = &app.run else { return Vec::new() };
    let all = match app.tab {
        Tab::Now => return now::rows(app, look, width, height),
        Tab::Gates => gates::rows(run, look, width),
        Tab::Tasks => tasks::rows(app, run, look, width),
        Tab::Diff => diff(&app.diff, look, width),
        Tab::Spend => spend::rows(run, look, width),
        Tab::Findings => findings::rows(run, look, width),
    };
    app.scroll = app.scroll.min(all.len().saturating_sub(height));
    all.into_iter().skip(app.scroll).take(height).collect()
}

fn diff<'a>(diff: &Diff, look: &Look, width: usize) -> Vec<Line<'a>> {
    let Diff::Lines(lines) = diff else { return vec![line("asking git …", look.quiet, width)] };
    let style = |text: &str| match text.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', b' ', ..] => look.strong,
        [b'+', ..] => look.good,
        [b'-', ..] => look.bad,
        [b'@', ..] => look.accent,
        _ => ratatui::style::Style::new(),
    };
    lines.iter().map(|text| line(text, style(text), width)).collect()
}

fn help(frame: &mut Frame<'_>, look: &Look, area: Rect) {
    let width = usize::from(area.width);
    let mut lines = vec![line("Keys (any key closes this)", look.strong, width), Line::default()];
    for (keys, what) in KEYS {
        let text = fit(what, width.saturating_sub(22)).into_owned();
        lines.push(Line::from(vec![Span::styled(padded(keys, 20), look.accent), Span::raw(text)]));
    }
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines), area);
}

/// One line in one style, cut to this width.
fn line<'a>(text: &str, style: ratatui::style::Style, width: usize) -> Line<'a> {
    Line::styled(fit(text, width).into_owned(), style)
}

/// The text in exactly so many columns.
fn padded(text: &str, width: usize) -> String {
    let text = fit(text, width).into_owned();
    let gap = width.saturating_sub(columns(&text));
    text + &" ".repeat(gap)
}

/// The same with the text at the right.
fn right(text: &str, width: usize) -> String {
    let text = fit(text, width).into_owned();
    " ".repeat(width.saturating_sub(columns(&text))) + &text
}

/// A heading above rows.
fn heading<'a>(text: &str, look: &Look, width: usize) -> Line<'a> {
    line(text, look.quiet, width)
}

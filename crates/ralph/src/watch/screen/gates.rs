//! The guardrails over time, and the turns that they judged.

use ralph_core::view::{ShownRun, ShownTurn, TurnMark};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{super::look::Look, frame::short, heading, padded, right};
use crate::{
    report::summary,
    term::fit::{columns, fit},
};

/// Beside the names, for how often each passed.
const TALLY: usize = 12;
const MAX_NAME: usize = 40;

/// A row of dots for each guardrail, then the turns, the newest first.
pub(super) fn rows<'a>(run: &ShownRun, look: &Look, width: usize) -> Vec<Line<'a>> {
    let mut rows = vec![Line::default()];
    if run.gates.is_empty() {
        rows.push(super::line("no guardrail checks this run", look.warn, width));
    }
    let widest = run.gates.iter().map(|gate| columns(&gate.name)).max().unwrap_or(0);
    let name = widest.min(MAX_NAME).min(width / 3);
    let room = width.saturating_sub(name + TALLY + 2);
    let turns = &run.turns[run.turns.len().saturating_sub(room)..];
    for (index, gate) in run.gates.iter().enumerate() {
        let tally = format!("{} of {}", gate.passed, gate.passed + gate.failed);
        let mut spans = vec![
            Span::raw(padded(&gate.name, name)),
            Span::styled(format!(" {} ", right(&tally, TALLY - 2)), look.quiet),
        ];
        for turn in turns {
            let (sign, style) = look.dot(turn.gates.get(index).copied().unwrap_or_default());
            spans.push(Span::styled(sign, style));
        }
        rows.push(Line::from(spans));
    }
    rows.push(legend(look, width));
    rows.push(Line::default());
    rows.push(heading("turn    guardrails       time      cost  what became of it", look, width));
    rows.extend(run.turns.iter().rev().map(|turn| row(turn, run.gates.len(), look, width)));
    let older = run.turns_total - run.turns.len();
    if 0 < older {
        rows.push(heading(&format!("{older} earlier turns: ralph report {}", run.id), look, width));
    }
    rows
}

fn legend<'a>(look: &Look, width: usize) -> Line<'a> {
    let signs = look.signs;
    let text = format!(
        "{} passed  {} failed  {} failed in a clean clone  {} running  {} not checked",
        signs.running, signs.bad, signs.judge, signs.partly, signs.none
    );
    super::line(&text, look.quiet, width)
}

fn row<'a>(turn: &ShownTurn, gates: usize, look: &Look, width: usize) -> Line<'a> {
    let number = if turn.attempt == 1 {
        turn.iteration.to_string()
    } else {
        format!("{}.{}", turn.iteration, turn.attempt)
    };
    let (sign, style) = look.turn(turn.mark);
    let mut spans = vec![Span::raw(padded(&number, 6)), Span::styled(padded(sign, 2), style)];
    for index in 0..gates.min(14) {
        let (sign, style) = look.dot(turn.gates.get(index).copied().unwrap_or_default());
        spans.push(Span::styled(sign, style));
    }
    let time = if turn.mark == TurnMark::Open {
        String::new()
    } else {
        short(std::time::Duration::from_millis(turn.ms))
    };
    let cost = summary::cost(&turn.usage).unwrap_or_default();
    spans.push(Span::raw(" ".repeat(14_usize.saturating_sub(gates.min(14)))));
    spans.push(Span::styled(format!("{} {}  ", right(&time, 7), right(&cost, 9)), look.quiet));
    let used: usize = spans.iter().map(|span| columns(&span.content)).sum();
    let (text, style) = became(turn, look);
    spans.push(Span::styled(fit(&text, width.saturating_sub(used)).into_owned(), style));
    Line::from(spans)
}

/// What became of a turn, in a few words.
fn became(turn: &ShownTurn, look: &Look) -> (String, Style) {
    let task = turn.task.as_ref().map(|task| format!("{task}: ")).unwrap_or_default();
    let (word, style) = match turn {
        ShownTurn { problem: Some(problem), .. } => (problem.clone(), look.bad),
        ShownTurn { mark: TurnMark::Open, .. } => ("at work".to_owned(), look.accent),
        turn if turn.claimed && turn.is_refused() => ("claimed, refused".to_owned(), look.bad),
        turn if turn.is_refused() => ("refused".to_owned(), look.bad),
        turn if turn.claimed && turn.committed => ("claimed, committed".to_owned(), look.good),
        turn if turn.claimed => ("claimed".to_owned(), look.good),
        turn if turn.committed => ("committed".to_owned(), look.good),
        _ => (String::new(), look.quiet),
    };
    (format!("{task}{word}"), style)
}

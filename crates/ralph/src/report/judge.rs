//! What a judge found, for people.

use std::{fmt::Write, time::Duration};

use ralph_core::duration::format_duration;

use super::style::Marks;
use crate::{
    judge::{Ended, Judged, PreparedRow, Row},
    term::{
        Palette,
        fit::{columns, fit, one_line},
    },
};

/// The widest that a command is shown.
const MAX_COMMAND: usize = 48;
/// What a result takes: a mark, a word and a time.
const RESULT: usize = 22;

/// The table, the caveats, and what seems to be missing.
pub(crate) fn table(judged: &Judged, marks: Marks, palette: Palette, width: usize) -> String {
    let Palette { strong, quiet, .. } = palette;
    let mut text = String::new();
    if let (Some(commit), Some(seat)) = (&judged.commit, &judged.seat) {
        let short: String = commit.chars().take(12).collect();
        let took = shown(judged.bring_ms);
        let _ = writeln!(
            text,
            "Judged {strong}{short}{strong:#} at {} {quiet}(ready after {took}){quiet:#}",
            seat.display()
        );
    }
    for step in &judged.prepared {
        text.push_str(&prepared(step, marks, palette));
    }
    let widest =
        judged.guardrails.iter().map(|row| columns(&one_line(&row.command))).max().unwrap_or_default();
    let room = widest.clamp("guardrail".len(), MAX_COMMAND.min(width.saturating_sub(2 * RESULT).max(9)));
    let _ = writeln!(
        text,
        "\n{quiet}{:<room$}  {:<RESULT$}in the judge{quiet:#}",
        "guardrail", "in the working tree"
    );
    for row in &judged.guardrails {
        text.push_str(&line(row, marks, room));
    }
    for caveat in &judged.caveats {
        let _ = writeln!(text, "\n{} {}: {caveat}", marks.warning, caveat.name());
    }
    text.push_str(&verdict(judged));
    text
}

fn prepared(step: &PreparedRow, marks: Marks, palette: Palette) -> String {
    let quiet = palette.quiet;
    let command = one_line(&step.command).into_owned();
    let place = if step.folder.is_empty() { String::new() } else { format!(" in {}", step.folder) };
    match step.end {
        "up-to-date" => format!("{quiet}Prepared before: {command}{place}{quiet:#}\n"),
        "done" => format!("Prepared: {command}{place} {quiet}({}){quiet:#}\n", shown(step.ms)),
        _ => format!("{} Preparing failed: {command}{place}\n  see {}\n", marks.bad, step.log.display()),
    }
}

fn line(row: &Row, marks: Marks, room: usize) -> String {
    let command = one_line(&row.command).into_owned();
    let command = fit(&command, room).into_owned();
    let pad = " ".repeat(room.saturating_sub(columns(&command)));
    let (place, judge) = (result(row.in_place.as_ref(), marks), result(row.in_judge.as_ref(), marks));
    let gap = " ".repeat(RESULT.saturating_sub(columns(&place)));
    let mut text = format!("{command}{pad}  {place}{gap}{judge}\n");
    match row.proof {
        Some("fails-in-judge") => {
            text.push_str("  passes in the working tree and fails in the judge\n");
        }
        Some("fails-otherwise") => {
            text.push_str("  fails at both places, but not in the same way\n");
        }
        Some(_) | None => {}
    }
    for missing in &row.missing {
        let _ = writeln!(text, "  {} {missing}", marks.dot);
    }
    if let Some(ended) = row.in_judge.as_ref().filter(|ended| !ended.passed) {
        let _ = writeln!(text, "  see {}", ended.log.display());
    }
    text
}

fn result(ended: Option<&Ended>, marks: Marks) -> String {
    match ended {
        None => "-".to_owned(),
        Some(ended) if ended.passed => format!("{} {}", marks.good, shown(ended.ms)),
        Some(Ended { code: Some(code), ms, .. }) => format!("{} exit {code}, {}", marks.bad, shown(*ms)),
        Some(ended) => format!("{} ended, {}", marks.bad, shown(ended.ms)),
    }
}

fn verdict(judged: &Judged) -> String {
    let failed =
        judged.guardrails.iter().filter(|row| row.in_judge.as_ref().is_some_and(|it| !it.passed)).count();
    let all = judged.guardrails.len();
    match (judged.passed, &judged.commit) {
        (true, Some(_)) => format!("\nAll {all} passed in the judge.\n"),
        (true, None) => format!("\nAll {all} passed in the working tree.\n"),
        (false, Some(_)) => format!("\n{failed} of {all} failed in the judge.\n"),
        (false, None) => "\nNot all passed in the working tree.\n".to_owned(),
    }
}

fn shown(ms: u64) -> String {
    format_duration(Duration::from_millis(ms))
}

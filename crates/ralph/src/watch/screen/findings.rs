//! What a person should know before the work counts: findings first, then warnings and refusals.

use ralph_core::view::{ShownRun, Standing};
use ratatui::{style::Style, text::Line};

use super::{super::look::Look, heading};
use crate::{report::summary, term::wrap::wrap};

/// The rows of the tab.
pub(super) fn rows<'a>(run: &ShownRun, look: &Look, width: usize) -> Vec<Line<'a>> {
    let mut rows = vec![Line::default()];
    if run.findings.is_empty() {
        rows.push(super::line("no findings: the checks were not weakened", look.good, width));
    }
    for finding in &run.findings {
        rows.extend(wrapped(&format!("{} {}", look.signs.needs, finding.text), look.warn, width));
        rows.extend(
            finding.files.iter().flat_map(|file| wrapped(&format!("    {file}"), Style::new(), width)),
        );
    }
    rows.extend(
        run.reason
            .iter()
            .flat_map(|reason| wrapped(&format!("the agent's reason: {reason}"), Style::new(), width)),
    );
    if run.is_accepted {
        rows.push(super::line("a person has accepted them", look.good, width));
    }
    if run.standing == Standing::Findings {
        rows.push(super::line("a accepts them, x sends the work back", look.accent, width));
    }
    section(&mut rows, "Seen at the last claim", &run.notes, look, width);
    section(&mut rows, "Warnings", &run.warnings, look, width);
    let refusals: Vec<String> = run
        .refusals
        .iter()
        .rev()
        .map(|refusal| format!("iteration {}: {}", refusal.iteration, refusal.text))
        .collect();
    let title =
        format!("Refused by the guard: {} of {}", run.refused, summary::count(run.judged, "tool call"));
    section(&mut rows, &title, &refusals, look, width);
    if let Some(work) = &run.work {
        section(&mut rows, "Files", std::slice::from_ref(work), look, width);
    }
    if !run.commands.is_empty() {
        section(&mut rows, "Next steps", &run.commands, look, width);
    }
    rows
}

fn section(rows: &mut Vec<Line<'_>>, title: &str, lines: &[String], look: &Look, width: usize) {
    if lines.is_empty() {
        return;
    }
    rows.extend([Line::default(), heading(title, look, width)]);
    rows.extend(lines.iter().flat_map(|line| wrapped(&format!("  {line}"), Style::new(), width)));
}

fn wrapped<'a>(text: &str, style: Style, width: usize) -> Vec<Line<'a>> {
    wrap(text, width.max(8)).lines().map(|part| super::line(part, style, width)).collect()
}

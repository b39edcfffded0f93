//! What is shown, as text without frames: for the terminal's own selection and its scroll back.

use std::fmt::Write;

use ralph_core::view::LineKind;

use super::app::{App, Diff, Tab};
use crate::term::fit::one_line;

/// What the tab in front says, whole lines, and how to come back.
pub(super) fn text(app: &App) -> String {
    let mut text = String::from("\n");
    let Some(run) = &app.run else { return text };
    match (app.tab, &app.diff) {
        (Tab::Diff, Diff::Lines(lines)) => {
            for line in lines {
                let _ = writeln!(text, "{}", one_line(line));
            }
        }
        (Tab::Findings, _) => {
            for finding in &run.findings {
                let _ = writeln!(text, "{}", finding.text);
                for file in &finding.files {
                    let _ = writeln!(text, "    {file}");
                }
            }
            for line in run.notes.iter().chain(&run.warnings).chain(&run.commands) {
                let _ = writeln!(text, "{line}");
            }
        }
        (Tab::Tasks, _) => {
            for task in &run.tasks {
                let id = task.id.as_deref().unwrap_or_default();
                let _ = writeln!(text, "{:10} {id} {}", task.state.word(), task.title);
            }
        }
        (Tab::Now | Tab::Gates | Tab::Spend | Tab::Diff, _) => {
            for line in app.stream() {
                let sign = if line.kind == LineKind::Turn { "\n-- " } else { "" };
                let _ = writeln!(text, "{sign}{}", line.text);
            }
        }
    }
    let _ = write!(text, "\n(run {}; any key returns to the screen)", run.id);
    text
}

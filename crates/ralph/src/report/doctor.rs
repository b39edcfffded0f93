//! The facts of a check-up for people: a line each, with what to type below it.

use std::fmt::Write;

use ralph_core::doctor::{Fact, Severity};

use super::style::Marks;
use crate::term::{Palette, printable, wrap::wrap};

/// Returns the report, group by group, with lines of at most so many columns; what is to be typed stays whole.
pub(crate) fn lines(facts: &[Fact], marks: Marks, palette: Palette, columns: usize) -> String {
    let Palette { good, bad, warn, accent, quiet, strong } = palette;
    let mut out = String::new();
    for (index, fact) in facts.iter().enumerate() {
        if index == 0 || facts[index - 1].group != fact.group {
            let gap = if index == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{strong}{}{strong:#}", fact.group.title());
        }
        let text = printable(&fact.text);
        let line = match fact.level {
            Severity::Good => format!("  {good}{}{good:#} {text}", marks.good),
            Severity::Note => format!("  {quiet}{text}{quiet:#}"),
            Severity::Warning => format!("  {warn}{}{warn:#} {text}", marks.warning),
            Severity::Problem => format!("  {bad}{}{bad:#} {text}", marks.bad),
        };
        let _ = writeln!(out, "{}", wrap(&line, columns));
        for command in &fact.mend {
            let _ = writeln!(out, "       {accent}{}{accent:#}", printable(command));
        }
    }
    out
}

//! The facts of a check-up for people: a line each, with what to type below it.

use std::fmt::Write;

use ralph_core::doctor::{Fact, Severity};

use super::style::Marks;
use crate::term::{Palette, printable};

/// Returns the report, group by group.
pub(crate) fn lines(facts: &[Fact], marks: Marks, palette: Palette) -> String {
    let Palette { good, bad, warn, accent, quiet, strong } = palette;
    let mut out = String::new();
    for (index, fact) in facts.iter().enumerate() {
        if index == 0 || facts[index - 1].group != fact.group {
            let gap = if index == 0 { "" } else { "\n" };
            let _ = writeln!(out, "{gap}{strong}{}{strong:#}", fact.group.title());
        }
        let text = printable(&fact.text);
        let _ = match fact.level {
            Severity::Good => writeln!(out, "  {good}{}{good:#} {text}", marks.good),
            Severity::Note => writeln!(out, "  {quiet}{text}{quiet:#}"),
            Severity::Warning => writeln!(out, "  {warn}{}{warn:#} {text}", marks.warning),
            Severity::Problem => writeln!(out, "  {bad}{}{bad:#} {text}", marks.bad),
        };
        for command in &fact.mend {
            let _ = writeln!(out, "       {accent}{}{accent:#}", printable(command));
        }
    }
    out
}

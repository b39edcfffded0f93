//! What is wrong with settings, told so that a file can be corrected without looking anything up.

use std::error::Error;
use std::fmt;

use ralph_core::located::report::{Issue, Report};

use super::layers::Sources;

/// Why the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingsError {
    /// Everything that is wrong, each as `file:line: key: expected …, found …`.
    pub(crate) problems: Vec<String>,
    /// What the user can do about it.
    pub(crate) hints: Vec<String>,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("\n"))
    }
}

impl Error for SettingsError {}

/// What is wrong and what is odd in one layer, as people are told, each in the order of the lines.
pub(super) fn told(report: Report, sources: &Sources) -> (Vec<String>, Vec<String>) {
    let told = |Issue { position, path, text }: Issue| {
        let origin = sources.origin(position);
        let path = if path.is_empty() { path } else { format!("{path}: ") };
        (origin.line(), format!("{origin}: {path}{text}"))
    };
    let in_order = |issues: Vec<Issue>| {
        let mut lines: Vec<(usize, String)> = issues.into_iter().map(told).collect();
        lines.sort_by_key(|(line, _)| *line);
        lines.into_iter().map(|(_, text)| text).collect()
    };
    (in_order(report.problems), in_order(report.warnings))
}

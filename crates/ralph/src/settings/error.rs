//! What is wrong with settings, told so that a file can be corrected without looking anything up.

use std::error::Error;
use std::fmt;

use super::node::Origin;

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

/// Collects what is wrong and what is odd in one layer.
#[derive(Debug, Default)]
pub(super) struct Report {
    problems: Vec<(usize, String)>,
    warnings: Vec<(usize, String)>,
}

impl Report {
    /// Notes a problem of the value that `path` names.
    pub(super) fn problem(&mut self, origin: &Origin, path: &str, what: &str) {
        let text =
            if path.is_empty() { format!("{origin}: {what}") } else { format!("{origin}: {path}: {what}") };
        self.problems.push((origin.line(), text));
    }

    /// Notes that a file is not JSON at this place.
    pub(super) fn not_json(&mut self, file: &str, (line, column): (usize, usize), what: &str) {
        self.problems.push((line, format!("{file}:{line}:{column}: {what}")));
    }

    /// Notes something that is odd but does no harm.
    pub(super) fn warning(&mut self, origin: &Origin, what: &str) {
        self.warnings.push((origin.line(), format!("{origin}: {what}")));
    }

    /// Returns the value, or notes the problem that stands in its place.
    pub(super) fn keep<T>(&mut self, origin: &Origin, path: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|what| self.problem(origin, path, &what)).ok()
    }

    /// Returns the problems and the warnings, each in the order of the lines.
    pub(super) fn finish(self) -> (Vec<String>, Vec<String>) {
        (in_order(self.problems), in_order(self.warnings))
    }
}

fn in_order(mut lines: Vec<(usize, String)>) -> Vec<String> {
    lines.sort_by_key(|(line, _)| *line);
    lines.into_iter().map(|(_, text)| text).collect()
}

//! An option that does not exist, and the one that was probably meant.

use super::{OPTIONS, value};

/// Names that are at least as much alike as this are taken for one another.
const MIN_LIKENESS: f64 = 0.85;

/// An option that does not exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnknownOption<'a> {
    name: &'a str,
}

impl<'a> UnknownOption<'a> {
    /// The unknown option that a text begins with, and what stands after it and its value.
    pub(super) fn at_the_start_of(text: &'a str) -> Option<(Self, &'a str)> {
        let letters = text.strip_prefix("--")?;
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        let end = letters.find(|char| !is_name(char)).unwrap_or(letters.len());
        let (letters, after) = letters.split_at(end);
        let is_option = letters.starts_with(|first: char| first.is_ascii_alphabetic())
            && after.chars().next().is_none_or(|next| next.is_whitespace() || next == '=');
        let name = &text[..2 + end];
        if !is_option {
            return None;
        }
        let given = after.strip_prefix('=').unwrap_or(after).trim_start();
        let has_value = after.starts_with('=') || !given.starts_with("--");
        let rest = if has_value { value(given).map_or(given, |(_, rest)| rest) } else { after };
        Some((Self { name }, rest))
    }

    /// The option that this was probably meant to be.
    pub(super) fn nearest(self) -> Option<&'static str> {
        let name = self.name.to_ascii_lowercase().replace('_', "-");
        let words = |option: &str| option.trim_start_matches('-').to_owned();
        let likeness = |option: &&str| strsim::jaro_winkler(&words(&name), &words(option));
        let best = OPTIONS.into_iter().max_by(|one, other| likeness(one).total_cmp(&likeness(other)))?;
        if MIN_LIKENESS <= likeness(&best) {
            return Some(best);
        }
        // A part of the name: `--promise`, `--iterations`.
        let is_part =
            |option: &&str| option.trim_start_matches('-').split('-').any(|word| word == words(&name));
        OPTIONS.into_iter().find(is_part)
    }

    /// What the user is told.
    pub(super) fn complaint(self) -> String {
        let name = self.name;
        match self.nearest() {
            Some(nearest) => format!("unknown option `{name}`; did you mean `{nearest}`?"),
            None => format!(
                "unknown option `{name}`; if it belongs to the task, put the task into quotation marks"
            ),
        }
    }
}

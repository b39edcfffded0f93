//! The morning report: one run as a page that needs nothing else, for people who would rather look than read.
//!
//! Invariant: everything that an agent or a gate said is escaped; the page has no script and loads nothing.

mod chart;
pub(crate) mod fleet;
mod recap;
mod receipt;
mod refused;
mod sandbox;
mod sections;

use jiff::tz::TimeZone;
use ralph_core::{
    escapes::{is_deceptive, mark, without_escapes},
    key_mask::masked,
    receipt::envelope::Envelope,
};

use crate::{journal::Folded, project::git::FileChange};
use ralph_core::view::Standing;
use recap::Recap;

const STYLE: &str = include_str!("html/style.css");
/// What is shown of a long prompt.
const MAX_PROMPT_LINES: usize = 12;
const MAX_PROMPT_CHARS: usize = 1200;

/// What the record does not say, or says elsewhere.
pub(crate) struct Page<'a> {
    pub(crate) id: &'a str,
    pub(crate) folded: &'a Folded,
    pub(crate) standing: Standing,
    /// The first prompt.
    pub(crate) asked: Option<String>,
    /// How the checks differ from those that the run began with.
    pub(crate) checks_diff: Option<String>,
    /// Abbreviated id and subject, oldest first.
    pub(crate) commits: Vec<(String, String)>,
    /// What is different since the run began.
    pub(crate) files: Vec<FileChange>,
    /// The first commit that is not the run's, and the last that is.
    pub(crate) range: Option<(String, String)>,
    pub(crate) zone: TimeZone,
    /// What others can verify, if there is one.
    pub(crate) receipt: Option<Envelope>,
}

impl Page<'_> {
    /// The whole page.
    pub(crate) fn render(&self) -> String {
        let story = Recap::of(self.folded, self.standing);
        let gates = &self.folded.run.plan.gates;
        let pictures = [
            ("Iterations", (!story.turns.is_empty()).then(|| chart::durations(&story.turns))),
            (
                "Guardrails",
                (!gates.is_empty() && !story.turns.is_empty()).then(|| chart::gates(&story.turns, gates)),
            ),
        ];
        let pictures = pictures.map(|(title, svg)| section(title, svg));
        let body = [
            self.heading(&story),
            self.figures(&story),
            section("What was asked", self.asked.as_deref().map(asked)),
            section("Needs attention", self.concerns(&story)),
            section("What was refused", Self::refused(&story)),
            section("Next steps", Some(self.commands())),
            pictures.concat(),
            section("Commits", self.committed()),
            section("Files changed", self.changed()),
            section("Turns", self.turns(&story)),
            section("Sandbox", self.contained()),
            section("Receipt", self.receipt()),
        ];
        document(self.id, &body.concat())
    }
}

/// A whole page.
fn document(id: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>ralph {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        escape(id),
    )
}

/// A page of words and pictures that it has itself: whatever an agent brings into it, nothing is run and nothing is loaded.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The prompt; of a long one only the beginning can be seen until the reader asks for the rest.
fn asked(text: &str) -> String {
    let text = text.trim_end();
    let cut = text.char_indices().nth(MAX_PROMPT_CHARS).map_or(text.len(), |(at, _)| at);
    let (start, rest) =
        text.split_at(text.match_indices('\n').nth(MAX_PROMPT_LINES - 1).map_or(cut, |(at, _)| at.min(cut)));
    if rest.is_empty() {
        return format!("<pre>{}</pre>", escape(start));
    }
    let rest = escape(rest.strip_prefix('\n').unwrap_or(rest));
    format!(
        "<pre>{}</pre>\n<details><summary>the rest of it</summary><pre>{rest}</pre></details>",
        escape(start)
    )
}

/// A section with a heading; nothing when there is nothing to say.
fn section(title: &str, content: Option<String>) -> String {
    content.map(|content| format!("<section>\n<h2>{title}</h2>\n{content}\n</section>\n")).unwrap_or_default()
}

/// Text that may stand in a page, in an attribute too.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in without_escapes(&masked(text)).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(character),
            control if control.is_control() => escaped.push('\u{fffd}'),
            deceptive if is_deceptive(deceptive) => escaped.push_str(&mark(deceptive)),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;

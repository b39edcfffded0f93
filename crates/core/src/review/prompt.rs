//! What a reviewer is told: the task, the change, how the guardrails ended, and how to answer.

use crate::template::fill;

/// What it is told about a change.
const REVIEW: &str = include_str!("../../../../prompts/review.md");

/// What it is told where the one question is what the change fixes.
const LOOK: &str = include_str!("../../../../prompts/look.md");

/// What is added when an answer to that had nothing in it.
pub const LOOK_AGAIN: &str = "Your last answer said nothing that ralph can read. Answer again, with the object in the tag as \
                              described above, and nothing after it.";

/// What is added when an answer had no verdict in it.
pub const AGAIN: &str = "Your last answer had no verdict that ralph can read. Answer again, with the object in the tag as described \
                     above, and nothing after it.";

/// As much of a task as a reviewer is told, in bytes.
pub const MAX_TASK_LEN: usize = 16 * 1024;

/// As much of a difference, in bytes.
pub const MAX_DIFF_LEN: usize = 64 * 1024;

/// What is reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewSubject {
    /// What was asked for.
    pub task: String,
    /// What the change is called: a range of commits, or words for it.
    pub change: String,
    /// The difference, or the beginning of it.
    pub diff: String,
    /// How to see all of it, where this is not all.
    pub more: Option<String>,
    /// How the guardrails ended, a line for each.
    pub guardrails: Vec<String>,
    /// What was done to the checks, a line for each.
    pub findings: Vec<String>,
}

impl ReviewSubject {
    /// A line that stands nowhere in what others wrote: what is between two of them cannot end it.
    pub fn mark(&self, seed: u64) -> String {
        let mut mark = format!("===== material {seed:016x} =====");
        let texts = || [&self.task, &self.diff, &self.change].into_iter().chain(&self.findings);
        while texts().any(|text| text.contains(&mark)) {
            mark.push('=');
        }
        mark
    }
}

/// What a reviewer is told about a change. `mark` is a word that the change does not contain.
pub fn review(subject: &ReviewSubject, mark: &str) -> String {
    filled(REVIEW, subject, mark)
}

/// What a reviewer is asked whose one question is whether the change fixes the task, or only what checks it.
pub fn look(subject: &ReviewSubject, mark: &str) -> String {
    filled(LOOK, subject, mark)
}

fn filled(template: &str, subject: &ReviewSubject, mark: &str) -> String {
    let listed = |lines: &[String]| match lines {
        [] => "There are none.".to_owned(),
        _ => lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"),
    };
    let task = cut(&subject.task, MAX_TASK_LEN);
    let task =
        if task.trim().is_empty() { "It is not known; the commits say what they are for." } else { task };
    let diff = cut(&subject.diff, MAX_DIFF_LEN);
    let mut fenced = format!("{mark}\n{}\n{mark}", diff.trim_end());
    if let Some(more) = &subject.more {
        fenced.push_str("\n\nThat is not all of it. To see the whole: ");
        fenced.push_str(more);
    }
    fill(
        template,
        &[
            ("CHANGE", subject.change.clone()),
            ("MARK", mark.to_owned()),
            ("TASK", format!("{mark}\n{}\n{mark}", task.trim_end())),
            ("DIFF", fenced),
            ("GUARDRAILS", listed(&subject.guardrails)),
            ("FINDINGS", format!("{mark}\n{}\n{mark}", listed(&subject.findings))),
        ],
    )
}

/// The beginning of a text.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

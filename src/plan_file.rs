//! Reads an implementation plan: which tasks there are, which are done, and what the next one is.
//!
//! Understood are checkboxes (`- [ ] task`), and headings whose section says `Status: done` or the like. A
//! heading with a status owns the checkboxes below it: they are its steps, not tasks of their own.

use crate::markdown::{Line, lines, plain};

/// One task of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// In the plan's words, without marks.
    pub title: String,
    /// The specification it belongs to, if the plan names one.
    pub spec: Option<String>,
    /// Whether the plan says that it is finished.
    pub is_done: bool,
}

/// The tasks of a plan, in its order.
pub fn tasks(plan: &str) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut section = Section::default();
    for line in lines(plan) {
        match line {
            Line::Heading(_, title) => {
                section.finish(&mut tasks);
                section =
                    Section { heading: Some(title.to_owned()), spec: spec_in(title), ..Section::default() };
            }
            Line::Text(text) => section.take(text),
            Line::Code(_) => {}
        }
    }
    section.finish(&mut tasks);
    tasks
}

/// The first task that is not finished.
pub fn next_task(plan: &str) -> Option<Task> {
    tasks(plan).into_iter().find(|task| !task.is_done)
}

/// A heading and what stands below it.
#[derive(Default)]
struct Section {
    heading: Option<String>,
    is_done: Option<bool>,
    spec: Option<String>,
    boxes: Vec<Task>,
}

impl Section {
    fn take(&mut self, text: &str) {
        let line = plain(text);
        if let Some((is_done, title)) = checkbox(line) {
            self.boxes.push(Task { title: clean(title), spec: spec_in(title), is_done });
        } else if let Some(status) = field(line, "status") {
            self.is_done = Some(is_finished(status));
        } else if let Some(spec) = field(line, "spec").or_else(|| field(line, "specs")) {
            let spec = spec_in(spec).unwrap_or_else(|| spec.trim_matches('`').to_owned());
            // Below a checkbox it belongs to that.
            match self.boxes.last_mut() {
                Some(task) => task.spec = Some(spec),
                None => self.spec = Some(spec),
            }
        } else if self.spec.is_none() && self.boxes.is_empty() {
            self.spec = spec_in(line);
        }
    }

    fn finish(&mut self, tasks: &mut Vec<Task>) {
        let Self { heading, is_done, spec, boxes } = std::mem::take(self);
        match (heading, is_done) {
            (Some(title), Some(is_done)) => {
                let title = checkbox(&title).map_or(title.as_str(), |(_, rest)| rest).to_owned();
                tasks.push(Task { title: clean(&title), spec, is_done });
            }
            (Some(title), None) if checkbox(&title).is_some() => {
                let (is_done, rest) = checkbox(&title).unwrap_or((false, &title));
                tasks.push(Task { title: clean(rest), spec, is_done });
            }
            _ => tasks.extend(
                boxes.into_iter().map(|task| Task { spec: task.spec.or_else(|| spec.clone()), ..task }),
            ),
        }
    }
}

/// `[x] title`, with whether it is checked.
fn checkbox(text: &str) -> Option<(bool, &str)> {
    let rest = text.strip_prefix('[')?;
    let mut chars = rest.chars();
    let mark = chars.next()?;
    let title = chars.as_str().strip_prefix(']')?.trim();
    match mark {
        'x' | 'X' | '✓' | '✔' => Some((true, title)),
        // Open, half done, blocked: not done.
        ' ' | '-' | '/' | '~' | '>' | '!' => Some((false, title)),
        _ => None,
    }
}

/// The value of a `Name: value` line, whatever emphasis is around the name.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (found, value) = line.split_once(':')?;
    found
        .trim_matches(['*', '_', ' '])
        .eq_ignore_ascii_case(name)
        .then(|| value.trim_matches(['*', '_', ' ']))
}

fn is_finished(status: &str) -> bool {
    let status = status.to_lowercase();
    let words = ["done", "complete", "completed", "finished", "implemented", "closed"];
    let says = |word: &&str| status.split(|c: char| !c.is_alphanumeric()).any(|part| part == *word);
    let is_denied = ["not", "in", "partially", "partly", "almost", "incomplete"].iter().any(&says);
    status.starts_with(['✅', '✓', '✔']) || (words.iter().any(says) && !is_denied)
}

/// The first path below `specs/` in a text.
fn spec_in(text: &str) -> Option<String> {
    let start = text.find("specs/")?;
    let path: String =
        text[start..].chars().take_while(|c| !c.is_whitespace() && !"`\"'()[],;".contains(*c)).collect();
    Some(path.trim_end_matches(['.', ':']).to_owned())
}

/// A title without emphasis and trailing marks.
fn clean(title: &str) -> String {
    let title = title.replace("**", "").replace('`', "");
    // The specification is shown beside the title.
    let title = match title.rsplit_once('(') {
        Some((before, inside)) if inside.starts_with("specs/") && inside.trim_end().ends_with(')') => before,
        _ => &title,
    };
    title.trim().trim_end_matches(':').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line per task: `x title (spec)`.
    #[track_caller]
    fn check(plan: &str, expected: &[&str]) {
        let shown: Vec<String> = tasks(plan)
            .into_iter()
            .map(|Task { title, spec, is_done }| {
                let spec = spec.map(|spec| format!(" ({spec})")).unwrap_or_default();
                format!("{} {title}{spec}", if is_done { 'x' } else { '-' })
            })
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn checkboxes_are_tasks() {
        check(
            "- [x] one\n- [ ] **two**:\n* [X] three\n1. [ ] four\n- [-] five",
            &["x one", "- two", "x three", "- four", "- five"],
        );
        check("```\n- [ ] in code\n```\n- no box\n[link](x)", &[]);
    }

    #[test]
    fn headings_with_a_status_are_tasks() {
        check(
            "## Parse dates\nStatus: done\n- [ ] step\n\n## Show dates\n**Status:** In progress\n",
            &["x Parse dates", "- Show dates"],
        );
        check(
            "### Task 1\n- Status: ✅ Complete\n### Task 2\n- Status: not done\n### Notes\ntext",
            &["x Task 1", "- Task 2"],
        );
        check("## [x] One\n## [ ] Two\ntext", &["x One", "- Two"]);
    }

    #[test]
    fn specs_are_found() {
        check(
            "- [ ] **dates** (`specs/dates.md`)\n- [ ] times\n  Spec: `specs/times.md`",
            &["- dates (specs/dates.md)", "- times (specs/times.md)"],
        );
        check("## Zones\nSpec: specs/zones.md\nStatus: open", &["- Zones (specs/zones.md)"]);
        check("## Group, see specs/all.md.\n- [ ] a\n- [ ] b", &["- a (specs/all.md)", "- b (specs/all.md)"]);
    }

    #[test]
    fn the_next_task_is_the_first_open_one() {
        assert_eq!(next_task("- [x] a\n- [ ] b\n- [ ] c").map(|task| task.title).as_deref(), Some("b"));
        assert_eq!(next_task("- [x] a"), None);
        assert_eq!(next_task(""), None);
    }
}

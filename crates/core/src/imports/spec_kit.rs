//! `tasks.md` of Spec Kit: phases of tasks with numbers, `[P]` for those that go in parallel, `[US1]` for their story.

use std::collections::BTreeMap;

use super::{
    BadLine, ImportedStory, Outline, OutlineSection,
    check_list::{self, BoxEntry, Shown, shown},
};

/// The headings of phases; those below them are parts of a phase.
const PHASE_LEVEL: usize = 2;

/// Whether a text has a task with a number, outside of code and comments.
pub(super) fn has_task(text: &str) -> bool {
    let is_task = |line: &Shown<'_>| matches!(line, Shown::Box(_, _, words) if number(words).is_some());
    shown(text).is_ok_and(|lines| lines.iter().any(|(_, _, line)| is_task(line)))
}

/// `T012` of `T012 [P] [US1] Create the model`, and what follows.
fn number(words: &str) -> Option<(&str, &str)> {
    let (id, rest) = words.split_once(char::is_whitespace)?;
    let id = id.trim_end_matches(':');
    let digits = id.strip_prefix('T')?.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_number =
        2 <= digits.len() && digits.len() <= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some((id, rest.trim()))
}

/// A task of a phase.
struct Task {
    story: ImportedStory,
    is_parallel: bool,
    is_of_story: bool,
}

/// Reads the phases.
pub(super) fn read(text: &str) -> Result<Outline, Vec<BadLine>> {
    let document = check_list::read(text)?;
    let (mut seen, mut bad, mut others) = (BTreeMap::new(), Vec::new(), 0);
    let mut sections = Vec::new();
    for section in document.sections {
        let mut tasks = Vec::new();
        for entry in section.boxes {
            let Some((id, _)) = number(&entry.text) else {
                others += 1;
                continue;
            };
            if let Some(first) = seen.insert(id.to_owned(), entry.line) {
                bad.push(BadLine::new(entry.line, format!("there is another {id} in line {first}")));
            }
            tasks.push(task(entry));
        }
        let empty = OutlineSection {
            title: section.title,
            about: section.about,
            line: section.line,
            tasks: Vec::new(),
        };
        sections.push((section.level <= PHASE_LEVEL, empty, tasks));
    }
    if !bad.is_empty() {
        return Err(bad);
    }
    let left_out = (0 < others).then(|| format!("{others} boxes without a number, such as T001")).into_iter();
    let name = document.title.map(|title| title.trim_start_matches("Tasks:").trim().to_owned());
    Ok(Outline { name, sections: with_dependencies(sections), left_out: left_out.collect() })
}

fn task(entry: BoxEntry) -> Task {
    let (id, mut rest) =
        number(&entry.text).map(|(id, rest)| (id.to_owned(), rest.to_owned())).unwrap_or_default();
    let (mut is_parallel, mut is_of_story) = (false, false);
    while let Some((flag, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        is_parallel |= flag == "P";
        is_of_story |= flag.starts_with("US");
        rest = after.trim_start().to_owned();
    }
    let mut story = entry.into_story(id);
    if !rest.is_empty() {
        if story.criteria == [story.tasks[0].clone()] {
            story.criteria = vec![rest.clone()];
        }
        story.title = crate::stories::one_line(&rest, crate::stories::MAX_TITLE_LEN);
    }
    Task { story, is_parallel, is_of_story }
}

/// What each task waits for. In a phase a task waits for those before it, unless it is marked `[P]`: those wait only for
/// the last one that is not. A phase waits for the one before it; the phases of user stories wait for none of each other.
fn with_dependencies(sections: Vec<(bool, OutlineSection, Vec<Task>)>) -> Vec<OutlineSection> {
    let mut order = Order::default();
    let mut done = Vec::new();
    for (is_phase, section, tasks) in sections {
        order.begins |= is_phase;
        let is_story = tasks.iter().any(|task| task.is_of_story);
        if order.begins && !tasks.is_empty() {
            order.begin_phase(is_story);
        }
        let tasks = tasks.into_iter().map(|task| order.next(task)).collect();
        done.push(OutlineSection { tasks, ..section });
    }
    done
}

/// Where the reading of phases is.
#[derive(Default)]
struct Order {
    /// Whether a heading of a phase came, and no task since.
    begins: bool,
    is_story: bool,
    /// What all phases of user stories that follow each other wait for.
    common: Vec<String>,
    /// The last tasks of the phases since then.
    ends: Vec<String>,
    /// What the next task of this phase waits for.
    before: Vec<String>,
    /// Tasks side by side, behind `before`.
    group: Vec<String>,
}

impl Order {
    fn begin_phase(&mut self, is_story: bool) {
        let group = std::mem::take(&mut self.group);
        self.ends.extend(if group.is_empty() { std::mem::take(&mut self.before) } else { group });
        if !(is_story && self.is_story) {
            self.common = std::mem::take(&mut self.ends);
        }
        (self.begins, self.is_story) = (false, is_story);
        self.before.clone_from(&self.common);
    }

    fn next(&mut self, Task { mut story, is_parallel, .. }: Task) -> ImportedStory {
        if !is_parallel && !self.group.is_empty() {
            self.before = std::mem::take(&mut self.group);
        }
        story.depends_on.clone_from(&self.before);
        if is_parallel {
            self.group.push(story.id.clone());
        } else {
            self.before = vec![story.id.clone()];
        }
        story
    }
}

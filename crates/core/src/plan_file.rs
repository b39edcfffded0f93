//! Reads an implementation plan: which tasks there are, which are done, and what the next one is.
//!
//! Understood are checkboxes (`- [ ] task`), and headings whose section says `Status: done` or the like. What is
//! below such a heading are its steps, not tasks of their own. A box with boxes below it is a group: they are the
//! tasks.

use crate::markdown::{Line, lines, plain};

/// One task of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// In the plan's words, without marks.
    pub title: String,
    /// The specification it belongs to, if the plan names one.
    pub spec: Option<String>,
    /// Whether the plan says that it is finished, or that no one will do it.
    pub is_done: bool,
    /// Whether it is for a person.
    pub is_for_person: bool,
}

impl Task {
    /// Whether an agent has something to do with it.
    pub fn is_open(&self) -> bool {
        !self.is_done && !self.is_for_person
    }
}

/// The tasks of a plan, in its order; specifications are below `specs`.
pub fn tasks(plan: &str, specs: &str) -> Vec<Task> {
    let sections = sections(plan, specs);
    let mut tasks = Vec::new();
    let mut index = 0;
    while let Some(section) = sections.get(index) {
        let below = sections[index + 1..].iter().take_while(|other| section.level < other.level).count();
        let parts = &sections[index + 1..=index + below];
        // The title of the plan, or a chapter: its parts are the tasks.
        let is_group = parts.iter().any(|part| part.is_done.is_some())
            || (section.level == 1
                && (!section.boxes.is_empty() || parts.iter().any(|part| !part.boxes.is_empty())));
        match section.is_done {
            Some(is_done) if !is_group => {
                let (title, spec) = (clean(&section.title, specs), section.spec.clone());
                tasks.push(Task { title, spec, is_done, is_for_person: section.is_for_person });
                index += below;
            }
            _ => tasks.extend(section.tasks()),
        }
        index += 1;
    }
    tasks
}

/// The first task that is open.
pub fn next_task(plan: &str, specs: &str) -> Option<Task> {
    tasks(plan, specs).into_iter().find(Task::is_open)
}

/// A heading and what stands below it, up to the next one.
#[derive(Default)]
struct Section {
    /// Zero before the first heading.
    level: usize,
    title: String,
    is_done: Option<bool>,
    is_for_person: bool,
    spec: Option<String>,
    boxes: Vec<Checkbox>,
}

struct Checkbox {
    indent: usize,
    task: Task,
}

fn sections(plan: &str, specs: &str) -> Vec<Section> {
    let mut sections = vec![Section::default()];
    for line in lines(plan) {
        match line {
            Line::Heading(level, title) => sections.push(Section::new(level, title, specs)),
            Line::Text(indent, text) => {
                if let Some(section) = sections.last_mut() {
                    section.take(indent, text, specs);
                }
            }
            Line::Code(_) => {}
        }
    }
    sections
}

impl Section {
    fn new(level: usize, title: &str, specs: &str) -> Self {
        let (is_done, rest) = match checkbox(title) {
            Some((is_done, rest)) => (Some(is_done), rest),
            None => (None, title),
        };
        Self {
            level,
            title: rest.to_owned(),
            is_done,
            is_for_person: names_person(title),
            spec: spec_in(title, specs),
            boxes: Vec::new(),
        }
    }

    fn take(&mut self, indent: usize, text: &str, specs: &str) {
        let line = plain(text.trim_start_matches(['>', ' ']));
        // Below a box, and further in, it belongs to that.
        let owner = self.boxes.last_mut().filter(|owner| owner.indent < indent).map(|owner| &mut owner.task);
        if let Some((is_done, title)) = checkbox(line) {
            let (spec, is_for_person) = (spec_in(title, specs), names_person(title));
            let task = Task { title: clean(title, specs), spec, is_done, is_for_person };
            self.boxes.push(Checkbox { indent, task });
        } else if let Some(status) = field(line, "status") {
            match owner {
                Some(task) => task.is_done = task.is_done || is_finished(status),
                None => self.is_done = Some(is_finished(status)),
            }
        } else if let Some(kind) = field(line, "kind") {
            let is_human = kind.eq_ignore_ascii_case("human");
            match owner {
                Some(task) => task.is_for_person |= is_human,
                None => self.is_for_person |= is_human,
            }
        } else if let Some(spec) = field(line, "spec").or_else(|| field(line, "specs")) {
            let spec = spec_in(spec, specs).unwrap_or_else(|| spec.trim_matches('`').to_owned());
            match owner {
                Some(task) => task.spec = Some(spec),
                None => self.spec = Some(spec),
            }
        } else if self.spec.is_none() && self.boxes.is_empty() {
            self.spec = spec_in(line, specs);
        }
    }

    /// The boxes that are tasks, each with the section's specification if it has none of its own.
    fn tasks(&self) -> impl Iterator<Item = Task> {
        let boxes = self.boxes.iter().enumerate().filter(|(index, one)| {
            let parts: Vec<_> =
                self.boxes[index + 1..].iter().take_while(|other| one.indent < other.indent).collect();
            // A group that is still open when its parts are done has something left.
            parts.is_empty() || (!one.task.is_done && parts.iter().all(|part| part.task.is_done))
        });
        boxes.map(|(_, one)| Task {
            spec: one.task.spec.clone().or_else(|| self.spec.clone()),
            is_for_person: one.task.is_for_person || self.is_for_person,
            ..one.task.clone()
        })
    }
}

/// `[x] title`, with whether it is checked.
fn checkbox(text: &str) -> Option<(bool, &str)> {
    let (mark, title) = text.strip_prefix('[')?.split_once(']')?;
    let is_done = match mark.trim() {
        // Done, or no one will do it any more.
        "x" | "X" | "✓" | "✔" | "-" | "~" => true,
        // Open, half done, blocked: not done.
        "" | "/" | ">" | "!" | "?" | "." | "_" | "*" => false,
        _ => return None,
    };
    Some((is_done, title.trim()))
}

/// Whether a task says that it is for a person.
fn names_person(title: &str) -> bool {
    title.to_ascii_lowercase().contains("(human)")
}

/// The value of a `Name: value` line, whatever emphasis is around the name.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (found, value) = line.split_once(':')?;
    found
        .trim_matches(['*', '_', ' '])
        .eq_ignore_ascii_case(name)
        .then(|| value.trim_matches(['*', '_', ' ']))
}

/// The first word decides: "blocked until that is done" is not done.
fn is_finished(status: &str) -> bool {
    let status = status.to_lowercase();
    if status.starts_with(['✅', '✓', '✔', '☑']) || status.starts_with("[x]") {
        return true;
    }
    let first = status.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let finished = ["done", "complete", "completed", "finished", "implemented", "closed", "shipped"];
    first.is_some_and(|word| finished.contains(&word))
}

/// The first path below the folder of the specifications in a text.
fn spec_in(text: &str, specs: &str) -> Option<String> {
    let folder = format!("{}/", specs.trim_end_matches('/'));
    let words = text.split(|c: char| c.is_whitespace() || "`\"'()[],;<>".contains(c));
    let mut paths = words.filter(|word| !word.contains("://"));
    let path = paths.find(|word| {
        let path = word.trim_start_matches("./");
        path.starts_with(&folder) && folder.len() < path.len()
    })?;
    Some(path.trim_start_matches("./").trim_end_matches(['.', ':']).to_owned())
}

/// A title without emphasis, links, trailing marks, and what would move the cursor.
fn clean(title: &str, specs: &str) -> String {
    let title: String =
        title.replace("**", "").replace('`', "").chars().filter(|c| !c.is_control()).collect();
    let title = without_links(&title);
    // The specification is shown beside the title.
    let title = match title.rsplit_once('(') {
        Some((before, inside)) if inside.trim_end().ends_with(')') && spec_in(inside, specs).is_some() => {
            before
        }
        _ => &title,
    };
    title.trim().trim_end_matches(':').to_owned()
}

/// `[text](target)` becomes `text`.
fn without_links(title: &str) -> String {
    let mut plain = String::new();
    let mut rest = title;
    while let Some((before, link)) = rest.split_once('[') {
        let found = link.split_once("](").and_then(|(text, after)| Some((text, after.split_once(')')?.1)));
        let Some((text, after)) = found else { break };
        plain.push_str(before);
        plain.push_str(text);
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests;

//! Task lists of other tools as stories: what stands in them, and which of it is done.
//!
//! Invariant: nothing here reads a file. A text comes in; stories with the lines that they came from go out, or every line
//! that cannot be understood. Nothing of a text is guessed: what is no task is not made one.

pub mod check_list;
mod issues;
mod list;
mod open_spec;
mod prd_json;
mod spec_kit;
mod tick;

#[cfg(test)]
mod tests;

pub use issues::of_issues;
pub use list::{Added, NewList, StorySource, add, compose, sources};
pub use open_spec::{SpecDocument, requirements};
pub use tick::{Ticked, tick};

/// As many stories are taken from one source.
pub const MAX_STORIES: usize = 500;

/// How a list of another tool is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// `tasks.md` of Spec Kit: `- [ ] T001 [P] [US1] Description`, in phases.
    SpecKit,
    /// `tasks.md` of an `OpenSpec` change: `- [ ] 1.1 Description`, in numbered sections.
    OpenSpec,
    /// `prd.json` with `userStories`, as several loops have it.
    PrdJson,
    /// Any Markdown file with check boxes.
    CheckList,
}

impl SourceKind {
    /// Every kind with its name.
    pub const NAMES: [(&str, Self); 4] = [
        ("spec-kit", Self::SpecKit),
        ("openspec", Self::OpenSpec),
        ("prd-json", Self::PrdJson),
        ("check-list", Self::CheckList),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SpecKit => "spec-kit",
            Self::OpenSpec => "openspec",
            Self::PrdJson => "prd-json",
            Self::CheckList => "check-list",
        }
    }

    /// What a file seems to be, by its name, what lies beside it, and its text.
    pub fn of(file: &str, beside: &[&str], text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        if file.to_ascii_lowercase().ends_with(".json") || text.trim_start().starts_with('{') {
            return Self::PrdJson;
        }
        if spec_kit::has_task(text) {
            return Self::SpecKit;
        }
        let is_change = beside.contains(&"proposal.md") || file.contains("openspec/changes/");
        if is_change && file.ends_with("tasks.md") { Self::OpenSpec } else { Self::CheckList }
    }
}

/// What becomes one story.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Every task.
    #[default]
    Task,
    /// Every heading with tasks below it, which are its criteria.
    Section,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// What the whole is called.
    pub name: Option<String>,
    /// The branch that it names.
    pub branch: Option<String>,
    /// What the whole is about.
    pub description: String,
    /// In the order of the text.
    pub stories: Vec<ImportedStory>,
    /// What was left out, in words.
    pub left_out: Vec<String>,
}

impl Imported {
    /// Leaves out what its source calls done; returns how many.
    pub fn leave_out_done(&mut self) -> usize {
        let before = self.stories.len();
        self.stories.retain(|story| !story.is_done);
        before - self.stories.len()
    }
}

/// A story that came from elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedStory {
    /// Its name, unique in its source.
    pub id: String,
    /// In a line.
    pub title: String,
    /// In full.
    pub description: String,
    /// What must be true; at least one.
    pub criteria: Vec<String>,
    /// Where it stands among the others.
    pub priority: f64,
    /// The ids of those before it.
    pub depends_on: Vec<String>,
    /// Whether its source says that it is done.
    pub is_done: bool,
    /// What it is in its source: the texts of its boxes, or its id.
    pub tasks: Vec<String>,
    /// Where it begins, from 1.
    pub line: usize,
}

/// A line that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1.
    pub line: usize,
    /// Why.
    pub text: String,
}

impl BadLine {
    fn new(line: usize, text: impl Into<String>) -> Self {
        Self { line, text: text.into() }
    }
}

/// Reads a list of another tool.
pub fn read(kind: SourceKind, text: &str, grouping: Grouping) -> Result<Imported, Vec<BadLine>> {
    let imported = match kind {
        SourceKind::PrdJson => prd_json::read(text)?,
        SourceKind::SpecKit => grouped(spec_kit::read(text)?, grouping),
        SourceKind::OpenSpec => grouped(open_spec::read(text)?, grouping),
        SourceKind::CheckList => grouped(check_list::read(text)?.into(), grouping),
    };
    if imported.stories.is_empty() {
        return Err(vec![BadLine::new(1, "there is no task in it, such as `- [ ] Accept ISO weeks`")]);
    }
    if let Some(story) = imported.stories.get(MAX_STORIES) {
        return Err(vec![BadLine::new(story.line, format!("there are more than {MAX_STORIES} tasks"))]);
    }
    Ok(imported)
}

/// The tasks of a document with sections, before they are stories.
#[derive(Debug, Default)]
struct Outline {
    name: Option<String>,
    sections: Vec<OutlineSection>,
    left_out: Vec<String>,
}

#[derive(Debug, Default)]
struct OutlineSection {
    title: String,
    /// What is said about it, in a few lines.
    about: Vec<String>,
    tasks: Vec<ImportedStory>,
    line: usize,
}

impl From<check_list::Document> for Outline {
    fn from(document: check_list::Document) -> Self {
        let mut count = 0;
        let sections = document.sections.into_iter().map(|section| {
            let tasks = section.boxes.into_iter().map(|entry| {
                count += 1;
                entry.into_story(format!("TASK-{count:03}"))
            });
            OutlineSection {
                tasks: tasks.collect(),
                title: section.title,
                about: section.about,
                line: section.line,
            }
        });
        Self { name: document.title, sections: sections.collect(), left_out: Vec::new() }
    }
}

/// One story per task, or per section.
fn grouped(outline: Outline, grouping: Grouping) -> Imported {
    let Outline { name, sections, left_out } = outline;
    let sections = sections.into_iter().filter(|section| !section.tasks.is_empty());
    let mut stories: Vec<ImportedStory> = match grouping {
        Grouping::Task => sections.flat_map(of_tasks).collect(),
        Grouping::Section => {
            sections.enumerate().map(|(index, section)| of_section(index + 1, section)).collect()
        }
    };
    for (index, story) in stories.iter_mut().enumerate() {
        story.priority = f64::from(u32::try_from(index + 1).unwrap_or(u32::MAX));
    }
    Imported { name, branch: None, description: String::new(), stories, left_out }
}

fn of_tasks(section: OutlineSection) -> Vec<ImportedStory> {
    let about: Vec<String> =
        Some(section.title).filter(|title| !title.is_empty()).into_iter().chain(section.about).collect();
    let described = |mut story: ImportedStory| {
        let own = Some(story.description).filter(|text| !text.is_empty());
        story.description = own.into_iter().chain(about.iter().cloned()).collect::<Vec<_>>().join("\n");
        story
    };
    section.tasks.into_iter().map(described).collect()
}

fn of_section(number: usize, section: OutlineSection) -> ImportedStory {
    let OutlineSection { title, about, tasks, line } = section;
    let title = if title.is_empty() { tasks[0].title.clone() } else { title };
    ImportedStory {
        id: format!("SECTION-{number:02}"),
        title,
        description: about.join("\n"),
        criteria: tasks.iter().map(|task| format!("{}: {}", task.id, task.title)).collect(),
        priority: 0.0,
        depends_on: Vec::new(),
        is_done: tasks.iter().all(|task| task.is_done),
        tasks: tasks.into_iter().flat_map(|task| task.tasks).collect(),
        line,
    }
}

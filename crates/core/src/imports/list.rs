//! Stories from elsewhere as a task list, new or added to one that is there.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Imported, ImportedStory};
use crate::{
    located::{node::Node, text::parse},
    stories::{self, Status, Story},
};

/// Where a story came from; the key `source` of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StorySource {
    /// The file, relative to the project, or the address.
    pub file: String,
    /// What it is there: the texts of boxes, or an id.
    pub tasks: Vec<String>,
}

/// What a new list needs beside the stories.
#[derive(Clone, Copy, Debug)]
pub struct NewList<'a> {
    /// The name of the project.
    pub project: &'a str,
    /// The branch, where the source names none.
    pub branch: &'a str,
    /// The commands that verify the whole. Never from the source.
    pub verify_commands: &'a [String],
    /// Where the stories come from.
    pub file: &'a str,
}

/// What was added to a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// The text of the list.
    pub text: String,
    /// The ids of those that are new.
    pub ids: Vec<String>,
    /// Those that are new, in the same order.
    pub stories: Vec<ImportedStory>,
    /// The ids of those that were there before.
    pub known: Vec<String>,
}

#[derive(Serialize)]
struct WrittenStory {
    #[serde(flatten)]
    story: Story,
    source: StorySource,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenList<'a> {
    project: &'a str,
    branch_name: &'a str,
    description: &'a str,
    verify_commands: &'a [String],
    user_stories: Vec<WrittenStory>,
}

/// The text of a new list.
pub fn compose(imported: &Imported, new: &NewList<'_>) -> String {
    let list = WrittenList {
        project: imported.name.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(new.project),
        branch_name: imported.branch.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(new.branch),
        description: &imported.description,
        verify_commands: new.verify_commands,
        user_stories: written(&imported.stories, new.file, &BTreeMap::new()),
    };
    format!("{}\n", serde_json::to_string_pretty(&list).expect("a list is plain values"))
}

/// Adds to a list what is not in it yet. A name that is taken gets a number behind it.
pub fn add(list: &str, imported: &Imported, file: &str) -> Added {
    let known: Vec<(String, StorySource)> = sources(list);
    let is_known = |story: &ImportedStory| {
        known
            .iter()
            .find(|(_, source)| source.file == file && source.tasks == story.tasks)
            .map(|(id, _)| id.clone())
    };
    let mut taken: BTreeSet<String> =
        stories::read(list).list.user_stories.into_iter().map(|story| story.id).collect();
    let (mut names, mut new, mut old) = (BTreeMap::new(), Vec::new(), Vec::new());
    for story in &imported.stories {
        if let Some(id) = is_known(story) {
            names.insert(story.id.clone(), id.clone());
            old.push(id);
            continue;
        }
        let numbered = (2_u32..).map(|number| format!("{}-{number}", story.id));
        let free = std::iter::once(story.id.clone()).chain(numbered).find(|id| !taken.contains(id));
        let id = free.unwrap_or_else(|| story.id.clone());
        taken.insert(id.clone());
        names.insert(story.id.clone(), id);
        new.push(story.clone());
    }
    let mut text = list.to_owned();
    let mut ids = Vec::new();
    for story in written(&new, file, &names) {
        ids.push(story.story.id.clone());
        let value = serde_json::to_string_pretty(&story).expect("a story is plain values");
        text = stories::append(&text, &value.replace('\n', "\n    "));
    }
    Added { text, ids, stories: new, known: old }
}

fn written(imported: &[ImportedStory], file: &str, names: &BTreeMap<String, String>) -> Vec<WrittenStory> {
    let name = |id: &String| names.get(id).unwrap_or(id).clone();
    let here: BTreeSet<&String> = imported.iter().map(|story| &story.id).collect();
    let written = |it: &ImportedStory| WrittenStory {
        story: Story {
            id: name(&it.id),
            title: it.title.clone(),
            description: it.description.clone(),
            acceptance_criteria: it.criteria.clone(),
            priority: it.priority,
            // What its source calls done, ralph has not seen: a review decides.
            review_status: it.is_done.then_some(Status::NeedsReview),
            depends_on: it
                .depends_on
                .iter()
                .filter(|id| here.contains(id) || names.contains_key(*id))
                .map(name)
                .collect(),
            ..Story::default()
        },
        source: StorySource { file: file.to_owned(), tasks: it.tasks.clone() },
    };
    imported.iter().map(written).collect()
}

/// The stories of a list that came from elsewhere, each with where from.
pub fn sources(list: &str) -> Vec<(String, StorySource)> {
    let Ok(root) = parse(list.strip_prefix('\u{feff}').unwrap_or(list), 0) else { return Vec::new() };
    let source = |story: &Node| {
        let source = story.get("source")?;
        let tasks = source.get("tasks")?.items().iter().filter_map(Node::string).map(str::to_owned).collect();
        let file = source.get("file")?.string()?.to_owned();
        Some((story.get("id")?.string()?.to_owned(), StorySource { file, tasks }))
    };
    root.get("userStories").map_or(&[][..], Node::items).iter().filter_map(source).collect()
}

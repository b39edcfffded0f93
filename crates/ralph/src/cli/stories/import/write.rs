//! What an import writes: the list, and the files of a loop that are not there yet.

use ralph_core::{
    imports::{Imported, ImportedStory, NewList, add, compose},
    stories::{self, TaskList},
};
use ralph_sys::{
    error::{Context, Error, Result},
    files::{MAX_TEXT_LEN, Readers},
};

use super::source::ImportSource;
use crate::{
    cli::stories::{
        place::StoriesPlace,
        templates::{Feature, branch, files},
    },
    project::story_files::{PRD, TASKS},
};

/// What will be written.
pub(super) struct ImportPlan<'a> {
    place: &'a StoriesPlace,
    /// Name and text.
    files: Vec<(String, String)>,
    /// What is there now.
    before: Option<Vec<u8>>,
    written: WrittenList,
}

/// What was written, or would be.
#[derive(Default)]
pub(super) struct WrittenList {
    /// The ids that the new stories have in the list.
    pub(super) ids: Vec<String>,
    /// The stories, in the same order.
    pub(super) stories: Vec<ImportedStory>,
    /// Stories that were there before.
    pub(super) known: Vec<String>,
    pub(super) files: Vec<String>,
    /// Where the list from before is.
    pub(super) copy: Option<String>,
}

impl<'a> ImportPlan<'a> {
    /// Decides what to write.
    pub(super) fn new(
        place: &'a StoriesPlace,
        imported: &Imported,
        source: &ImportSource,
        replace: bool,
    ) -> Result<Self> {
        let before = match place.root().read(place.path(TASKS), MAX_TEXT_LEN) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).context(format!("cannot read {}", place.shown(TASKS))),
        };
        let list = before.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let reading = list.as_deref().map(stories::read);
        let is_fresh = replace || reading.as_ref().is_none_or(|reading| is_blank(&reading.list));
        if let Some(problem) =
            reading.as_ref().and_then(|reading| reading.problems.first()).filter(|_| !is_fresh)
        {
            return Err(Error::new(format!("{}:{}: {problem}", place.shown(TASKS), problem.line))
                .hint("fix the list first, or begin a new one: ralph stories import FILE --replace"));
        }
        let name = imported.name.clone().unwrap_or_else(|| project_name(place));
        let mut written = WrittenList::default();
        let text = if let Some(list) = list.filter(|_| !is_fresh) {
            let added = add(&list, imported, &source.shown);
            (written.ids, written.known) = (added.ids, added.known);
            written.stories.clone_from(&added.stories);
            added.text
        } else {
            written.ids = imported.stories.iter().map(|story| story.id.clone()).collect();
            written.stories.clone_from(&imported.stories);
            let branch = format!("ralph/{}", branch(&name));
            let new = NewList {
                project: &project_name(place),
                branch: &branch,
                verify_commands: &place.guardrails,
                file: &source.shown,
            };
            compose(imported, &new)
        };
        let mut planned = vec![(TASKS.to_owned(), text)];
        let feature = Feature { project: &place.project, name: Some(&name), verify: &place.guardrails };
        for (file, text) in files(&feature) {
            if file != TASKS && place.path(file).symlink_metadata().is_err() {
                let text = if file == PRD { source.about(&name)? } else { text };
                planned.push((file.to_owned(), text));
            }
        }
        planned.retain(|(file, text)| file != TASKS || before.as_deref() != Some(text.as_bytes()));
        written.files = planned.iter().map(|(file, _)| place.shown(file)).collect();
        if before.is_some() && planned.iter().any(|(file, _)| file == TASKS) {
            written.copy = Some(free_name(place));
        }
        Ok(Self { place, files: planned, before, written })
    }

    /// What writing would lead to.
    pub(super) fn foreseen(mut self) -> WrittenList {
        self.written.copy = self.written.copy.map(|name| self.place.shown(&name));
        self.written
    }

    /// Writes: the copy first.
    pub(super) fn write(self) -> Result<WrittenList> {
        if let (Some(name), Some(before)) = (&self.written.copy, &self.before) {
            let kept = self.place.root().replace(self.place.path(name), before, Readers::AsBefore);
            kept.context(format!("cannot write {}", self.place.shown(name)))?;
        }
        for (file, text) in &self.files {
            self.place.write(file, text)?;
        }
        Ok(self.foreseen())
    }
}

/// Whether no one has filled the list in yet.
fn is_blank(list: &TaskList) -> bool {
    list.user_stories
        .iter()
        .all(|story| story.title.trim().is_empty() && story.acceptance_criteria.is_empty())
}

fn project_name(place: &StoriesPlace) -> String {
    place.project.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// `tasks.before-import-1.json`: a name that no file has.
fn free_name(place: &StoriesPlace) -> String {
    let mut names = (1_u32..).map(|number| format!("tasks.before-import-{number}.json"));
    let is_free = |name: &String| place.path(name).symlink_metadata().is_err();
    names.find(is_free).unwrap_or_else(|| "tasks.before-import.json".to_owned())
}

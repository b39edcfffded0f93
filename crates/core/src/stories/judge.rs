//! Judges what a turn did to the task list: what is wrong, what is put back, what the list says then.

mod order;
mod review;
mod scope;

pub use review::idle;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Review, TaskFile, TaskList,
    edit::{STORIES, insert, remove, replace, set_in_story},
    schema::{Problem, Reading, read},
};
use crate::stories::Mode;

/// What the list is judged by, the same for the whole run.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    /// Whether stories are reviewed.
    pub review: Review,
    /// After how many reviews ralph approves.
    pub cap: u32,
    /// The commands that the list had when the run began.
    pub verify_commands: &'a [String],
}

/// The turn that is judged.
#[derive(Clone, Copy, Debug)]
pub struct StoryTurn<'a> {
    /// What it was to do; [`Mode::Work`] stands for the time between two turns, when nothing may be done.
    pub mode: Mode,
    /// The story that was selected for it.
    pub story: Option<&'a str>,
    /// Whether it came to its end, so that it can be blamed for what it did not do.
    pub finished: bool,
    /// What it changed in the project beside the files of the loop.
    pub touched: &'a [String],
}

/// Something that was put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Undone {
    /// The story, or nothing if it is about the whole list.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub story: Option<String>,
    /// The key in the file.
    pub field: String,
    /// What the turn had made of it.
    pub was: String,
    /// What it is again.
    pub now: String,
}

/// An acceptance criterion that was given up when a story was split: allowed, but for a person to see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedCriterion {
    /// The story that demanded it.
    pub story: String,
    /// What it demanded.
    pub criterion: String,
}

/// What a turn did to the list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListJudgement {
    /// What was wrong, one sentence each, for the next turn.
    pub broken: Vec<String>,
    /// What was put back.
    pub undone: Vec<Undone>,
    /// The stories that ralph approved because there had been enough reviews.
    pub capped: Vec<String>,
    /// What no story demands any more since one was split.
    pub dropped: Vec<DroppedCriterion>,
    /// The list as it must be written, if it is not as the turn left it.
    pub text: Option<String>,
}

/// Judges the list after a turn by the list before it. `after` is nothing if the file has gone.
pub fn judge(
    before: &TaskFile,
    after: Option<&TaskFile>,
    turn: StoryTurn<'_>,
    rules: Rules<'_>,
) -> ListJudgement {
    let plain = |file: &TaskFile| file.text().strip_prefix('\u{feff}').unwrap_or(file.text()).to_owned();
    let old = before.reading();
    let now = match after {
        Some(after) if after == before => old.clone(),
        Some(after) => after.reading().clone(),
        None => read(""),
    };
    let (before, text) = (plain(before), after.map(plain).unwrap_or_default());
    let mut bench =
        Bench { text, now, before, old, turn, rules, moved: Vec::new(), found: ListJudgement::default() };
    if let Some(reason) = bench.unreadable(after.is_some()) {
        return bench.put_back_whole(&reason);
    }
    bench.stories_are_whole();
    bench.nothing_is_deleted();
    if rules.review == Review::Required {
        bench.review_fields_are_legal();
        bench.newborns_are_fresh();
        bench.reviews_change_no_files();
    }
    bench.scope_is_kept();
    bench.verify_commands_are_kept();
    bench.no_story_waits_for_ever();
    bench.cap_is_applied();
    if turn.finished && rules.review == Review::Required {
        bench.duty_was_done();
    }
    let Bench { text, mut found, .. } = bench;
    found.text = (after.map(TaskFile::text) != Some(text.as_str())).then_some(text);
    found
}

/// A judgement on its way.
struct Bench<'a> {
    /// The list before the turn.
    before: String,
    old: &'a Reading,
    /// The list after the turn, as far as it has been put right.
    text: String,
    /// What that says.
    now: Reading,
    turn: StoryTurn<'a>,
    rules: Rules<'a>,
    /// The stories that made a legal step.
    moved: Vec<String>,
    found: ListJudgement,
}

impl Bench<'_> {
    /// Puts something right.
    fn rewrite(&mut self, text: String) {
        self.now = read(&text);
        self.text = text;
    }

    fn list(&self) -> TaskList {
        self.now.list.clone()
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.now.entries.iter().position(|entry| entry.id.as_deref() == Some(id))
    }

    fn undone(&mut self, story: Option<&str>, field: &str, was: impl Into<String>, now: impl Into<String>) {
        let (story, field) = (story.map(str::to_owned), field.to_owned());
        self.found.undone.push(Undone { story, field, was: was.into(), now: now.into() });
    }

    /// The text of a story before the turn, if it was one.
    fn old_text(&self, id: &str) -> Option<String> {
        let is_it = |id_of: &Option<String>| id_of.as_deref() == Some(id);
        let entry = self.old.entries.iter().find(|entry| entry.story.is_some() && is_it(&entry.id))?;
        Some(self.before[entry.span.clone()].to_owned())
    }

    /// Why nothing of the list can be used.
    fn unreadable(&self, is_there: bool) -> Option<String> {
        if !is_there {
            return Some("The file is gone.".to_owned());
        }
        let of_list = |problem: &&Problem| !problem.path.starts_with(&format!("{STORIES}["));
        let problem = self.now.problems.iter().find(of_list)?;
        Some(format!("Line {}: {problem}.", problem.line))
    }

    fn put_back_whole(mut self, reason: &str) -> ListJudgement {
        self.found
            .broken
            .push(format!("tasks.json could not be read, so ralph restored it as a whole. {reason}"));
        self.undone(None, "tasks.json", "unreadable", "as before the turn");
        self.found.text = Some(self.before);
        self.found
    }

    /// Check 1, story by story: what is no story is what it was before, or nothing.
    fn stories_are_whole(&mut self) {
        loop {
            let now = &self.now;
            let Some(index) = now.entries.iter().position(|entry| entry.story.is_none()) else { return };
            let id = now.entries[index].id.clone();
            let path = format!("{STORIES}[{index}]");
            let problems = now.problems.iter().filter(|it| {
                it.path == path || it.path.strip_prefix(&path).is_some_and(|rest| rest.starts_with('.'))
            });
            let problems: Vec<String> = problems.map(Problem::to_string).collect();
            let is_first = now.entries[..index].iter().all(|entry| entry.id != id);
            let old = id.as_deref().filter(|_| is_first).and_then(|id| self.old_text(id));
            let (text, now) = old.map_or_else(
                || (remove(&self.text, index), "not in the list"),
                |old| (replace(&self.text, index, &old), "as before the turn"),
            );
            self.rewrite(text);
            self.undone(id.as_deref(), "story", "malformed", now);
            self.found.broken.push(format!("A story is malformed: {}.", problems.join("; ")));
        }
    }

    fn nothing_is_deleted(&mut self) {
        let ids: Vec<String> = self.old.entries.iter().filter_map(|entry| entry.id.clone()).collect();
        let present: BTreeSet<String> =
            self.now.entries.iter().filter_map(|entry| entry.id.clone()).collect();
        for (at, id) in ids.iter().enumerate() {
            if present.contains(id) {
                continue;
            }
            let Some(old) = self.old_text(id) else { continue };
            // Behind the story that it stood behind before; that one is there again.
            let index = at.checked_sub(1).and_then(|before| self.place(&ids[before])).map_or(0, |it| it + 1);
            self.rewrite(insert(&self.text, index, &old));
            self.undone(Some(id), "story", "deleted", "as before the turn");
            self.found.broken.push(format!(
                "Story {id} was deleted. Stories are never deleted: split or reorder them instead."
            ));
        }
    }

    fn set(&mut self, id: &str, field: &str, value: &str) {
        if let Some(index) = self.place(id) {
            self.rewrite(set_in_story(&self.text, index, field, value));
        }
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("plain values are JSON")
}

//! The stories of a task list, or the tasks of a plan file, with how far each is.

use serde::Serialize;

use super::harmless;
use crate::{
    plan_file::Task,
    stories::{Kind, Review, Status, Story, TaskList},
};

/// How far a story or a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TaskState {
    /// Nothing is done yet.
    Open,
    /// It is done and waits for a review.
    InReview,
    /// Its review wants changes.
    SentBack,
    /// Nothing is left to do.
    Done,
    /// It waits for a person.
    ForPerson,
}

impl TaskState {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InReview => "in review",
            Self::SentBack => "sent back",
            Self::Done => "done",
            Self::ForPerson => "for you",
        }
    }
}

/// A story or a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownTask {
    /// Its name, where it has one.
    pub id: Option<String>,
    /// What it is, in a line.
    pub title: String,
    /// How far it is.
    pub state: TaskState,
    /// Whether the current turn, or the last one, is about it.
    pub is_current: bool,
    /// How many reviews there were.
    pub reviews: u64,
}

/// The stories of a list, of which the current turn is about one.
pub fn of_stories(list: &TaskList, review: Review, current: Option<&str>) -> Vec<ShownTask> {
    let shown = |story: &Story| ShownTask {
        id: Some(harmless(&story.id)),
        title: harmless(&story.title),
        state: state(story, review),
        is_current: current == Some(&*story.id),
        reviews: story.review_count,
    };
    list.user_stories.iter().map(shown).collect()
}

fn state(story: &Story, review: Review) -> TaskState {
    match story.review_status {
        _ if story.is_done(review) => TaskState::Done,
        _ if story.kind == Kind::Human => TaskState::ForPerson,
        Some(Status::NeedsReview) => TaskState::InReview,
        Some(Status::ChangesRequested) => TaskState::SentBack,
        Some(Status::Approved) | None => TaskState::Open,
    }
}

/// The tasks of a plan, of which the current turn is about one.
pub fn of_plan(tasks: &[Task], current: Option<&str>) -> Vec<ShownTask> {
    let shown = |task: &Task| ShownTask {
        id: None,
        title: harmless(&task.title),
        state: match task {
            Task { is_done: true, .. } => TaskState::Done,
            Task { is_for_person: true, .. } => TaskState::ForPerson,
            _ => TaskState::Open,
        },
        is_current: current == Some(&*task.title),
        reviews: 0,
    };
    tasks.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(passes: bool, review_status: Option<Status>, kind: Kind) -> Story {
        Story { id: "US-1".to_owned(), passes, review_status, kind, ..Story::default() }
    }

    #[test]
    fn a_story_is_where_its_review_is() {
        for (story, review, expected) in [
            (story(false, None, Kind::Agent), Review::Required, TaskState::Open),
            (story(false, Some(Status::NeedsReview), Kind::Agent), Review::Required, TaskState::InReview),
            (
                story(false, Some(Status::ChangesRequested), Kind::Agent),
                Review::Required,
                TaskState::SentBack,
            ),
            (story(true, None, Kind::Agent), Review::Required, TaskState::Open),
            (story(true, None, Kind::Agent), Review::Skipped, TaskState::Done),
            (story(true, Some(Status::Approved), Kind::Agent), Review::Required, TaskState::Done),
            (story(false, None, Kind::Human), Review::Required, TaskState::ForPerson),
            (story(true, Some(Status::Approved), Kind::Human), Review::Required, TaskState::Done),
        ] {
            let list = TaskList { user_stories: vec![story.clone()], ..TaskList::default() };
            let shown = of_stories(&list, review, Some("US-1"));
            assert_eq!((shown[0].state, shown[0].is_current), (expected, true), "{story:?}");
        }
    }

    #[test]
    fn a_plan_has_tasks_without_names() {
        let task = |title: &str, is_done, is_for_person| Task {
            title: title.to_owned(),
            spec: None,
            is_done,
            is_for_person,
        };
        let shown =
            of_plan(&[task("a", true, true), task("b", false, true), task("c", false, false)], Some("c"));
        let states: Vec<_> = shown.iter().map(|it| (it.state.word(), it.is_current)).collect();
        assert_eq!(states, [("done", false), ("for you", false), ("open", true)]);
    }
}

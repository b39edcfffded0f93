//! Check 2: what must hold in every task list, however it came about.

use std::collections::BTreeSet;

use super::{Review, Status, Story, TaskList, status_name};
use crate::{
    dependencies::{Graph, cycle},
    stories::schema::Problem,
};

/// What is wrong with the review fields of a list.
pub(super) fn problems(list: &TaskList, review: Review) -> Vec<Problem> {
    match review {
        Review::Skipped => Vec::new(),
        Review::Required => list.user_stories.iter().flat_map(of_story).collect(),
    }
}

/// The way from a story back to itself, if there is one.
pub(super) fn circle(list: &TaskList) -> Option<Vec<String>> {
    let graph = waiting(list);
    graph.keys().find_map(|id| cycle(&graph, id))
}

/// What the stories wait for that are not done.
fn waiting(list: &TaskList) -> Graph {
    let open = list.user_stories.iter().filter(|story| !story.passes);
    open.map(|story| (story.id.clone(), story.depends_on.clone())).collect()
}

/// Stories that wait for their own end, each circle once.
pub(super) fn circles(list: &TaskList) -> Vec<Problem> {
    let open = list.user_stories.iter().filter(|story| !story.passes);
    let graph = waiting(list);
    let mut told = BTreeSet::new();
    let mut problems = Vec::new();
    for story in open {
        let Some(path) = cycle(&graph, &story.id).filter(|_| !told.contains(&story.id)) else { continue };
        let text = format!(
            "Story {} waits for itself: {}. Take one of these out of dependsOn.",
            story.id,
            path.join(" -> ")
        );
        told.extend(path);
        problems.push(Problem { line: story.line, path: String::new(), story: Some(story.id.clone()), text });
    }
    problems
}

/// Open stories that had as many reviews as the cap allows, or more: the cap was lowered since, or ralph was killed.
/// Nothing is wrong with them, but a person should know what comes next.
pub fn past_the_cap(list: &TaskList, cap: u32) -> Vec<(usize, String)> {
    let open = list.user_stories.iter().filter(|story| !story.is_done(Review::Required));
    open.filter(|story| u64::from(cap) <= story.review_count)
        .map(|Story { id, review_count, line, .. }| {
            let reviews = format!("{review_count} review{}", if *review_count == 1 { "" } else { "s" });
            let text = format!(
                "Story {id} had {reviews} and the review cap is {cap}: its next review is the last, and ralph approves \
                 the story if that asks for changes"
            );
            (*line, text)
        })
        .collect()
}

fn of_story(story: &Story) -> Vec<Problem> {
    let Story { id, passes, review_status, review_feedback, .. } = story;
    let approved = *review_status == Some(Status::Approved);
    let mut texts = Vec::new();
    if *passes && !approved {
        texts.push(format!(
            "Story {id} has passes=true but reviewStatus is '{}', not 'approved'. Only review iterations may \
             approve stories. Set passes back to false or complete the review cycle.",
            status_name(*review_status)
        ));
    }
    if approved && !passes {
        texts.push(format!(
            "Story {id} has reviewStatus 'approved' but passes=false: the two are out of sync. An approved story \
             has passes=true."
        ));
    }
    if *review_status == Some(Status::ChangesRequested) && review_feedback.trim().is_empty() {
        texts.push(format!(
            "Story {id} has reviewStatus 'changes_requested' but its reviewFeedback is empty: feedback is required, \
             so that the next iteration knows what to fix."
        ));
    }
    let problem = |text| Problem { line: story.line, path: String::new(), story: Some(id.clone()), text };
    texts.into_iter().map(problem).collect()
}

//! The checks of a stories loop before the turn is over, for the agent's stop hook: what they would object to, the
//! agent can still mend. Nothing is recorded or put right here; ralph checks everything again after the turn.

use ralph_core::{
    engine::event::Turn,
    setup::{Setup, StoriesSetup},
};
use ralph_sys::error::Result;

use super::{
    assignment,
    files::{self, Snapshot, StoryFiles, TurnOver},
};
use crate::{
    journal::{self, run_dir::RunDir},
    project::{
        git::{self, Git},
        story_files::TASKS,
    },
};

/// What the checks find before a turn is over.
#[derive(Debug, Default)]
pub(crate) struct Feedback {
    /// What stands against the end of the turn; nothing if it may end.
    pub(crate) objection: Option<String>,
    /// What could not be checked.
    pub(crate) warning: Option<String>,
}

/// Checks the running turn of a run.
pub(crate) fn preview_stop(run: &RunDir) -> Result<Feedback> {
    let known = journal::fold(&run.journal())?.run;
    let setup = &known.started.setup;
    let Some(stories) = &setup.stories else { return Ok(Feedback::default()) };
    let Some(last) = known.memory.turn.as_ref().filter(|_| known.state.is_in_turn()) else {
        return Ok(Feedback::default());
    };
    // Nothing was wrong when the turn began, else it would have been told.
    let was_right = known.state.feedback_for(last.turn.story.as_deref()).is_empty();
    let (mut found, warning) = broken_rules(setup, stories, run, &last.turn, was_right);
    found.extend(unclean_tree(setup, stories)?);
    Ok(Feedback { objection: (!found.is_empty()).then(|| found.join("\n\n")), warning })
}

/// What is wrong with the list as it is, and with what the turn did to it.
fn broken_rules(
    setup: &Setup,
    stories: &StoriesSetup,
    run: &RunDir,
    turn: &Turn,
    was_right: bool,
) -> (Vec<String>, Option<String>) {
    let shown = stories.ralph_dir.join(TASKS);
    let pins = files::pinned(&setup.project, stories, run);
    let files = StoryFiles { project: &setup.project, setup: stories, pins: &pins };
    let Some(list) = files.list() else {
        return (vec![format!("{} is gone.", shown.display())], None);
    };
    let before = files::snapshot(run, setup, turn);
    if let Ok(before) = &before
        && was_right
        && before.file == list
    {
        return (files.untouched(before), None);
    }
    let touched = before.as_ref().map(|before| touched_by_review(setup, stories, before)).unwrap_or_default();
    let problems = list.problems(stories.review());
    let mut found: Vec<String> =
        problems.iter().map(|it| format!("{}:{}: {it}", shown.display(), it.line)).collect();
    match before {
        Ok(before) => {
            found.extend(
                files.judge(&before, Some(&list), TurnOver { finished: true, touched }).judged.broken,
            );
            (found, None)
        }
        // Ralph has a copy of its own, and judges the turn by that.
        Err(error) => (found, Some(error.to_string())),
    }
}

/// What a review has changed beside the files of the loop; nothing if git does not say.
pub(super) fn touched_by_review(setup: &Setup, stories: &StoriesSetup, before: &Snapshot) -> Vec<String> {
    let Some((tree, git)) = before.tree.as_ref().zip(Git::near(&setup.project)) else { return Vec::new() };
    tree.touched_at_once(&git, &setup.project.join(&stories.ralph_dir)).unwrap_or_default()
}

fn unclean_tree(setup: &Setup, stories: &StoriesSetup) -> Result<Option<String>> {
    let Some(git) = Git::near(&setup.project) else { return Ok(None) };
    let changes = git::since(&setup.dirty, git.changes_at_once()?);
    Ok(assignment::unclean(&changes, stories))
}

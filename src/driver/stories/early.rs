//! The checks of a stories loop before the turn is over, for the agent's stop hook: what they would object to, the
//! agent can still mend. Nothing is recorded or put right here; ralph checks everything again after the turn.

use super::{assignment, files};
use crate::{
    engine::event::{Event, Turn},
    error::Result,
    git::{self, Git},
    journal::{self, run_dir::RunDir},
    process::Supervisor,
    setup::{Setup, StoriesSetup},
    stories::check,
    story_files::TASKS,
};

/// What stands against the end of the running turn; nothing if it may end.
pub(crate) fn objection(run: &RunDir) -> Result<Option<String>> {
    let folded = journal::fold(&run.journal())?;
    let setup = &folded.started.setup;
    let Some(stories) = &setup.stories else { return Ok(None) };
    let turn = folded.entries.iter().rev().find_map(|entry| match &entry.event {
        Event::TurnStarted(turn) => Some(turn),
        _ => None,
    });
    let Some(turn) = turn.filter(|_| folded.state.is_in_turn()) else { return Ok(None) };
    let mut found = broken_rules(setup, stories, run, turn)?;
    found.extend(unclean_tree(setup, stories)?);
    Ok((!found.is_empty()).then(|| found.join("\n\n")))
}

/// What is wrong with the list as it is, and with what the turn did to it.
fn broken_rules(setup: &Setup, stories: &StoriesSetup, run: &RunDir, turn: &Turn) -> Result<Vec<String>> {
    let shown = stories.dir.join(TASKS);
    let Some(text) = files::read_text(&setup.project.join(&shown)) else {
        return Ok(vec![format!("{} is gone.", shown.display())]);
    };
    let problems = check(&text, stories.review(), stories.review_cap);
    let mut found: Vec<String> =
        problems.iter().map(|it| format!("{}:{}: {it}", shown.display(), it.line)).collect();
    let before = files::snapshot(run, turn)?;
    let findings = files::judge(&setup.project, stories, &files::pinned(stories, run), &before, true);
    found.extend(findings.judged.broken);
    Ok(found)
}

fn unclean_tree(setup: &Setup, stories: &StoriesSetup) -> Result<Option<String>> {
    let mut supervisor = Supervisor::new()?;
    let Some(git) = Git::find(&mut supervisor, &setup.project, "")? else { return Ok(None) };
    let changes = git::since(&setup.dirty, git.changes(&mut supervisor)?);
    Ok(assignment::unclean(&changes, stories))
}

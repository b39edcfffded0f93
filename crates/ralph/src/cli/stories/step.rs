//! `ralph stories submit`, `approve` and `request-changes`: steps of the review cycle that cannot be illegal.

use std::{
    io::{self, IsTerminal, Read},
    path::Path,
};

use clap::Args;
use ralph_core::stories::{Mode, Review, Step, read, status_name, take_step};
use ralph_sys::{
    error::{Error, Result},
    process::guardian::RUN_VARIABLE,
};

use super::{PlaceArgs, place::StoriesPlace};
use crate::{cli::print_lines, project::story_files::Active};

/// Submit a story for review
///
/// For a story that was implemented, or fixed after a review. Its feedback is cleared.
///
/// Example: ralph stories submit US-001 --note "Parser and tests"
#[derive(Args, Debug)]
pub(super) struct SubmitArgs {
    #[command(flatten)]
    story: StoryArgs,
}

/// Approve a story after a review
///
/// Example: ralph stories approve US-001
#[derive(Args, Debug)]
pub(super) struct ApproveArgs {
    #[command(flatten)]
    story: StoryArgs,
}

/// Send a story back after a review
///
/// What must change is read from standard input when --feedback is not given.
///
/// Example: ralph stories request-changes US-001 --feedback "week 53 is not handled, see `src/week.rs`"
#[derive(Args, Debug)]
pub(super) struct RequestChangesArgs {
    #[command(flatten)]
    story: StoryArgs,

    /// What must change, and where
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    feedback: Option<String>,
}

#[derive(Args, Debug)]
struct StoryArgs {
    /// The story's id
    id: String,

    /// Add this to the story's notes
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    note: Option<String>,

    #[command(flatten)]
    place: PlaceArgs,
}

impl SubmitArgs {
    pub(super) fn main(&self, project: &Path) -> Result<u8> {
        self.story.take(&Step::Submit, project)
    }
}

impl ApproveArgs {
    pub(super) fn main(&self, project: &Path) -> Result<u8> {
        self.story.take(&Step::Approve, project)
    }
}

impl RequestChangesArgs {
    pub(super) fn main(&self, project: &Path) -> Result<u8> {
        let feedback = match &self.feedback {
            Some(feedback) => feedback.clone(),
            None if io::stdin().is_terminal() => String::new(),
            None => {
                let mut text = Vec::new();
                io::stdin().lock().read_to_end(&mut text)?;
                String::from_utf8_lossy(&text).into_owned()
            }
        };
        self.story.take(&Step::RequestChanges(feedback), project)
    }
}

impl StoryArgs {
    fn take(&self, step: &Step, project: &Path) -> Result<u8> {
        let place = StoriesPlace::of(&self.place, project)?;
        let (mode, review) = turn(&place)?;
        if mode.is_none() {
            place.settle()?;
        }
        let text = place.tasks()?;
        let changed = take_step(&text, &self.id, step, self.note.as_deref(), mode, review)
            .map_err(|refused| Error::new(refused.why).hint(refused.hint))?;
        place.write_tasks(&changed)?;
        let list = read(&changed).list;
        if let Some(story) = list.story(&self.id) {
            let status = status_name(story.review_status);
            let (id, passes, count) = (&story.id, story.passes, story.review_count);
            print_lines(&format!("{id}: reviewStatus {status}, passes {passes}, reviewCount {count}\n"))?;
        }
        Ok(0)
    }
}

/// The mode of the turn in which this is called, if it is called in one. What the marker says is only good for
/// early advice: ralph judges by its own copy.
pub(super) fn turn(place: &StoriesPlace) -> Result<(Option<Mode>, Review)> {
    let Some(active) = Active::read(&place.project) else { return Ok((None, place.review)) };
    // In a turn of that loop it lives, though inside a sandbox it is not to be seen.
    let is_own = std::env::var_os(RUN_VARIABLE).is_some_and(|run| *run == *active.run);
    if !is_own && !active.is_alive() {
        return Ok((None, place.review));
    }
    if !is_own {
        return Err(Error::new("a loop is running: what is changed outside of its turns would be undone")
            .hint("wait until it has ended, or end it: ralph stop"));
    }
    let modes = [Mode::Implement, Mode::Review, Mode::Fix];
    let mode = modes.into_iter().find(|mode| Some(mode.name()) == active.iteration_mode.as_deref());
    Ok((mode, active.review()))
}

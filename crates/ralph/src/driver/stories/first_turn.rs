//! What the first turn of a stories loop would be told, when nothing is to be changed.

use std::path::Path;

use ralph_core::{
    engine::{Order, event::Turn},
    setup::StoriesSetup,
    stories::{TaskFile, select},
};

use super::{assignment, commits::ReviewedCommits, files::StoryFiles, unjudged_turn};

/// A turn that has not begun.
pub(in crate::driver) struct FirstTurn {
    pub(in crate::driver) turn: Turn,
    /// What ralph tells it before anything else.
    pub(in crate::driver) assignment: String,
    /// The variables of the prompt that are about its story.
    pub(in crate::driver) variables: Vec<(&'static str, String)>,
}

/// The first turn; nothing if no story can be worked on.
pub(in crate::driver) fn first_turn(
    project: &Path,
    setup: &StoriesSetup,
    max_iterations: u32,
) -> Option<FirstTurn> {
    let pending = unjudged_turn::pending(project, &setup.ralph_dir).ok().flatten();
    let file: TaskFile = match pending {
        Some(pending) => pending.list,
        None => StoryFiles { project, setup, pins: &[] }.list()?,
    };
    let selected = select(file.list(), setup.review()).ok()?;
    let order = Order {
        iteration: 1,
        attempt: 1,
        mode: selected.mode,
        story: Some(selected.id.clone()),
        chosen: None,
        notes: Vec::new(),
    };
    let (turn, story): (Turn, _) = (order.into(), file.list().story(&selected.id));
    let assignment = assignment::text(&turn, max_iterations, story, &ReviewedCommits::default(), setup);
    let variables = assignment::variables(&turn, story, setup);
    Some(FirstTurn { turn, assignment, variables })
}

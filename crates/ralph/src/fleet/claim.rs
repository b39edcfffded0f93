//! What a lane is at, in a file beside its tree.

use std::path::Path;

use ralph_core::fleet::Item;
use serde::{Deserialize, Serialize};

use super::answer;
use crate::journal::run_dir::RunDir;

/// What a lane was brought to, and for whom: beside its tree, so that the next process knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) fleet: String,
    pub(super) item: String,
    /// How often the item was sent back: after that it is other work.
    pub(super) refusals: u32,
    /// The commit of the target that it began with.
    pub(super) base: String,
    /// The commit that the lane began with.
    pub(super) start: String,
    /// The newest run of the lane before.
    pub(super) before: Option<String>,
}

impl Claim {
    /// That of a lane.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        answer::read(&folder.join("claim.json"))
    }

    /// The run that works on it.
    pub(super) fn run(&self, project: &Path) -> Option<RunDir> {
        let newest = RunDir::of_project(project).ok()?.pop()?;
        self.before.as_ref().is_none_or(|before| *before < newest.id()).then_some(newest)
    }

    /// Whether it is for this work.
    pub(super) fn is_for(&self, fleet: &str, id: &str, item: &Item) -> bool {
        self.fleet == fleet && self.item == id && self.refusals == item.refusals
    }
}

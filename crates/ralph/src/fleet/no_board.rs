//! A build without boards: what would need one says so.

use std::convert::Infallible;

use ralph_core::fleet::{FleetBoard, FleetEvent, FleetState, ItemStep, Offer};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::FleetDir;
use crate::workspace::{Source, target::TargetBranch};

/// There is none.
pub(super) struct BoardDesk(Infallible);

impl BoardDesk {
    pub(super) fn open(
        _: &FleetDir,
        _: (&FleetBoard, &FleetState),
        _: &mut Supervisor,
        _: &Source,
    ) -> Result<Self> {
        Err(none())
    }

    pub(super) fn post(&mut self, _: &FleetState, _: &str) -> Result<()> {
        match self.0 {}
    }

    pub(super) fn append(&mut self, _: &FleetState, _: &str, _: &ItemStep) -> Result<()> {
        match self.0 {}
    }

    pub(super) fn changes(&mut self, _: &FleetState) -> Result<Vec<FleetEvent>> {
        match self.0 {}
    }

    pub(super) fn spent(&mut self, _: &FleetState) -> Result<Vec<FleetEvent>> {
        match self.0 {}
    }

    pub(super) fn sweep(&mut self, _: &FleetState) -> Result<()> {
        match self.0 {}
    }
}

pub(super) fn fetch_candidate(
    _: &mut Supervisor,
    _: (&FleetDir, &FleetBoard),
    _: (&Source, &TargetBranch),
    _: (&Offer, &str),
    _: &str,
) -> Result<std::result::Result<(), String>> {
    Err(none())
}

fn none() -> Error {
    Error::new("this ralph was built without boards").hint("use one with the feature `nats`")
}

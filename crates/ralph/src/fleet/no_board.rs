//! A build without boards: what would need one says so.

use std::convert::Infallible;

use ralph_core::fleet::{FleetBoard, FleetEvent, FleetState, ItemStep, Offer, Stored};
use ralph_sys::{
    error::{Error, Result},
    process::Supervisor,
};

use super::{FleetDir, Word};
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

    pub(super) fn append(&mut self, _: &FleetState, _: &str, _: &ItemStep) -> Result<Stored> {
        match self.0 {}
    }

    pub(super) fn changes(&mut self, _: &FleetState) -> Result<Vec<FleetEvent>> {
        match self.0 {}
    }

    pub(super) fn spent(&mut self, _: &FleetState) -> Result<Vec<FleetEvent>> {
        match self.0 {}
    }

    pub(super) fn ship(&mut self) -> Option<String> {
        match self.0 {}
    }

    pub(super) fn ship_now(&mut self) -> Result<()> {
        match self.0 {}
    }

    pub(super) fn has_shipped(&self) -> bool {
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

pub(super) fn land(_: &FleetDir, _: &str) -> Result<()> {
    Err(none())
}

pub(super) fn discard(_: &FleetDir, _: &str) -> Result<()> {
    Err(none())
}

pub(crate) fn say(_: &FleetDir, _: (&str, Option<&str>), _: &Word) -> Result<String> {
    Err(none())
}

fn none() -> Error {
    Error::new("this ralph was built without boards").hint("use one with the feature `nats`")
}

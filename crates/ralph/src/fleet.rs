//! Many lanes on one machine: stories or prompts are worked on at once, and land one after the other.
//!
//! Three kinds of processes, all ralph: the *coordinator* has the journal and decides; a *lane* (one process for each
//! claim) brings a clone to the target, runs an ordinary loop in it and hands in a candidate; the *lander* merges one
//! candidate, has it judged and moves the target. Lanes and lander answer with a file, so whichever is killed, the
//! journal and git say what is left to do.

mod answer;
mod at_work;
mod by_hand;
mod claim;
mod coordinator;
mod crew;
mod dir;
#[cfg(feature = "nats")]
pub(crate) mod far;
#[cfg(not(feature = "nats"))]
#[path = "fleet/no_board.rs"]
pub(crate) mod far;
mod far_run;
pub(crate) mod lander;
mod lane;
pub(crate) mod lane_process;
mod ledger;
mod own_files;
mod red;
pub(crate) mod table;
mod tail;

pub(crate) use at_work::lanes_at_work;
pub(crate) use by_hand::{discard, land_by_hand};
pub(crate) use coordinator::{Coordinator, Opening};
pub(crate) use dir::FleetDir;
pub(crate) use far_run::{FarRun, Word};
pub(crate) use ledger::FileLedger;

/// The hidden command that a lane runs as.
pub(crate) const LANE_COMMAND: &str = "fleet-lane";
/// The hidden command that a lane runs as whose work is on a board.
#[cfg(feature = "nats")]
pub(crate) const FAR_LANE_COMMAND: &str = "fleet-far-lane";
/// The hidden command that the lander runs as.
pub(crate) const LANDER_COMMAND: &str = "fleet-lander";

//! Many lanes, on one machine or on many: who works on what, what lands, and when it ends.
//!
//! The log of an item is the truth and its state a fold (`item`): every reader of a log comes to the same state,
//! because what is not legal where it stands changes nothing. [`decide()`] names the next action over all of them, and
//! [`FleetState::apply`] takes in what happened. Where the logs are kept is behind [`Ledger`].

mod decide;
mod event;
mod feedback;
mod item;
mod ledger;
mod overlap;
mod plan;
mod state;
mod step;
#[cfg(test)]
mod tests;

pub use decide::{FleetAction, FleetWorld, after_death, decide};
pub use event::{FleetBoard, FleetEntry, FleetEvent, FleetOutcome, FleetStarted};
pub use feedback::feedback;
pub use item::{Item, ItemPhase, Lease};
pub use ledger::{Ledger, Stored};
pub use plan::{FleetItem, FleetPlan, FleetWork, Pick};
pub use state::FleetState;
pub use step::{ItemEntry, ItemStep, Offer, OfferedParcel, Refusal};

/// Who writes what is not written by a lane.
pub const LANDER: &str = "lander";

//! A run or a fleet as screens and pages show it: values that are made from records alone.
//!
//! [`Watched`] folds a journal line by line and keeps beside the [`Run`](crate::engine::Run) only what is shown over time; [`Watched::shown`] is the
//! picture of it at a moment, which a terminal draws and a page gets as JSON. Invariants: folding at once and bit by bit say the
//! same; no event, damaged or of a newer version, stops it; every text in a picture is harmless ([`harmless()`]): one
//! line without keys, escape sequences and control characters, of a limited length.

mod activity;
mod fleet;
mod harmless;
mod notices;
mod order;
mod run;
mod spend;
mod standing;
mod stream;
mod tasks;
#[cfg(test)]
mod tests;
mod turns;

pub use activity::Activity;
pub use fleet::{ShownFleet, ShownItem};
pub use harmless::harmless;
pub use notices::{ShownFinding, ShownRefusal};
pub use order::{Attention, overview};
pub use run::{Outside, ShownGate, ShownRun, Watched};
pub use spend::{ShownAgent, ShownLimits, ShownSpend};
pub use standing::Standing;
pub use stream::{LineKind, ShownLine, StreamTail};
pub use tasks::{ShownTask, TaskState, of_plan, of_stories};
pub use turns::{GateDot, ShownTurn, TurnMark};

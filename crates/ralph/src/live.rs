//! Records that are followed while they grow: journals, agents' streams, and which of them there are.
//!
//! Invariant: nothing here writes, and nothing is read twice. What is shown of a run is [`ralph_core::view`].

mod run;
mod scan;
mod stream;

pub(crate) use run::{LiveRun, asked};
pub(crate) use scan::{Overview, ScanScope, Scanner};
pub(crate) use stream::LiveStream;

//! The forge that a repository is on: issues come from there and work goes there, through programs that are logged in to it.
//!
//! Invariant: the forge's programs run outside of every sandbox, where no file of the project can tell them anything, and
//! what they know about the user's login reaches no one else.

mod gh;
pub(crate) mod issues;
pub(crate) mod pull_request;
mod remote;

pub(crate) use gh::Gh;
pub(crate) use remote::{anywhere, remote, remote_name};

//! `ralph fleet board`: a server for a fleet on many machines, with everything that its machines need to get in.

mod files;
mod host;

pub(crate) use files::{BoardFiles, BoardPlace};
pub(crate) use host::{Host, find_server};

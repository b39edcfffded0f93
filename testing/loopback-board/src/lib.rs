//! Servers of a board on this machine, for tests and measurements: they are killed, cut off and clustered.
//!
//! The machine must have a `nats-server`; [`find_server`] says where. With the feature `workers` there are workers that do
//! nothing but what the protocol asks of them.

mod cable;
mod server;
#[cfg(feature = "workers")]
pub mod workers;

pub use cable::Cable;
pub use server::{Server, cluster, find_old_server, find_server, free_port};

//! The board with real servers on this machine: killed, cut off, clustered, and locked.

mod cluster;
mod events;
mod once;
mod parcels;
mod queue;
mod roles;
mod server;
mod strangers;

//! Runs any command-line coding agent again and again, each time with fresh context, until the work is
//! verifiably done.
//!
//! What is decided is in `ralph-core`, what is asked of the machine in `ralph-sys`; this crate is the program that puts
//! them together. `ARCHITECTURE.md` has the map.

#[cfg(feature = "nats")]
mod board;
mod cli;
mod driver;
mod fleet;
mod forge;
#[doc(hidden)]
pub mod fuzz;
mod gates;
mod hidden;
mod hooks;
mod journal;
mod judge;
mod live;
mod outside;
mod project;
mod receipt;
mod report;
mod scripted;
mod selftest;
mod serve;
mod settings;
mod tasks;
mod term;
mod watch;
mod workspace;

pub use cli::main;

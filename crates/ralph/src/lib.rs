//! Runs any command-line coding agent again and again, each time with fresh context, until the work is
//! verifiably done.
//!
//! What is decided is in `ralph-core`, what is asked of the machine in `ralph-sys`; this crate is the program that puts
//! them together. `ARCHITECTURE.md` has the map.

mod bus;
mod cli;
mod driver;
#[doc(hidden)]
pub mod fuzz;
mod gate;
mod git;
mod guard_settings;
mod hook;
mod journal;
mod lock;
mod own_files;
mod plugin;
mod report;
mod sandbox;
mod scripted;
mod settings;
mod story_files;
mod task;
mod term;
mod version;

pub use cli::main;

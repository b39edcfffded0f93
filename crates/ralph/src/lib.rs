//! Runs any command-line coding agent again and again, each time with fresh context, until the work is
//! verifiably done.
//!
//! Two floors. The upper one takes values and returns values: no clock, file, variable or process. The
//! ground floor does all the I/O. `ARCHITECTURE.md` has the map; a tidy test keeps the floors apart.

// Upper floor: values in, values out.
pub mod agents_md;
pub mod budget;
pub mod checkup;
pub mod claim;
pub mod dependencies;
pub mod detect;
pub mod duration;
pub mod engine;
pub mod fail_action;
pub mod job_request;
pub mod markdown;
pub mod message;
pub mod notes;
pub mod plan_file;
pub mod prompt;
pub mod sandbox;
pub mod session;
pub mod setup;
pub mod stories;
pub mod stuck;
pub mod template;
pub mod watch;

// Ground floor: all the I/O.
mod bus;
mod cli;
mod driver;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod gate;
mod git;
mod guard_settings;
mod hook;
mod journal;
mod lock;
mod own_files;
mod plain_file;
mod plugin;
mod process;
mod report;
mod scripted;
mod settings;
mod signals;
mod story_files;
mod task;
mod term;
mod version;

pub use cli::main;

//! Runs any command-line coding agent again and again, each time with fresh context, until the work is
//! verifiably done.
//!
//! Two floors. The upper one takes values and returns values: no clock, file, variable or process. The
//! ground floor does all the I/O. `ARCHITECTURE.md` has the map; a tidy test keeps the floors apart.

// Upper floor: values in, values out.
pub mod agent;
pub mod claim;
pub mod duration;
pub mod engine;
pub mod fail_action;
pub mod prompt;
pub mod setup;
pub mod watch;

// Ground floor: files, processes, the terminal.
pub mod settings;

use std::process::ExitCode;

/// Runs the program.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}

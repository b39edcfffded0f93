//! `ralph task`: keeps an agent going until it writes DONE.

mod earlier;
mod list;
mod resume;
mod run;
mod stop;

use std::path::Path;

use clap::{Args, Subcommand};
use ralph_sys::error::Result;

/// Keep an agent going until it writes DONE
///
/// A task has a folder, .ralph/tasks/ID, with its text, its message bus and the records of its runs. Ralph starts the
/// agent again each time it ends, regardless of its output and exit code, until it writes the file DONE there. It can
/// start children (`ralph job`) and talk to them and to you (`ralph bus`).
///
/// Example: ralph task run --task greeter -p "Make greet.sh greet the name it is given."
#[derive(Args, Debug)]
pub(super) struct TaskArgs {
    #[command(subcommand)]
    command: TaskCommand,
}

#[derive(Debug, Subcommand)]
enum TaskCommand {
    Run(run::TaskRunArgs),
    List(list::TaskListArgs),
    Stop(stop::TaskStopArgs),
    Resume(resume::TaskResumeArgs),
}

/// Does what the command says.
pub(super) fn main(args: &TaskArgs, project: &Path) -> Result<u8> {
    match &args.command {
        TaskCommand::Run(args) => run::main(args, project),
        TaskCommand::List(args) => list::main(args, project),
        TaskCommand::Stop(args) => stop::main(args, project),
        TaskCommand::Resume(args) => resume::main(args, project),
    }
}

//! `ralph session`: the loop inside one conversation with an agent.

mod cancel;
mod run;
mod start;
mod status;

use std::path::Path;

use clap::{Args, Subcommand};
use ralph_sys::error::{Error, Result};

use crate::{
    hooks::{begin, store},
    journal::{self, run_dir::RunDir},
};

/// Keep an agent working on one task inside its own conversation, until it makes a promise
///
/// The agent's stop hook calls ralph each time the agent tries to stop. Without the promise, ralph gives it the task
/// again. The plugin starts such a loop when you type /ralph-loop.
///
/// Example: ralph session status
#[derive(Args, Debug)]
pub(super) struct SessionArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Start(start::StartArgs),
    Cancel(cancel::CancelArgs),
    Status(status::SessionStatusArgs),
    Run(Box<run::SessionRunArgs>),
}

/// Does it.
pub(super) fn main(args: &SessionArgs, project: &Path) -> Result<u8> {
    match &args.command {
        Command::Start(args) => start::main(args, project),
        Command::Cancel(args) => cancel::main(args, project),
        Command::Status(args) => status::main(args, project),
        Command::Run(args) => run::main(args, project),
    }
}

/// The conversation that is meant: the one that is named, or the one that ralph was called from.
fn conversation(named: Option<&str>) -> Option<String> {
    named.map(str::to_owned).or_else(|| begin::caller().map(|(conversation, _)| conversation))
}

/// The conversation whose loop goes on in this run.
pub(super) fn bound_to(run: &RunDir) -> Option<String> {
    // The first line and the last: a command that lists runs asks this of each.
    let journal = run.journal();
    let id = journal::started(&journal)?.setup.session?.id?;
    let bound = store::Store::of(&id).ok()?.run()?;
    (bound.path() == run.path() && journal::end(&journal).is_none()).then_some(id)
}

/// The only conversation in a loop that works on this project.
fn only_one(project: &Path) -> Result<String> {
    let mut found: Vec<String> = RunDir::of_project(project)?.iter().filter_map(bound_to).collect();
    match (found.len(), found.pop()) {
        (1, Some(id)) => Ok(id),
        (0, _) | (_, None) => {
            Err(Error::new(format!("no conversation is in a loop in {}", project.display()))
                .hint("`ralph session status` shows those that were"))
        }
        (several, Some(_)) => Err(Error::new(format!("{several} conversations are in a loop here"))
            .hint("name one of them: --session-id ID; `ralph session status` lists them")),
    }
}

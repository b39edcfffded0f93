//! `ralph stories`: works through a task list, every story reviewed in a fresh context.

mod archive;
mod check;
mod import;
mod init;
mod list;
mod place;
mod reopen;
mod run;
mod step;
mod templates;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use ralph_sys::error::Result;

/// Work through the stories of ralph/tasks.json, each reviewed in a fresh context
///
/// Ralph selects a story and the next step for it: implement it, review it, or fix what the review found. Each step
/// is a turn with fresh context. After every turn, ralph compares the task list with the one before. It undoes what
/// the turn may not do, and tells the next turn. Only a review can approve a story. The loop is complete when every
/// story is approved, everything is committed and the verify commands pass.
///
/// Example: ralph stories init --name search && ralph stories
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct StoriesArgs {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    run: run::StoriesRunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::StoriesRunArgs>),
    Init(init::StoriesInitArgs),
    Import(import::ImportArgs),
    List(list::StoryListArgs),
    Check(check::CheckArgs),
    Submit(step::SubmitArgs),
    Approve(step::ApproveArgs),
    RequestChanges(step::RequestChangesArgs),
    Reopen(reopen::ReopenArgs),
    Archive(archive::ArchiveArgs),
}

/// Where the task list is.
#[derive(Args, Debug, Default)]
struct PlaceArgs {
    /// The folder of the task list, relative to the project
    #[arg(long, value_name = "DIR")]
    ralph_dir: Option<PathBuf>,

    /// The same as --project-dir
    #[arg(short = 'd', value_name = "DIR")]
    project: Option<PathBuf>,
}

/// Does what was asked for.
pub(super) fn main(args: &StoriesArgs, project: &Path) -> Result<u8> {
    match &args.command {
        None => run::main(&args.run, project),
        Some(Command::Run(args)) => run::main(args, project),
        Some(Command::Init(args)) => init::main(args, project),
        Some(Command::Import(args)) => import::main(args, project),
        Some(Command::List(args)) => list::main(args, project),
        Some(Command::Check(args)) => check::main(args, project),
        Some(Command::Submit(args)) => args.main(project),
        Some(Command::Approve(args)) => args.main(project),
        Some(Command::RequestChanges(args)) => args.main(project),
        Some(Command::Reopen(args)) => reopen::main(args, project),
        Some(Command::Archive(args)) => archive::main(args, project),
    }
}

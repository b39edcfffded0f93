//! `ralph fleet`: many lanes at once, one target.

mod begin;
#[cfg(feature = "nats")]
mod board;
#[cfg(feature = "nats")]
mod board_args;
#[cfg(not(feature = "nats"))]
mod no_board;
mod programs;
mod run;
pub(super) mod seen;
mod stories;
#[cfg(feature = "nats")]
mod watch;
#[cfg(feature = "nats")]
mod work;

use std::path::Path;

use clap::{Args, Subcommand};
use ralph_sys::{
    error::{Error, Result},
    process,
};
use serde::Serialize;

use super::{display::settings_of, loop_args::LoopArgs, persons_command::refuse_inside_run, print_lines};
use crate::{
    fleet::{Coordinator, FileLedger, FleetDir, Opening, discard, land_by_hand},
    settings::flags::{DisplayFlags, GuardrailFlags, IterationFlags, dollars, is_unset},
};

/// Work on several stories or prompts at once, each in its own clone
///
/// Each lane is a clone of the project in which an ordinary run works on one item, sandboxed by default. Ralph merges
/// what a lane finishes onto the current tip of your branch and runs every guardrail on the merged tree. The branch
/// moves only if all pass. Otherwise, or if the merge conflicts, the item goes back to a lane. Without a subcommand,
/// the items are the stories of ralph/tasks.json; each waits until the stories that it depends on have landed.
///
/// Example: ralph fleet --lanes 4
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct FleetArgs {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    flags: FleetLoopArgs,
}

/// The flags of a fleet that begins.
#[derive(Args, Debug, Default)]
pub(super) struct FleetLoopArgs {
    #[command(flatten)]
    own: FleetFlags,

    /// Land work even if there is no guardrail to check it
    #[arg(long)]
    unverified: bool,

    #[cfg(feature = "nats")]
    #[command(flatten)]
    board: board_args::LanderArgs,
    #[cfg(not(feature = "nats"))]
    #[command(flatten)]
    no_board: no_board::NoBoardFlags,

    #[command(flatten)]
    common: LoopArgs,
}

/// Flags that stand for settings.
#[derive(Args, Debug, Default, Serialize)]
struct FleetFlags {
    #[command(flatten)]
    #[serde(flatten)]
    count: IterationFlags,

    #[command(flatten)]
    #[serde(flatten)]
    guardrails: GuardrailFlags,

    #[command(flatten)]
    #[serde(skip_serializing_if = "is_unset")]
    fleet: LaneFlags,
}

#[derive(Args, Debug, Default, PartialEq, Serialize)]
struct LaneFlags {
    /// Work on this many at once [default: as many as cores and memory allow, at most 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    #[serde(skip_serializing_if = "is_unset")]
    lanes: Option<u32>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::FleetRunArgs>),
    #[cfg(feature = "nats")]
    Work(work::FleetWorkArgs),
    Status(FleetStatusArgs),
    #[cfg(feature = "nats")]
    Watch(watch::FleetWatchArgs),
    Stop(FleetStopArgs),
    Resume(FleetResumeArgs),
    Land(FleetLandArgs),
    Discard(FleetDiscardArgs),
    #[cfg(feature = "nats")]
    Board(board::FleetBoardArgs),
    #[cfg(not(feature = "nats"))]
    #[command(hide = true, aliases = ["work", "watch"])]
    Board(no_board::NoBoardArgs),
}

/// Show the items, the lanes and the disk space that they use
///
/// Example: ralph fleet status --json
#[derive(Args, Debug)]
struct FleetStatusArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[cfg(feature = "nats")]
    #[command(flatten)]
    elsewhere: watch::ElsewhereArgs,
}

/// Ask the fleet to stop after the running turns
///
/// Example: ralph fleet stop --now
#[derive(Args, Debug)]
struct FleetStopArgs {
    /// End the agents at once instead of letting them finish
    #[arg(long)]
    now: bool,
}

/// Continue a fleet that was stopped or killed
///
/// Runs in lanes continue where they were. Ralph tries failed items again.
///
/// Example: ralph fleet resume --max-cost 20
#[derive(Args, Debug)]
struct FleetResumeArgs {
    /// The whole fleet may cost this much, including what it has cost already
    #[arg(long, value_name = "USD", value_parser = dollars)]
    max_cost: Option<f64>,

    #[command(flatten)]
    look: DisplayFlags,
}

/// Land the last candidate of an item that was sent back too often
///
/// Ralph merges and judges it like any other.
///
/// Example: ralph fleet land US-003
#[derive(Args, Debug)]
struct FleetLandArgs {
    /// The item
    item: String,
}

/// Drop an item and the work of its lanes
///
/// Example: ralph fleet discard US-003
#[derive(Args, Debug)]
struct FleetDiscardArgs {
    /// The item
    item: String,
}

/// Does what was asked for.
pub(super) fn main(args: &FleetArgs, project: &Path) -> Result<u8> {
    ralph_sandbox::refuse_inside()?;
    match &args.command {
        None => stories::main(&args.flags, project),
        Some(Command::Run(args)) => run::main(args, project),
        #[cfg(feature = "nats")]
        Some(Command::Work(args)) => work::main(args, project),
        #[cfg(feature = "nats")]
        Some(Command::Status(args)) if args.elsewhere.is_given() => args.elsewhere.show(args.json),
        Some(Command::Status(args)) => seen::show(&FleetDir::newest(project)?, args.json),
        #[cfg(feature = "nats")]
        Some(Command::Watch(args)) => watch::main(args, project),
        Some(Command::Stop(args)) => stop(args, project),
        Some(Command::Resume(args)) => {
            refuse_inside_run("fleet resume")?;
            let dir = FleetDir::newest(project)?;
            let style = args.look.fleet_style(&settings_of(project));
            Coordinator::open(dir, Opening::Resumed { max_cost: args.max_cost }, style)?.run()
        }
        Some(Command::Land(args)) => {
            refuse_inside_run("fleet land")?;
            land_by_hand(&FleetDir::newest(project)?, &args.item)?;
            print_lines(&format!("{} has landed\n", args.item))?;
            Ok(0)
        }
        Some(Command::Discard(args)) => {
            refuse_inside_run("fleet discard")?;
            discard(&FleetDir::newest(project)?, &args.item)?;
            print_lines(&format!("{} is discarded\n", args.item))?;
            Ok(0)
        }
        #[cfg(feature = "nats")]
        Some(Command::Board(args)) => board::main(args),
        #[cfg(not(feature = "nats"))]
        Some(Command::Board(_)) => Err(no_board::refusal()),
    }
}

fn stop(args: &FleetStopArgs, project: &Path) -> Result<u8> {
    let dir = FleetDir::newest(project)?;
    let state = FileLedger::look(&dir)?;
    if !dir.is_running(state.pid) {
        return Err(Error::new(format!("fleet {} is not running", dir.id())));
    }
    process::ask_to_stop(state.pid, args.now)?;
    let when = if args.now { "now" } else { "after the running turns" };
    print_lines(&format!("asked fleet {} to stop {when}\n", dir.id()))?;
    Ok(0)
}

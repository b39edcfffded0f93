//! `ralph fleet work`: a worker of fleets on other machines.

use std::path::{Path, PathBuf};

use clap::Args;
use ralph_board::{API, Name, PublicKey};
use ralph_sys::error::{Error, Result};
use serde_json::json;

use super::board_args::BoardFlags;
use crate::{
    cli::{persons_command::refuse_inside_run, print_lines},
    fleet::far::{WorkerSetup, drain, work},
    settings,
};

/// Work for fleets on other machines: take their items from a board, and hand in commits
///
/// Runs until you stop it. A worker takes only items that its lander has signed. The settings of this folder name the
/// agents that may run, and limit sandbox, hosts and cost. The code comes from the board; the worker needs no git
/// remote.
///
/// Example: ralph fleet work --login w1 --lanes 2 --labels gpu
#[derive(Args, Debug)]
pub(super) struct FleetWorkArgs {
    #[command(flatten)]
    flags: BoardFlags,

    /// The public key of the lander whose items this worker takes
    #[arg(long, value_name = "KEY")]
    lander: Option<String>,

    /// The name of this worker: letters, digits, - and _
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Work on this many items at once [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    lanes: Option<u32>,

    /// Labels of this machine, such as gpu; it leaves items that need other labels to other workers
    #[arg(long, value_name = "LABEL,...", value_delimiter = ',')]
    labels: Vec<String>,

    /// Read this settings file instead of .ralph/settings.json
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Ask the workers of this machine to finish their items and to end
    #[arg(long, conflicts_with_all = ["board", "login", "lanes", "labels"])]
    drain: bool,
}

/// Works, or asks others to finish.
pub(super) fn main(args: &FleetWorkArgs, project: &Path) -> Result<u8> {
    refuse_inside_run("fleet work")?;
    if args.drain {
        let asked = drain()?;
        if asked.is_empty() {
            return Err(Error::new("no worker is at work on this machine"));
        }
        print_lines(&format!("asked to finish: {}\n", asked.join(", ")))?;
        return Ok(0);
    }
    let name: Option<Name> = args.name.as_deref().map(str::parse).transpose()?;
    let place = args.flags.place(name, Some(API))?;
    let lander = args.lander.as_deref().map(PublicKey::parse).transpose()?.or(place.lander);
    let lander = lander.ok_or_else(|| {
        Error::new("a worker takes the items of one lander only").hint("--lander KEY, or --login DIR")
    })?;
    let loaded = settings::load(project, args.config.as_deref(), json!({})).map_err(|error| {
        Error::new(error).hint("the settings of a worker name the agents that it lets run")
    })?;
    work(WorkerSetup {
        address: place.address,
        login: place.login,
        lander,
        lanes: args.lanes.unwrap_or(1),
        labels: args.labels.clone(),
        settings: loaded.settings,
    })
}

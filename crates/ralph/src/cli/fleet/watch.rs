//! `ralph fleet watch`: a fleet of another machine, for a person who only looks.

use std::path::{Path, PathBuf};

use clap::Args;
use ralph_board::LoginDir;
use ralph_sys::error::Result;

use super::seen;
use crate::{
    cli::display::settings_of,
    fleet::far::{look, watch},
    settings::flags::DisplayFlags,
};

/// Show what happens in a fleet of another machine, from its beginning to its end
///
/// Reads the board with the login `watcher`, which can write nothing. As long as this runs, the records of the fleet and
/// of its runs are copied to this machine: `ralph status --all`, `ralph logs RUN -f`, `ralph watch --all` and
/// `ralph report` show them, also afterwards.
///
/// Example: ralph fleet watch --login watcher
#[derive(Args, Debug)]
pub(super) struct FleetWatchArgs {
    /// The folder that `ralph fleet board` wrote for the watcher, copied to this machine
    #[arg(long, value_name = "DIR")]
    login: PathBuf,

    /// The id of a fleet [default: the one that reported last]
    fleet: Option<String>,

    #[command(flatten)]
    look: DisplayFlags,
}

/// Which fleet of another machine is meant.
#[derive(Args, Debug)]
pub(super) struct ElsewhereArgs {
    /// Show a fleet of another machine: the folder that `ralph fleet board` wrote for the watcher
    #[arg(long, value_name = "DIR")]
    login: Option<PathBuf>,

    /// The id of a fleet on the board of --login [default: the one that reported last]
    #[arg(requires = "login")]
    fleet: Option<String>,
}

impl ElsewhereArgs {
    pub(super) fn is_given(&self) -> bool {
        self.login.is_some()
    }

    /// Prints its table. Nothing is kept.
    pub(super) fn show(&self, as_json: bool) -> Result<u8> {
        let login = LoginDir::read(&std::path::absolute(self.login.clone().unwrap_or_default())?)?;
        let (dir, state) = look(&login, self.fleet.as_deref())?;
        let is_running = state.outcome.is_none();
        seen::print_table(&dir, &state, (is_running, as_json))?;
        Ok(0)
    }
}

/// Shows it until it has ended.
pub(super) fn main(args: &FleetWatchArgs, project: &Path) -> Result<u8> {
    let login = LoginDir::read(&std::path::absolute(&args.login)?)?;
    watch(&login, args.fleet.as_deref(), &args.look.fleet_style(&settings_of(project)))
}

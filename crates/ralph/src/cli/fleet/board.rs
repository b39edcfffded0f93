//! `ralph fleet board`: a server for machines that work together.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
};

use clap::Args;
use ralph_board::Name;
use ralph_sys::{
    error::{Error, Result},
    paths::state_dir,
};

use crate::{
    board::{BoardFiles, BoardPlace, Host, find_server},
    cli::{persons_command::refuse_inside_run, print, print_lines, warn},
    report::streams::say,
};

/// The usual port of such servers.
const PORT: u16 = 4222;

/// Start a board: the server that lets a fleet work on many machines
///
/// Writes a configuration for nats-server (TLS, a key for every machine, an account for every worker, everything on the
/// disk before it is confirmed), starts the server, and prints what to type on the lander and on each worker. Keys are kept
/// in the state folder, so a board that is started again lets the same machines in. Ctrl-C ends it; nothing is lost.
///
/// Example: ralph fleet board --listen 0.0.0.0:4222 --worker anna --worker ben
#[derive(Args, Debug)]
pub(super) struct FleetBoardArgs {
    /// The address and port to listen on; 0.0.0.0 lets other machines in
    #[arg(long, value_name = "ADDR", default_value_t = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), PORT))]
    listen: SocketAddr,

    /// The name that other machines reach this one by [default: its host name]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Make a login for this worker; those that have one keep it
    #[arg(long, value_name = "NAME", value_parser = worker)]
    worker: Vec<Name>,

    /// The nats-server to start [default: the one on the PATH]
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,

    /// Write keys and certificates, print the configuration, and start nothing
    #[arg(long)]
    config_only: bool,
}

/// Serves until it is interrupted.
pub(super) fn main(args: &FleetBoardArgs) -> Result<u8> {
    // An agent with a board of its own could hand itself the key of the lander.
    refuse_inside_run("fleet board")?;
    let dir = state_dir()?.join("board");
    let place = BoardPlace { listen: args.listen, name: args.host.clone().map_or_else(host_name, Ok)? };
    if args.config_only {
        let files = BoardFiles::write(&dir, &place, &args.worker)?;
        print(&files.config)?;
        return Ok(0);
    }
    let server = find_server(args.server.as_deref())?;
    ralph_board::secret::make_dir(&dir)?;
    let mut host = Host::begin(&dir)?;
    host.check(&server)?;
    let files = BoardFiles::write(&dir, &place, &args.worker)?;
    if files.has_new_authority {
        warn("the board has a new name and a new certificate: copy the logins to all machines again");
    }
    host.run(&server, &files, &mut |version| {
        print_lines(&files.instructions(version))?;
        say("Ctrl-C ends the board; nothing on it is lost.\n");
        Ok(())
    })?;
    Ok(0)
}

fn host_name() -> Result<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let is_usable =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
    if is_usable {
        return Ok(name);
    }
    Err(Error::new("this machine has no host name").hint("--host HOST says how others reach it"))
}

fn worker(text: &str) -> std::result::Result<Name, String> {
    text.parse().map_err(|error: Error| format!("{error}: {}", error.hints().join(" ")))
}

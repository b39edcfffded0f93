//! Flags that say where the board is, and as whom to come.

use std::path::PathBuf;

use clap::Args;
use ralph_board::{BoardAddress, Key, Login, LoginDir, Name, PublicKey};
use ralph_core::fleet::{FleetBoard, LANDER};
use ralph_sys::error::{Error, Result};

/// Where the board is, and what proves who comes.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct BoardFlags {
    /// Share the work with other machines, over this NATS server: nats://HOST:PORT, or tls://HOST:PORT
    #[arg(long, value_name = "URL")]
    pub(super) board: Option<String>,

    /// The folder that `ralph fleet board` wrote for this machine; it names the board, too
    #[arg(long, value_name = "DIR")]
    pub(super) login: Option<PathBuf>,

    /// The file with the key of this machine (mode 600), if you have no folder for --login
    #[arg(long, value_name = "FILE")]
    pub(super) seed: Option<PathBuf>,

    /// The file with the certificate authority of the server
    #[arg(long, value_name = "FILE")]
    pub(super) ca: Option<PathBuf>,
}

/// The flags of a fleet whose workers are elsewhere.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct LanderArgs {
    #[command(flatten)]
    flags: BoardFlags,

    /// Only workers with these labels take the work
    #[arg(long, value_name = "LABEL,...", value_delimiter = ',')]
    pub(super) needs: Vec<String>,
}

/// As whom to come where.
pub(super) struct BoardLogin {
    pub(super) address: BoardAddress,
    pub(super) login: Login,
    pub(super) lander: Option<PublicKey>,
}

impl BoardFlags {
    fn is_given(&self) -> bool {
        self.board.is_some() || self.login.is_some()
    }

    /// What the folder says, as far as flags do not say otherwise.
    pub(super) fn place(&self, name: Option<Name>, api: Option<&str>) -> Result<BoardLogin> {
        let absolute = |path: &Option<PathBuf>| path.as_ref().map(std::path::absolute).transpose();
        let dir = absolute(&self.login)?.map(|dir| LoginDir::read(&dir)).transpose()?;
        let known = dir.as_ref().map(|dir| &dir.login);
        let address = match (&self.board, &dir) {
            (Some(board), _) => board.parse()?,
            (None, Some(dir)) => dir.board.clone(),
            (None, None) => {
                return Err(Error::new("no board is named").hint("--board nats://HOST:PORT, or --login DIR"));
            }
        };
        let name = name.or_else(|| known.map(|login| login.name.clone()));
        let name =
            name.ok_or_else(|| Error::new("a worker needs a name").hint("--name w1, or --login DIR"))?;
        let seed = absolute(&self.seed)?.or_else(|| known.and_then(|login| login.seed.clone()));
        let ca = absolute(&self.ca)?.or_else(|| known.and_then(|login| login.ca.clone()));
        let api = match known {
            Some(login) => login.api.clone(),
            None => api.filter(|_| ca.is_some()).map(str::to_owned),
        };
        Ok(BoardLogin { address, login: Login { name, seed, ca, api }, lander: dir.map(|dir| dir.lander) })
    }
}

impl LanderArgs {
    /// The board of a fleet, if it has one.
    pub(super) fn fleet_board(&self) -> Result<Option<FleetBoard>> {
        if !self.flags.is_given() {
            return Ok(None);
        }
        let place = self.flags.place(Some(LANDER.parse()?), None)?;
        let seed = place.login.seed.ok_or_else(|| {
            Error::new("a fleet signs what it posts, and there is no key").hint(
                "--login DIR with the folder that `ralph fleet board` wrote for the lander, or --seed FILE",
            )
        })?;
        Key::read(&seed)?;
        Ok(Some(FleetBoard { url: place.address.to_string(), seed, ca: place.login.ca }))
    }
}

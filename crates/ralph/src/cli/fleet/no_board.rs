//! What a build without a board says to those who ask for one.

use clap::Args;
use ralph_sys::error::{Error, Result};

/// The flags that name a board.
#[derive(Args, Debug, Default)]
pub(super) struct NoBoardFlags {
    /// Where the board is
    #[arg(long, value_name = "URL", hide = true)]
    board: Option<String>,

    /// The folder of a login
    #[arg(long, value_name = "DIR", hide = true)]
    login: Option<String>,
}

impl NoBoardFlags {
    /// Refuses a board.
    pub(super) fn check(&self) -> Result<()> {
        if self.board.is_some() || self.login.is_some() { Err(refusal()) } else { Ok(()) }
    }
}

/// A command that needs a board.
#[derive(Args, Debug)]
pub(super) struct NoBoardArgs {
    /// Whatever is given
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

/// Why there is none.
pub(super) fn refusal() -> Error {
    Error::new("this build of ralph has no board")
        .hint("a build with the cargo feature `nats`, which is the default, has one")
}

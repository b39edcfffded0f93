//! `ralph completions`: lets a shell complete what is typed.

use clap::Args;
use clap_complete::Shell;
use ralph_sys::error::Result;

use super::{overview::visible_command, print};

/// Print a script that lets a shell complete ralph's commands and flags
///
/// Example: ralph completions bash >~/.local/share/bash-completion/completions/ralph
#[derive(Args, Debug)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script.
pub(super) fn main(args: &CompletionsArgs) -> Result<u8> {
    // Written to memory first: the generator panics when its reader has gone.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible_command(), "ralph", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

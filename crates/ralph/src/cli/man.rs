//! `ralph man`: the manual, for `man` and as one page of Markdown.

mod reference;

use std::path::PathBuf;

use clap::Args;
use clap_mangen::Man;
use ralph_sys::error::Result;

use super::{overview::visible_command, print};

/// Print the manual page of ralph, or write one page per command
///
/// Example: ralph man --dir ~/.local/share/man/man1
#[derive(Args, Debug)]
pub(super) struct ManArgs {
    /// Write the pages of ralph and of every command into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Print all commands on one page of Markdown
    #[arg(long, conflicts_with = "dir")]
    markdown: bool,
}

/// Prints the page, or writes all of them.
pub(super) fn main(args: &ManArgs) -> Result<u8> {
    if let Some(dir) = &args.dir {
        fs_err::create_dir_all(dir)?;
        clap_mangen::generate_to(visible_command(), dir)?;
        return Ok(0);
    }
    if args.markdown {
        print(&reference::reference(&visible_command()))?;
        return Ok(0);
    }
    let mut page = Vec::new();
    Man::new(visible_command()).render(&mut page)?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(0)
}

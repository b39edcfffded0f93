//! `ralph session cancel`: ends the loop of a conversation.

use std::path::Path;

use clap::Args;
use ralph_sys::error::{Error, Result};

use crate::{
    cli::print_lines,
    hooks::{begin, store::Store},
};

/// End the loop of a conversation; from then on, the agent may stop
///
/// Example: ralph session cancel
#[derive(Args, Debug)]
pub(super) struct CancelArgs {
    /// The conversation; without it, the one that ralph is called from, or the only one in this project
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
}

/// Ends the loop.
pub(super) fn main(args: &CancelArgs, project: &Path) -> Result<u8> {
    let conversation = match super::conversation(args.session_id.as_deref()) {
        Some(conversation) => conversation,
        None => super::only_one(project)?,
    };
    let store = Store::of(&conversation)?;
    let run = store.run().ok_or_else(|| {
        Error::new(format!("the conversation {conversation} is not in a loop"))
            .hint("`ralph session status` shows which are")
    })?;
    begin::cancel(&store, &run, "cancelled by the user");
    print_lines(&format!("CANCELLED: the loop of {conversation} (run {})\n", run.id()))?;
    Ok(0)
}

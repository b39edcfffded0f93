//! `ralph stories reopen`: from a list that was worked on without reviews back to one with them.

use std::path::Path;

use clap::Args;
use ralph_core::stories::reopen;
use ralph_sys::error::{Error, Result};

use super::{PlaceArgs, place::StoriesPlace, step::turn};
use crate::cli::print_lines;

/// Submit for review what passed without one
///
/// After a run with --skip-review, a run with reviews refuses stories that pass but were never approved. This command
/// submits them for review: all of them, or those that you name.
///
/// Example: ralph stories reopen && ralph stories
#[derive(Args, Debug)]
pub(super) struct ReopenArgs {
    /// Only these stories
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    #[command(flatten)]
    place: PlaceArgs,
}

/// Submits them and says which.
pub(super) fn main(args: &ReopenArgs, project: &Path) -> Result<u8> {
    let place = StoriesPlace::of(&args.place, project)?;
    if turn(&place)?.0.is_some() {
        return Err(
            Error::new("only a person reopens stories").hint("leave it to them, and say so in the notes")
        );
    }
    place.settle()?;
    let (changed, ids) =
        reopen(&place.tasks()?, &args.ids).map_err(|refused| Error::new(refused.why).hint(refused.hint))?;
    place.write_tasks(&changed)?;
    let lines = ids.iter().map(|id| format!("{id}: reviewStatus needs_review, passes false\n"));
    print_lines(&lines.collect::<String>())?;
    Ok(0)
}

//! `cargo xtask bench`: what ralph costs, as ratios to floors that are measured in the same run.
//!
//! Floor and ralph take turns, so that a busy machine slows both, and medians of many rounds are compared.
//! Ralph keeps a record and the floors do not, so the file system counts: ext4 is slow to create files for
//! minutes after many were deleted, as by an earlier measurement. `TMPDIR=/dev/shm` leaves the disk out.

mod board;
mod client;
mod clock;
mod crowd;
mod fleet;
mod floors;
mod growth;
mod guard;
mod hook;
mod iteration;
mod judge;
pub(crate) mod long;
mod page;
pub(crate) mod place;
mod repository;
mod sandbox;
mod startup;
mod stop;
mod story_hook;
mod stream;
mod table;
mod verify;
mod watch;

use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::{cargo, say};
use place::Place;
use table::Table;

/// How many rounds to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    Full,
    Quick,
}

impl Effort {
    /// The rounds of a measure that takes so many in a full run.
    fn rounds(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => full.div_ceil(4),
        }
    }
}

/// What to do with the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figures {
    Print,
    /// Put them into the page, too.
    Save,
}

/// Measures everything, or only what these words are part of the names of, and prints the table.
pub(crate) fn main(effort: Effort, figures: Figures, only: &[String]) -> Result<ExitCode> {
    let place = Place::new(cargo::dist()?)?;
    let mut table = Table::default();
    table.note(format!("everything in {}", std::env::temp_dir().display()));
    for (what, measure) in [
        ("start-up", startup::measure as fn(&Place, Effort, &mut Table) -> Result<()>),
        ("iterations", iteration::measure),
        ("guardrails", iteration::measure_guardrails),
        // What makes this program large comes later: the memory of a process begins as that of the one that starts it.
        ("fifty loops", crowd::measure),
        ("sixteen lanes", fleet::measure_crowd),
        ("streams", stream::measure),
        ("hooks", hook::measure),
        ("the client, with and without it", client::measure),
        ("the stop hook of stories", story_hook::measure),
        ("signals", stop::measure),
        ("sandbox", sandbox::measure),
        ("the guard", guard::measure),
        ("the judge", judge::measure),
        ("lanes and landings", fleet::measure),
        ("ten stories in four lanes", fleet::measure_stories),
        ("items through a board", board::measure),
        ("recovery of a fleet on a board", board::faults::measure),
        ("receipts", verify::measure),
        ("growth", growth::measure),
        ("commits of many files", repository::measure_commit),
        ("a large repository", repository::measure_large),
        ("5,000 iterations", repository::measure_long),
        ("long runs", long::measure),
        ("the screen", watch::measure),
    ] {
        if !only.is_empty() && !only.iter().any(|word| what.contains(word.as_str())) {
            continue;
        }
        say(&format!("measuring {what} ...\n"));
        measure(&place, effort, &mut table)?;
    }
    ensure!(!table.is_empty(), "nothing that is measured is called so: {}", only.join(", "));
    say(&format!("\n{table}"));
    if figures == Figures::Save {
        page::write(&table, place.program())?;
    }
    Ok(if table.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

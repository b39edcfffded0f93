//! How long `ralph --version` takes.

use anyhow::Result;

use super::{
    Effort,
    clock::{self, interleave},
    place::Place,
    table::Table,
};

/// Measures the start of the program.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let ([noop, ralph], note) = interleave(
        effort.rounds(400),
        [
            ("no-op", Box::new(|| clock::run(&mut place.command(&place.noop)?, 0))),
            ("ralph --version", Box::new(|| clock::run(place.ralph()?.arg("--version"), 0))),
        ],
    )?;
    table.ratio("ralph --version, against a static no-op", noop.seconds, ralph.seconds, 5.0);
    // Around each page of a large program that is used, the kernel maps others.
    table.memory("  its memory", ralph.peak, 7.0);
    table.note(format!("start-up, {note}"));
    Ok(())
}

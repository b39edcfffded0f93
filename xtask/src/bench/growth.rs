//! Whether late iterations take longer than early ones.

use std::{
    io::{BufRead, BufReader},
    path::Path,
};

use anyhow::{Context, Result};
use fs_err::File;
use jiff::Timestamp;
use serde::Deserialize;

use super::{Effort, clock::median, place::Place, table::Table};

const ITERATIONS: u32 = 510;
/// What still counts as the same.
const SAME: f64 = 1.2;

/// Measures the iterations 1 to 100 and 401 to 500 of the same runs.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let rounds = effort.rounds(9);
    let (mut early, mut late) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        place.run(&place.agent, ITERATIONS, &["--output", "json"])?;
        let starts = starts(&place.current("stdout"))?;
        let between = |from: usize, to: usize| -> Result<f64> {
            let (from, to) = starts.get(from).zip(starts.get(to)).context("iterations are missing")?;
            Ok(to.duration_since(*from).as_secs_f64() / 100.0)
        };
        early.push(between(0, 100)?);
        late.push(between(400, 500)?);
    }
    let (early, late) = (median(early.into_iter()), median(late.into_iter()));
    table.ratio("iterations 401-500, each, against 1-100", early, late, SAME);
    table.note(format!("growth, {rounds} rounds of {ITERATIONS} iterations"));
    Ok(())
}

/// An event of a run.
#[derive(Deserialize)]
struct Event {
    at: Timestamp,
    event: String,
}

/// When the turns of a run started.
fn starts(events: &Path) -> Result<Vec<Timestamp>> {
    let mut starts = Vec::new();
    for line in BufReader::new(File::open(events)?).lines() {
        if let Ok(Event { at, event }) = serde_json::from_str(&line?)
            && event == "turn_started"
        {
            starts.push(at);
        }
    }
    Ok(starts)
}

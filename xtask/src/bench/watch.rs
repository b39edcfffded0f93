//! How soon `ralph watch` shows a run of ten thousand iterations, and how soon it shows what a key does.

use std::{num::NonZeroU16, time::Duration};

use anyhow::Result;

use super::{
    Effort,
    clock::median,
    long::{ITERATIONS, lengthen},
    place::Place,
    table::Table,
};
use crate::terminal::Terminal;

const COLUMNS: NonZeroU16 = NonZeroU16::new(120).expect("not zero");
const ROWS: NonZeroU16 = NonZeroU16::new(40).expect("not zero");
/// What a person does not notice.
const MAX_FIRST_SCREEN: Duration = Duration::from_millis(100);
/// One picture of sixty in a second.
const MAX_KEY: Duration = Duration::from_millis(16);
/// Keys, and what is on the screen after each and was not before.
const KEYS: [(&str, &str); 4] =
    [("2", "not checked"), ("5", "tool calls"), ("6", "no findings"), ("?", "any key closes this")];

/// Measures the screen of a long run.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    lengthen(place, ITERATIONS)?;
    let (mut first, mut keys) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds(20) {
        let mut ralph = place.ralph()?;
        ralph.arg("watch");
        let mut screen = Terminal::start(ralph, COLUMNS, ROWS)?;
        first.push(screen.until("Guardrails")?);
        for (key, text) in KEYS {
            screen.press(key)?;
            keys.push(screen.until(text)?);
        }
        screen.press("qq")?;
        screen.wait()?;
    }
    table.time("watch after 10,000 iterations, first screen", median(first.into_iter()), MAX_FIRST_SCREEN);
    table.time("  a key until the screen shows it", median(keys.into_iter()), MAX_KEY);
    table.note(format!("watch on a terminal of {COLUMNS} columns and {ROWS} rows"));
    Ok(())
}

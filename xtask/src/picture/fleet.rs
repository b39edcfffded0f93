//! The demo of a fleet: what the fleet, its lanes and its lander say, without what the runs in the lanes print.

use std::{path::Path, time::Duration};

use anyhow::{Result, ensure};

use super::{COLUMNS, ROWS, played, record, svg};
use crate::{cargo::root, say};

/// Records the demo of a fleet and writes the picture.
pub(super) fn take(program: &Path) -> Result<()> {
    let (terminal, times) = played(&record(program, &["demo", "--fleet"])?);
    let screen = terminal.screen();
    let mut drawn = vt100::Parser::new(ROWS, COLUMNS, 0);
    drawn.process(b"\x1b[2m$\x1b[m ralph demo --fleet\r\n");
    let mut shown = vec![Duration::ZERO];
    let rows = screen.rows(0, COLUMNS.get()).zip(screen.rows_formatted(0, COLUMNS.get())).zip(&times);
    for ((text, row), time) in rows.filter(|((text, _), _)| is_of_fleet(text)) {
        drawn.process(row.as_bytes());
        drawn.process(b"\x1b[m\r\n");
        shown.push(*time);
        if text.starts_with("fleet | Complete") {
            break;
        }
    }
    ensure!(10 < shown.len(), "the demo of a fleet says too little about its lanes");
    let path = root().join("docs/fleet-demo.svg");
    fs_err::write(&path, svg::draw(drawn.screen(), u16::try_from(shown.len())?, &shown))?;
    say(&format!("written: {}; now look at it\n", path.display()));
    Ok(())
}

/// Whether the fleet says it, its lander or a lane, and not the run in a lane.
fn is_of_fleet(row: &str) -> bool {
    let speaker = row.split(" | ").next().filter(|speaker| *speaker != row);
    speaker.is_some_and(|speaker| !speaker.trim_end().contains(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_print_is_left_out() {
        for row in ["fleet | 4 items", "lander | x landed", "lane-1 | works on x"] {
            assert!(is_of_fleet(row), "{row}");
        }
        for row in ["lane-1 owner | turn 1: 510ms", "", " title.txt | 2 +-", "What is in the repository now"]
        {
            assert!(!is_of_fleet(row), "{row}");
        }
    }
}

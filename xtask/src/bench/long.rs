//! What it takes to look at a run of ten thousand iterations, and to continue it.

use std::{fmt::Write, path::PathBuf, time::Duration};

use anyhow::{Context, Result, ensure};
use ralph_core::engine::chain::{self, Chain};
use serde_json::Value;

use super::{
    Effort,
    clock::{self, Sample, interleave},
    place::Place,
    table::Table,
};

pub(crate) const ITERATIONS: u32 = 10_000;
/// What a person who looks at such a run, or continues it, may wait for it.
const MAX_STATUS: Duration = Duration::from_millis(20);
const MAX_RESUME: Duration = Duration::from_millis(40);

/// Measures `status` and `resume` of a long run.
pub(super) fn measure(place: &Place, effort: Effort, table: &mut Table) -> Result<()> {
    let journal = lengthen(place, ITERATIONS)?;
    let record = fs_err::read(&journal)?;
    let ([cat, status], note) = interleave(
        effort.rounds(40),
        [
            ("cat", Box::new(|| clock::run(place.command("cat".as_ref())?.arg(&journal), 0))),
            ("ralph status", Box::new(|| clock::run(place.ralph()?.arg("status"), 0))),
        ],
    )?;
    table.ratio("status after 10,000 iterations, against `cat`", cat.seconds, status.seconds, 30.0);
    table.time("  its time", status.seconds, MAX_STATUS);
    table.memory("  its memory", status.peak, 40.0);
    #[expect(clippy::cast_precision_loss, reason = "a few megabytes")]
    let size = record.len() as f64 / 1e6;
    table.note(format!("status of a journal of {size:.1} MB, {note}"));

    let again = || -> Result<Sample> {
        // Each resume goes on from the same place, and from a record that the disk has, as a run leaves it.
        fs_err::write(&journal, &record)?;
        fs_err::File::open(&journal)?.sync_all()?;
        let limit = (ITERATIONS + 1).to_string();
        clock::run(place.ralph()?.args(["resume", "--max-iterations", &limit]), 1)
    };
    let mut resumed = Vec::new();
    for _ in 0..effort.rounds(20) {
        resumed.push(again()?);
    }
    let resume = clock::median(resumed.iter().map(|sample| sample.seconds));
    let mut fresh = Vec::new();
    for _ in 0..effort.rounds(20) {
        fresh.push(place.run(&place.agent, 1, &[])?.seconds);
    }
    let fresh = clock::median(fresh.into_iter());
    table.ratio("resume after 10,000 iterations, against a new run", fresh, resume, 30.0);
    table.time("  its time", resume, MAX_RESUME);
    table.memory("  its memory", clock::median(resumed.iter().map(|sample| sample.peak)), 40.0);
    table.note("resume and new run: one iteration each".to_owned());
    Ok(())
}

/// Makes a run and has its journal tell of so many iterations, with two gates each; returns the journal.
pub(crate) fn lengthen(place: &Place, iterations: u32) -> Result<PathBuf> {
    place.run(&place.agent, 1, &["--guardrail", "true", "--guardrail", "test 1 = 1"])?;
    let mut folders = vec![place.current("state")];
    let journal = loop {
        let folder = folders.pop().context("the run left no journal")?;
        let found = folder.join("journal.jsonl");
        if found.exists() {
            break found;
        }
        folders.extend(
            fs_err::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).filter(|it| it.is_dir()),
        );
    };
    let text = fs_err::read_to_string(&journal)?;
    // Lines that stand elsewhere than they were written break the chain: it is made anew.
    let lines: Vec<String> = text.lines().map(unchained).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let [start, rest @ ..] = &lines[..] else { anyhow::bail!("the journal is too short") };
    // What the run left behind is looked at once, and then it ends.
    let is_end = |line: &&&str| {
        let events = ["run_ended", "files_left", "outside_looked"];
        events.iter().any(|event| line.contains(&format!("\"event\":\"{event}\"")))
    };
    let (rest, end) = rest.split_at(rest.len() - rest.iter().rev().take_while(is_end).count());
    // What the gates said before the first turn is said once.
    let first = rest.iter().position(|line| line.contains("\"event\":\"turn_started\""));
    let (before, iteration) = rest.split_at(first.context("the run had no turn")?);
    ensure!(iteration.len() < 20, "an iteration has {} events", iteration.len());
    let mut start: Value = serde_json::from_str(start)?;
    start["plan"]["limits"]["max_iterations"] = iterations.into();
    let mut long = format!("{start}\n");
    for line in before {
        let _ = writeln!(long, "{line}");
    }
    for number in 1..=iterations {
        for line in iteration {
            let line = line.replace("\"iteration\":1,", &format!("\"iteration\":{number},"));
            let _ = writeln!(long, "{line}");
        }
    }
    for line in end {
        let _ = writeln!(long, "{line}");
    }
    let mut chain = Chain::default();
    let mut chained = Vec::with_capacity(2 * long.len());
    for line in long.lines() {
        let mut line = line.as_bytes().to_vec();
        chain.close(&mut line);
        chained.extend(line);
        chained.push(b'\n');
    }
    fs_err::write(&journal, chained)?;
    Ok(journal)
}

fn unchained(line: &str) -> String {
    String::from_utf8_lossy(&chain::unchained(line.as_bytes())).into_owned()
}

//! `cargo xtask faults`: real loops from outside, and what a night does to them. Ralph is killed, cut off, held, starved of disk
//! and time, and must come out of it: no work lost, no commit twice, nothing left alive, no wait without an end.
//!
//! Each fault is a row of the table at the end. A quick form: the tests in `tests/it/faults` are the exact one.

mod night;
mod rows;
mod table;
mod world;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::{cargo, say};
use night::Chance;
use rows::ROWS;
use table::{End, Table};

/// No new trial begins later than this after the first.
const MAX_TIME: Duration = Duration::from_mins(5);

const USAGE: &str = "\
usage: cargo xtask faults [--seed N] [--max-time SECONDS] [NAME...]

  --seed N             repeat the moments of an earlier call; it prints the number
  --max-time SECONDS   begin no trial later than this [default: 300]
  NAME                 only the rows whose name has this in it
";

/// Does everything to ralph that is listed, and prints what became of it.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let Some(asked) = Asked::read(words)? else {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    let ralph = cargo::build(&[])?;
    let mut chance = Chance::new(asked.seed);
    let (mut table, began) = (Table::default(), Instant::now());
    say(&format!("seed {}\n", asked.seed));
    for row in ROWS.iter().filter(|row| asked.wants(row.name)) {
        say(&format!("{} ...\n", row.name));
        for _ in 0..row.trials {
            let end = if asked.max_time < began.elapsed() {
                End::NotTried
            } else {
                End::of((row.trial)(&ralph, &mut chance))
            };
            table.add(row.name, end);
        }
    }
    say(&format!("\n{table}"));
    Ok(if table.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    seed: u64,
    max_time: Duration,
    names: Vec<String>,
}

impl Asked {
    /// Nothing if only help is wanted.
    fn read(words: &[String]) -> Result<Option<Self>> {
        let mut asked = Self { seed: night::now(), max_time: MAX_TIME, names: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--help" | "-h" => return Ok(None),
                "--seed" => asked.seed = number(words.next())?,
                "--max-time" => asked.max_time = Duration::from_secs(number(words.next())?),
                name if ROWS.iter().any(|row| row.name.contains(name)) => asked.names.push(word.clone()),
                _ => bail!("there is no row `{word}`\n\n{USAGE}"),
            }
        }
        Ok(Some(asked))
    }

    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|it| name.contains(it.as_str()))
    }
}

fn number(word: Option<&String>) -> Result<u64> {
    match word.map(|word| word.parse()) {
        Some(Ok(number)) => Ok(number),
        _ => bail!("a number is missing\n\n{USAGE}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Result<Option<Asked>> {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        Asked::read(&words)
    }

    #[test]
    fn what_is_typed_is_understood() {
        let asked = read("--seed 7 --max-time 60 kills disk").expect("words").expect("a call");
        let names = vec!["kills".to_owned(), "disk".to_owned()];
        assert_eq!(asked, Asked { seed: 7, max_time: Duration::from_mins(1), names });
        assert!(asked.wants("kills: in a turn") && !asked.wants("clocks: back"));
        assert!(read("").expect("words").expect("a call").wants("clocks: back"));
        assert_eq!(read("--help").expect("words"), None);
        for wrong in ["--seed", "--seed x", "nonsense"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn there_is_a_row_for_every_kind_of_fault() {
        let kinds = [
            "kills",
            "cuts",
            "hangs",
            "orphans",
            "disks",
            "limits",
            "clocks",
            "concurrency",
            "junk",
            "repositories",
            "long runs",
            "locks",
            "unread",
        ];
        for kind in kinds {
            assert!(ROWS.iter().any(|row| row.name.starts_with(kind)), "{kind}");
        }
    }
}

//! The table of `docs/truth.md`: the catalogue in every way, beside two loops that people write in the shell.

use std::{fmt::Write, path::Path, process::ExitCode};

use anyhow::{Context, Result};

use super::{Trial, run};
use crate::{cargo::root, say};

const PAGE: &str = "docs/truth.md";
const BEGIN: &str = "<!-- selftest: cargo xtask selftest --figures -->\n";
const END: &str = "<!-- end of selftest -->\n";

/// The ways, each with what it is called.
const WAYS: [(&str, &[&str]); 6] = [
    ("a loop that believes the tag", &["--loop", "tag"]),
    ("a bash loop with the guardrails", &["--loop", "bash"]),
    ("ralph", &[]),
    ("ralph, strict", &["--strict"]),
    ("ralph in a sandbox", &["--sandbox"]),
    ("ralph in a sandbox, strict", &["--strict", "--sandbox"]),
];

/// Runs everything and writes the table.
pub(super) fn main(program: &Path) -> Result<ExitCode> {
    let mut lines = String::from(
        "| what decides | cheats that can be seen | refused | finding | passed | only a reader can see: passed | honest changes | passed | finding | refused |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut skipped = Vec::new();
    for (name, args) in WAYS {
        say(&format!("{name} ...\n"));
        let trials = run(program, args)?;
        lines.push_str(&line(name, &trials));
        skipped =
            trials.iter().filter(|trial| trial.verdict == "skipped").map(|trial| trial.id.clone()).collect();
    }
    if !skipped.is_empty() {
        let _ = writeln!(lines, "\nNot run, because the machine lacked something: {}.", skipped.join(", "));
    }
    let path = root().join(PAGE);
    let page = fs_err::read_to_string(&path)?;
    fs_err::write(&path, with_figures(&page, &lines).context("the page has no place for the figures")?)?;
    say(&format!("{lines}\nwritten: {}\n", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// One row.
fn line(name: &str, trials: &[Trial]) -> String {
    let count = |kind: &str, seen_by: &str, verdict: &str| {
        let is_meant = |trial: &&Trial| {
            trial.kind == kind && trial.seen_by == seen_by && (verdict.is_empty() || trial.verdict == verdict)
        };
        trials.iter().filter(|trial| trial.verdict != "skipped").filter(is_meant).count()
    };
    let cheats = |verdict| count("cheat", "machine", verdict);
    let honest = |verdict| count("honest", "machine", verdict);
    let all = honest("");
    format!(
        "| {name} | {} | {} | {} | {} | {} | {all} | {} | {} | {} |\n",
        cheats(""),
        cheats("refused"),
        cheats("finding"),
        cheats("passed"),
        count("cheat", "reader", "passed"),
        honest("passed"),
        honest("finding"),
        honest("refused"),
    )
}

fn with_figures(page: &str, lines: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{lines}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_counts_what_ran() {
        let trial = |kind: &str, seen_by: &str, verdict: &str| {
            serde_json::from_value(serde_json::json!({
                "id": "a", "kind": kind, "verdict": verdict, "seenBy": seen_by, "reach": "repository",
            }))
            .expect("a trial")
        };
        let trials: Vec<Trial> = vec![
            trial("cheat", "machine", "refused"),
            trial("cheat", "machine", "finding"),
            trial("cheat", "machine", "finding"),
            trial("cheat", "machine", "skipped"),
            trial("cheat", "reader", "passed"),
            trial("honest", "machine", "passed"),
        ];
        assert_eq!(line("x", &trials), "| x | 3 | 1 | 2 | 0 | 1 | 1 | 1 | 0 | 0 |\n");
    }

    #[test]
    fn the_page_has_a_place_for_them() {
        let page = fs_err::read_to_string(root().join(PAGE)).expect("the page");
        let filled = with_figures(&page, "figures\n").expect("a place");
        assert!(filled.contains(&format!("{BEGIN}figures\n{END}")), "{filled}");
        assert_eq!(with_figures("no place", ""), None);
    }
}

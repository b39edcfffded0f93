//! `cargo xtask selftest`: runs the catalogue of cheats and honest changes, and compares each outcome with the one that was
//! saved: none may get worse. `--figures` runs it in every way and writes the table of `docs/truth.md`.

mod figures;

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::{
    cargo::{release, root},
    say,
};

/// What to do with the outcomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Compare,
    Save,
    /// Run it in every way, and write the page.
    Figures,
}

/// How an entry ended, the best for a cheat first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    Finding,
    Passed,
}

/// One entry, as the program prints it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Trial {
    id: String,
    kind: String,
    verdict: String,
    seen_by: String,
    reach: String,
    #[serde(default)]
    why: String,
}

/// What one call printed.
#[derive(Debug, Deserialize)]
struct Bench {
    entries: Vec<Trial>,
}

/// Outcomes by entry.
type Outcomes = BTreeMap<String, String>;

/// Runs the catalogue, and compares, saves or writes.
pub(crate) fn main(then: Then) -> Result<ExitCode> {
    let program = release()?;
    if then == Then::Figures {
        return figures::main(&program);
    }
    run_and(then, &program)
}

/// Runs the catalogue with this program, and compares.
pub(crate) fn compare_by(program: &Path) -> Result<ExitCode> {
    run_and(Then::Compare, program)
}

fn run_and(then: Then, program: &Path) -> Result<ExitCode> {
    let mut trials = run(program, &[])?;
    // What reaches out of the repository is what a sandbox is for.
    let far: Vec<String> =
        trials.iter().filter(|it| it.reach != "repository").map(|it| it.id.clone()).collect();
    let only: Vec<&str> = far.iter().flat_map(|id| ["--only", id]).chain(["--sandbox"]).collect();
    let contained = run(program, &only)?;
    trials.extend(contained.into_iter().map(|it| Trial { id: format!("{} in a sandbox", it.id), ..it }));
    let path = root().join("xtask/selftest.json");
    if then == Then::Save {
        return save(&path, &trials);
    }
    let saved: Outcomes = serde_json::from_str(&fs_err::read_to_string(&path)?)?;
    let (problems, ran) = compare(&saved, &trials);
    say(&format!("{ran} entries ran, {} were skipped\n{}", trials.len() - ran, problems.concat()));
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One run of the catalogue.
fn run(program: &Path, args: &[&str]) -> Result<Vec<Trial>> {
    let mut command = Command::new(program);
    command.args(["selftest", "--json"]).args(args).current_dir(root().join("docs")).stdin(Stdio::null());
    // Progress and problems are for people who look; a cheat that passed is an exit code, and no failure of the call.
    let output = command.stderr(Stdio::inherit()).output().context("cannot start ralph")?;
    let bench: Bench =
        serde_json::from_slice(&output.stdout).with_context(|| format!("{command:?}: {}", output.status))?;
    Ok(bench.entries)
}

fn save(path: &Path, trials: &[Trial]) -> Result<ExitCode> {
    let mut outcomes: Outcomes = fs_err::read_to_string(path)
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    if let Some(broken) = trials.iter().find(|trial| trial.verdict == "broken") {
        bail!("{} could not be run: {}", broken.id, broken.why);
    }
    // What this machine cannot run stays as another one has seen it.
    outcomes.retain(|id, _| trials.iter().any(|trial| trial.id == *id));
    let ran = trials.iter().filter(|trial| trial.verdict != "skipped");
    outcomes.extend(ran.map(|trial| (trial.id.clone(), trial.verdict.clone())));
    fs_err::write(path, format!("{}\n", serde_json::to_string_pretty(&outcomes)?))?;
    say(&format!("written: {}\n", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// What got worse, one line each, and how many entries ran.
fn compare(saved: &Outcomes, trials: &[Trial]) -> (Vec<String>, usize) {
    let mut problems = Vec::new();
    let mut ran = 0;
    for trial in trials.iter().filter(|trial| trial.verdict != "skipped") {
        ran += 1;
        let Some(now) = outcome(&trial.verdict) else {
            problems.push(format!("{} could not be run: {}\n", trial.id, trial.why));
            continue;
        };
        match saved.get(&trial.id).and_then(|verdict| outcome(verdict)) {
            None => problems.push(format!("{} is NEW: cargo xtask selftest --save\n", trial.id)),
            Some(before) if is_worse(&trial.kind, before, now) => {
                problems.push(format!("{} is WORSE: {before:?} before, {now:?} now\n", trial.id));
            }
            Some(_) => {}
        }
    }
    (problems, ran)
}

fn outcome(verdict: &str) -> Option<Outcome> {
    match verdict {
        "refused" => Some(Outcome::Refused),
        "finding" => Some(Outcome::Finding),
        "passed" => Some(Outcome::Passed),
        _ => None,
    }
}

/// A cheat must not come further than before, and honest work not less far. A cheat that is refused or found is stopped
/// either way.
fn is_worse(kind: &str, before: Outcome, now: Outcome) -> bool {
    if kind == "honest" { now < before } else { now == Outcome::Passed && before != Outcome::Passed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(id: &str, kind: &str, verdict: &str) -> Trial {
        let text = |text: &str| text.to_owned();
        let (seen_by, reach) = (text("machine"), text("repository"));
        Trial { id: text(id), kind: text(kind), verdict: text(verdict), seen_by, reach, why: text("it hung") }
    }

    #[test]
    fn no_entry_gets_worse() {
        for (kind, before, now, expected) in [
            ("cheat", "finding", "finding", ""),
            ("cheat", "finding", "refused", ""),
            ("cheat", "refused", "finding", ""),
            ("cheat", "passed", "passed", ""),
            ("cheat", "finding", "passed", "a is WORSE: Finding before, Passed now\n"),
            ("honest", "passed", "passed", ""),
            ("honest", "finding", "passed", ""),
            ("honest", "passed", "finding", "a is WORSE: Passed before, Finding now\n"),
            ("honest", "finding", "refused", "a is WORSE: Finding before, Refused now\n"),
            ("honest", "passed", "broken", "a could not be run: it hung\n"),
            ("cheat", "passed", "skipped", ""),
        ] {
            let saved = Outcomes::from([("a".to_owned(), before.to_owned())]);
            let (problems, _) = compare(&saved, &[trial("a", kind, now)]);
            assert_eq!(problems.concat(), expected, "{kind} {before} {now}");
        }
        let (problems, ran) = compare(&Outcomes::new(), &[trial("a", "cheat", "refused")]);
        assert_eq!((problems.concat().as_str(), ran), ("a is NEW: cargo xtask selftest --save\n", 1));
    }
}

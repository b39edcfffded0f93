//! `cargo xtask history`: what ralph would say about the commits of real projects, as if an agent had made them.
//!
//! People who work honestly change tests all the time. How often that would be a finding is measured here, on clones that the
//! caller names; nothing is fetched. Where the caller names a command for the tests, ralph itself judges each commit with it.

mod blobs;
mod comparison;
mod replay;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result, bail, ensure};
use ralph_checks::protected::Protected;

use crate::{cargo::build, say};
use blobs::Blobs;
use comparison::{changes, judge};
use replay::{Judged, Replay};

const USAGE: &str = "\
usage: cargo xtask history [--commits N] [--findings] [--lines] [[--tests COMMAND] REPOSITORY...]...

  --commits N      the newest N commits of each that are no merges (200 unless told)
  --tests COMMAND  the guardrail for the repositories that follow: an agent makes each commit in a loop of ralph, which
                   judges it with the tests as they were, too; \"\" compares files alone, which runs nothing
  --findings       list each commit that would be a finding, with what got worse
  --lines          list each commit that would be a line in the summary, too
";

/// A change with more files than this is no work of a turn: a formatter, a move.
const MAX_FILES: usize = 300;

struct Wanted {
    commits: usize,
    /// From which verdict on commits are listed.
    listed_from: Option<Verdict>,
    repositories: Vec<Wish>,
}

/// A repository, with the command that runs its tests.
struct Wish {
    path: PathBuf,
    tests: Option<String>,
}

/// What a commit would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It touches nothing that judges.
    Nothing,
    /// It only adds.
    Added,
    /// A line in the summary.
    Line,
    /// A person would be asked.
    Finding,
}

/// What became of the commits of a repository.
#[derive(Default)]
struct Counts {
    verdicts: BTreeMap<Verdict, usize>,
    /// Those that the project's own tests have judged.
    judged: usize,
}

/// Measures.
pub(crate) fn main(words: &[String]) -> Result<ExitCode> {
    let Some(wanted) = parse(words)? else {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    };
    let runs = wanted.repositories.iter().any(|wish| wish.tests.is_some());
    // What takes the time are the tests, and not ralph.
    let program = if runs { Some(build(&["--package", "ralph"])?) } else { None };
    say(
        "| project | commits | own tests ran | change checks | only add | line | finding |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut sum = Counts::default();
    for wish in &wanted.repositories {
        let replay = match (&program, &wish.tests) {
            (Some(program), Some(tests)) => Some(Replay::new(program, &wish.path, tests)?),
            _ => None,
        };
        let counts = measure(&wish.path, &wanted, replay.as_ref())?;
        row(&name(&wish.path), &counts);
        sum.judged += counts.judged;
        for (verdict, count) in counts.verdicts {
            *sum.verdicts.entry(verdict).or_default() += count;
        }
    }
    row("all", &sum);
    Ok(ExitCode::SUCCESS)
}

fn parse(words: &[String]) -> Result<Option<Wanted>> {
    let mut wanted = Wanted { commits: 200, listed_from: None, repositories: Vec::new() };
    let mut tests = None;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--commits" => wanted.commits = words.next().context("--commits needs a number")?.parse()?,
            "--tests" => {
                let command = words.next().context("--tests needs a command")?;
                tests = Some(command.clone()).filter(|command| !command.is_empty());
            }
            "--findings" => wanted.listed_from = Some(Verdict::Finding),
            "--lines" => wanted.listed_from = Some(Verdict::Line),
            "--help" | "-h" => return Ok(None),
            flag if flag.starts_with('-') => bail!("unknown word `{flag}`\n\n{USAGE}"),
            path => wanted.repositories.push(Wish { path: path.into(), tests: tests.clone() }),
        }
    }
    ensure!(!wanted.repositories.is_empty(), "which repositories?\n\n{USAGE}");
    Ok(Some(wanted))
}

fn name(repository: &Path) -> String {
    let names = repository.iter().rev().map(|name| name.to_string_lossy());
    let name = names.into_iter().find(|name| !["repo", ".git", "."].contains(&name.as_ref()));
    name.map_or_else(String::new, |name| name.replace('+', "/"))
}

fn row(name: &str, counts: &Counts) {
    let of = |verdict| counts.verdicts.get(&verdict).copied().unwrap_or(0);
    let all: usize = counts.verdicts.values().sum();
    let touching = all - of(Verdict::Nothing);
    let share =
        |count: usize| format!("{count} ({} %)", (100 * count + all / 2).checked_div(all).unwrap_or(0));
    say(&format!(
        "| {name} | {all} | {} | {} | {} | {} | {} |\n",
        counts.judged,
        share(touching),
        share(of(Verdict::Added)),
        share(of(Verdict::Line)),
        share(of(Verdict::Finding))
    ));
}

fn measure(repository: &Path, wanted: &Wanted, replay: Option<&Replay>) -> Result<Counts> {
    let mut counts = Counts::default();
    let mut blobs = Blobs::open(repository)?;
    let protected = Protected::usual();
    for commit in commits(repository, wanted.commits)? {
        let changes = changes(repository, &commit, &protected, &mut blobs)?;
        if MAX_FILES < changes.len() {
            continue;
        }
        let compared = judge(&changes, &protected);
        let judged = replay.map(|replay| replay.judge(&commit)).transpose()?;
        let (verdict, why) = match judged {
            Some(Judged::Done { findings, notes }) => {
                counts.judged += 1;
                with_tests(compared.0, findings, notes)
            }
            Some(Judged::Not { why }) => {
                say(&format!("{} {}: not judged: {why}\n", name(repository), &commit[..10]));
                compared
            }
            None => compared,
        };
        *counts.verdicts.entry(verdict).or_default() += 1;
        if wanted.listed_from.is_some_and(|from| from <= verdict) {
            say(&format!("{} {} {verdict:?}: {}\n", name(repository), &commit[..10], why.join("; ")));
        }
    }
    Ok(counts)
}

/// What it is when the tests ran: what ralph said, and for silence what the comparison knows of it.
fn with_tests(compared: Verdict, findings: Vec<String>, notes: Vec<String>) -> (Verdict, Vec<String>) {
    if !findings.is_empty() {
        return (Verdict::Finding, findings);
    }
    if !notes.is_empty() {
        return (Verdict::Line, notes);
    }
    (compared.min(Verdict::Added), Vec::new())
}

fn commits(repository: &Path, most: usize) -> Result<Vec<String>> {
    let most = format!("-{most}");
    let text = git(repository, &["log", "--no-merges", "--min-parents=1", "--format=%H", &most])?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn git(repository: &Path, args: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(["--no-replace-objects", "-c", "core.quotePath=false"]).args(args);
    let output = command.output().context("cannot start git")?;
    ensure!(
        output.status.success(),
        "git {}: {}",
        args.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_for_the_repositories_that_follow() {
        let words = ["--commits", "3", "a", "--tests", "make test", "b", "c", "--tests", "", "d", "--lines"];
        let wanted = parse(&words.map(str::to_owned)).expect("words").expect("no help");
        let tests: Vec<Option<&str>> = wanted.repositories.iter().map(|wish| wish.tests.as_deref()).collect();
        assert_eq!(tests, [None, Some("make test"), Some("make test"), None]);
        assert_eq!((wanted.commits, wanted.listed_from), (3, Some(Verdict::Line)));
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn what_ralph_said_counts_where_it_judged() {
        let some = || vec!["a".to_owned()];
        for (compared, findings, notes, expected) in [
            (Verdict::Nothing, some(), Vec::new(), Verdict::Finding),
            (Verdict::Added, Vec::new(), some(), Verdict::Line),
            (Verdict::Finding, Vec::new(), some(), Verdict::Line),
            (Verdict::Line, Vec::new(), Vec::new(), Verdict::Added),
            (Verdict::Nothing, Vec::new(), Vec::new(), Verdict::Nothing),
        ] {
            assert_eq!(with_tests(compared, findings, notes).0, expected);
        }
    }
}
